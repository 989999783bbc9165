"""Writes the word list of the model `tiny-shop` from what WebShop's generated catalogue can say.

Models do not import environments, so their words travel as a file; run this again when the catalogue's words or the
shop's prompt change (a test says when), and then train again: another word list is another model.

python scripts/make_shop_words.py
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from pathlib import Path

from agentrl.envs.webshop.catalogue.wishes import thing_with_article
from agentrl.envs.webshop.catalogue.words import Words, title_case, words
from agentrl.envs.webshop.env import WebShopEnv
from agentrl.policies.models.tokenizer import PIECES

TARGET = Path(__file__).resolve().parent.parent / "agentrl" / "policies" / "models" / "shop_words.toml"
HEAD = """# The words of tiny-shop, written by scripts/make_shop_words.py from the catalogue of agentrl/envs/webshop.
# Entries are parted by semicolons; every one is a token.
"""
PLACEHOLDER = re.compile(r"\{[^}]*\}")


def sentences() -> list[str]:
    """The prompt, sentence by sentence; the number of turns stays apart."""
    prompt = WebShopEnv(catalogue_size=1_000).system_prompt
    found = re.split(r"(?<=[.:;])(?= )|\n|(?<=You have) \d+(?= )", prompt)
    return [sentence for sentence in found if sentence]


def named(known: Words) -> dict[str, list[str]]:
    """What wishes, searches and clicks are made of, in small letters."""
    return {
        "attributes": [attribute.text for noun in known.nouns for attribute in noun.attributes],
        "kinds": [noun.name for noun in known.nouns],
        "values": [value for noun in known.nouns for schema in noun.schemas for value in schema.values],
    }


def titled(known: Words) -> dict[str, list[str]]:
    """The same as titles write it."""
    return {
        "titled_attributes": [attribute.title for noun in known.nouns for attribute in noun.attributes],
        "titled_kinds": [title_case(noun.name) for noun in known.nouns],
    }


def fillers(known: Words) -> list[str]:
    """What makes titles long: uses and tags, which no wish asks for."""
    uses = [f"Made for {title_case(use)}" for noun in known.nouns for use in noun.uses]
    return [*uses, *(tag for noun in known.nouns for tag in noun.tags)]


def said(known: Words) -> list[str]:
    """The beginnings and clauses of wishes, up to where they name something."""
    lines = [line for group in known.instructions.values() for line in group]
    names = {schema.option.removesuffix(" name").removesuffix(" type") for n in known.nouns for schema in n.schemas}
    filled = [line.replace("{k}", name) for line in lines for name in sorted(names)]
    articles = [thing_with_article(noun, []).removesuffix(f" {noun.name}") for noun in known.nouns]
    parts = [part.strip() for line in filled for part in PLACEHOLDER.split(line)]
    return [part for part in [*parts, *articles] if " " in part]


def pieces(lines: Iterable[str]) -> list[str]:
    """Single words as they stand in these lines, the space before them left out."""
    return [piece.strip() for line in lines for piece in re.findall(PIECES, f" {line}") if piece.strip().isalpha()]


def everything(known: Words) -> list[str]:
    """All lines of which product pages are put together."""
    lines = [line for group in (*known.sentences.values(), *known.instructions.values()) for line in group]
    for noun in known.nouns:
        lines += [*noun.details, *noun.category_sentences, *noun.uses, noun.path, noun.category]
        lines += [schema.option for schema in noun.schemas]
    verbs = "these this These This is are it they has have does do comes come asin options None"
    return [verbs, *(PLACEHOLDER.sub(" ", line) for line in lines)]


def capitals(known: Words) -> list[str]:
    """Words that bullets shout."""
    found = (word for noun in known.nouns for attribute in noun.attributes for word in attribute.text.upper().split())
    return [word for word in found if word.isalpha()]


def block(name: str, entries: Iterable[str]) -> str:
    """One list of the file, sorted, without repetition."""
    joined = "; ".join(sorted(set(entries)))
    lines = textwrap.wrap(joined, 118, break_long_words=False, break_on_hyphens=False)
    return f'\n{name} = """\n' + "\n".join(lines) + '\n"""\n'


def content(known: Words) -> str:
    """The whole file."""
    brands = [brand for group in known.brands.values() for brand in group]
    single = [*pieces(everything(known)), *capitals(known)]
    parts = named(known) | titled(known) | {"fillers": fillers(known), "said": said(known)}
    parts |= {"makers": brands, "words": single}
    listed = "\n".join(f"  '''{sentence}'''," for sentence in sentences())
    return HEAD + f"\nsentences = [\n{listed}\n]\n" + "".join(block(name, entries) for name, entries in parts.items())


if __name__ == "__main__":
    TARGET.write_text(content(words()), encoding="utf-8")
