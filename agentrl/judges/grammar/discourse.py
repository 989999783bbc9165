"""Who is meant: turns mentions ("a hole", "the other one", "both", "it") into individuals."""

from __future__ import annotations

import itertools

from agentrl.judges.grammar.chunks import Mention
from agentrl.judges.grammar.vocabulary import ORIGIN, SCENERY, Vocabulary

SELF = 0  # the individual from which all is seen
MAX_INDIVIDUALS = 96


class Discourse:
    """The individuals of one text. Number 0 is the origin; the others are made as they are mentioned."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.unique = vocabulary.unique  # classes with one member, whatever article is used
        self.many = vocabulary.many  # classes of which a noun without an article means another member
        self.classes: list[str] = [ORIGIN]
        self.named: dict[tuple[str, str, object], int] = {}
        self.distinct: set[int] = set()  # told apart by a number, an ordinal, a count or "another"
        self.everyone: dict[str, int] = {}  # class -> the individual that stands for all of them
        self._group: dict[str, list[int]] = {}  # class -> whom "the box", "the two boxes" mean now
        self._turn: dict[str, int] = {}  # class -> how many of the group "one", "the other" have used up
        self._recent: list[int] = []  # in order of mention
        self._last_group: list[int] = []
        self._denied: str | None = None  # the class of "no hole ...", for a "one" that follows

    def refer(self, mention: Mention, avoid: list[int] | None = None, prefer: list[int] | None = None) -> list[int]:
        """The individuals that a mention means; none for "no box" or scenery."""
        if mention.cls == ORIGIN:
            self._recent.append(SELF)
            return [SELF]
        found = self._find(mention, avoid or [], prefer or [])
        if found:
            self._denied = None
            self._recent += found
            if len(found) > 1:
                self._last_group = found
        return found

    def refer_all(
        self, mentions: tuple[Mention, ...], avoid: list[int] | None = None, prefer: list[int] | None = None
    ) -> list[int]:
        """Everyone in a list of mentions, each once."""
        if len(mentions) == 1:
            return self.refer(mentions[0], avoid, prefer)
        found = list(dict.fromkeys(i for mention in mentions for i in self.refer(mention, avoid, prefer)))
        if len(found) > 1:
            self._last_group = found
        return found

    def _find(self, mention: Mention, avoid: list[int], prefer: list[int]) -> list[int]:
        cls, how = mention.cls, mention.how
        if cls == SCENERY or how == "no":
            self._denied = cls if cls != SCENERY else self._denied
            return []
        if cls is None and how == "all":
            return [i for i in dict.fromkeys(self._recent[-8:]) if i not in avoid]
        if how == "it":
            # The subject of the clause before, unless that is what is being placed; else the latest other thing.
            latest = (i for i in reversed(self._recent[-24:]) if i != SELF)
            return [i for i in itertools.chain(prefer, latest, [SELF]) if i not in avoid][:1]
        if how == "they" or (cls is None and how in ("both", "all")):
            group = [i for i in (self._last_group or self._recent_things()[:2]) if i not in avoid]
            return group if len(group) > 1 else [SELF] if how == "they" else group
        if cls is None and self._denied is not None:
            cls = self._denied
        elif cls is None:
            things = self._recent_things()
            if not things:
                return []
            cls = self.classes[things[0]]
        if cls in self.unique:
            return [self._named(cls, "unique", 0)]
        return self._individuals(cls, mention)

    def _individuals(self, cls: str, mention: Mention) -> list[int]:
        how, number = mention.how, mention.number
        group = self._group.get(cls, [])
        if how in ("index", "ordinal"):
            if how == "ordinal" and isinstance(number, int) and 1 <= number <= len(group) and len(group) > 1:
                self._turn[cls] = number
                return [group[number - 1]]
            return self._set_group(cls, [self._named(cls, how, number)], distinct=True)
        if how in ("count", "both"):
            size = number if isinstance(number, int) else 2
            if len(group) == size > 1:
                return group
            if mention.cls is None and len(group) > size:
                used = self._turn.get(cls, 0)
                self._turn[cls] = used + size
                return group[used : used + size] or group[-1:]
            return self._set_group(cls, [self._new(cls) for _ in range(max(1, size))], distinct=size > 1)
        if how in ("one", "another", "other"):
            return self._next_of_group(cls, mention)
        if how == "the" and isinstance(number, str):
            return self._set_group(cls, [self._named(cls, "label", number)], distinct=True)
        if how == "all" or (how == "the" and mention.plural):
            if len(group) > 1:
                return group
            if cls not in self.everyone:
                self.everyone[cls] = self._new(cls)
            return [self.everyone[cls]]
        if how in ("a", "some") or (how == "bare" and cls in self.many):
            return self._set_group(cls, [self._new(cls)], distinct=False)
        return [group[-1]] if group else self._set_group(cls, [self._new(cls)], distinct=False)

    def _next_of_group(self, cls: str, mention: Mention) -> list[int]:
        """ "One ..., another ..., the others ...": members of the group in turn, then fresh ones."""
        size = mention.number if isinstance(mention.number, int) else 0
        if size > 1 and len(self._group.get(cls, [])) != size:  # "one of the two boxes"
            self._set_group(cls, [self._new(cls) for _ in range(size)], distinct=True)
        group, used = self._group.get(cls, []), self._turn.get(cls, 0)
        if len(group) > 1 and used < len(group) and (mention.how != "other" or used):
            self._turn[cls] = len(group) if mention.plural else used + 1
            return group[used:] if mention.plural else [group[used]]
        fresh = self._new(cls)
        self.distinct.add(fresh)
        if len(group) < 2:
            self._group[cls], self._turn[cls] = [fresh], 0
        return [fresh]

    def _set_group(self, cls: str, group: list[int], distinct: bool) -> list[int]:
        self._group[cls], self._turn[cls] = group, 0
        if distinct:
            self.distinct.update(group)
        return group

    def _named(self, cls: str, kind: str, name: object) -> int:
        key = (cls, kind, name)
        if key not in self.named:
            self.named[key] = self._new(cls)
        return self.named[key]

    def _new(self, cls: str) -> int:
        if len(self.classes) >= MAX_INDIVIDUALS:  # more than any description names
            return len(self.classes) - 1
        self.classes.append(cls)
        return len(self.classes) - 1

    def fresh_like(self, individual: int) -> int:
        """Another member of the same class, told apart from it."""
        fresh = self._new(self.classes[individual])
        self.distinct.add(fresh)
        return fresh

    def _recent_things(self) -> list[int]:
        return list(dict.fromkeys(i for i in reversed(self._recent[-24:]) if i != SELF))
