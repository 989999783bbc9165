"""All that can be said about one kind of product, prepared once so that a product's text is mostly joining."""

from __future__ import annotations

from functools import cache, cached_property

from agentrl.envs.common.catalogue.words import Attribute, Noun, title_case, words

TURNS = 4  # how often each label for plain bullets is used, with another detail each time
BRAND = "{brand}"  # stays in prepared texts and is filled in last


class Wording:
    """The sentences of one noun. `BRAND` still stands in them where the brand belongs.

    Each kind is prepared when first asked for: results show titles only, and need none of them.
    """

    def __init__(self, noun: Noun) -> None:
        self._noun = noun
        self._forms = _forms(noun)
        self.title = title_case(noun.name)
        self.tags = noun.tags
        self.uses = {use: title_case(use) for use in noun.uses}
        self._openers: dict[str, tuple[str, ...]] = {}
        self._bullets: dict[str, tuple[str, ...]] = {}
        self._said: dict[tuple[Attribute, int], str] = {}
        self._labels: dict[Attribute, tuple[str, ...]] = {}

    def openers(self, use: str) -> tuple[str, ...]:
        """First sentences of descriptions."""
        if (known := self._openers.get(use)) is None:
            lines = words().sentences["openers"]
            known = self._openers[use] = tuple(self._fill(line, use=use) for line in lines)
        return known

    def plain_bullets(self, use: str) -> tuple[str, ...]:
        """Bullets that name no attribute."""
        if (known := self._bullets.get(use)) is None:
            known = self._bullets[use] = self._plain_bullets(use)
        return known

    def says(self, attribute: Attribute, turn: int) -> str:
        """A sentence that states an attribute word for word; those of the next turns are phrased in other ways."""
        lines = words().sentences[f"attribute_{attribute.kind}"]
        key = attribute, turn % len(lines)
        if (known := self._said.get(key)) is None:
            known = self._said[key] = self._fill(lines[key[1]], attr=attribute.text)
        return known

    def labels(self, attribute: Attribute) -> tuple[str, ...]:
        """Beginnings of bullets that name an attribute; a detail follows."""
        if (known := self._labels.get(attribute)) is None:
            forms = {"Attr": attribute.title, "ATTR": attribute.text.upper(), "detail": ""}
            known = tuple(line.format(**forms) for line in words().sentences["bullet_labels"])
            self._labels[attribute] = known
        return known

    @property
    def details(self) -> tuple[str, ...]:
        """Sentences about the thing that fit after any label."""
        return self._noun.details

    def _fill(self, line: str, **further: str) -> str:
        return line.format(brand=BRAND, noun=self._noun.name, **self._forms, **further)

    @cached_property
    def pool(self) -> tuple[str, ...]:
        """Sentences for descriptions, kinds mixed so that neighbours in the pool differ."""
        noun = self._noun
        kinds = (noun.category_sentences, words().sentences["general"], noun.details)
        longest = max(len(kind) for kind in kinds)
        mixed = [kind[k] for k in range(longest) for kind in kinds if k < len(kind)]
        return tuple(self._fill(line) for line in mixed)

    def _plain_bullets(self, use: str) -> tuple[str, ...]:
        labels, general = words().sentences["plain_labels"], words().sentences["general"]
        details = self._noun.details
        return tuple(
            self._fill(
                label,
                detail=details[(k + turn) % len(details)],
                general=self._fill(general[(3 * k + 5 * turn) % len(general)]),
                use=use,
            )
            for turn in range(TURNS)
            for k, label in enumerate(labels)
        )

    @cached_property
    def plain_details(self) -> tuple[int, ...]:
        """For each plain bullet the number of the detail in it; -1 where there is none."""
        labels = words().sentences["plain_labels"]
        count = len(self._noun.details)
        return tuple(
            (k + turn) % count if "{detail}" in label else -1 for turn in range(TURNS) for k, label in enumerate(labels)
        )


@cache
def wording(noun: Noun) -> Wording:
    """The prepared sentences of a noun."""
    return Wording(noun)


def _forms(noun: Noun) -> dict[str, str]:
    if noun.plural:
        these = f"these {noun.name}"
        return {
            "this": these,
            "This": "T" + these[1:],
            "is": "are",
            "it": "they",
            "has": "have",
            "does": "do",
            "comes": "come",
        }
    this = f"this {noun.name}"
    return {
        "this": this,
        "This": "T" + this[1:],
        "is": "is",
        "it": "it",
        "has": "has",
        "does": "does",
        "comes": "comes",
    }
