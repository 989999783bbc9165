"""How varied the texts of the embedded sites are: distinct texts, sentences and trigrams a word, of every kind of text.

python -m benchmarks.webarena.texts [--kind REVIEW] [--show 3]
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.store.products import bullets_of, description_of
from agentrl.envs.webarena.sites.world import World

WORDS = 56_000  # of each kind, taken in leaps over all its texts; all words where there are fewer
REQUIRED = 0.45  # distinct trigrams a word
STRIDE = 7_919  # a prime: every text once before any comes again
_END = re.compile(r"(?<=[.!?:])\s+|\n+")
NEWEST = "SELECT body FROM wiki_revision WHERE id IN (SELECT max(id) FROM wiki_revision GROUP BY page_id)"
README = (
    "SELECT content FROM blob WHERE id IN (SELECT blob_id FROM tree_entry JOIN ref ON ref.id = ref_id"
    " WHERE path = 'README.md' AND kind = 'branch' AND name = 'main')"
)
# Of each kind: the data it is in and the statement that lists it.
KINDS = {
    "shop: reviews": ("store", "SELECT detail FROM review"),
    "shop: titles of reviews": ("store", "SELECT title FROM review"),
    "shop: comments on orders": ("store", "SELECT comment FROM order_comment"),
    "shop: pages": ("store", "SELECT content FROM cms_page"),
    "code host: titles of issues": ("code", "SELECT title FROM issue"),
    "code host: issues": ("code", "SELECT description FROM issue"),
    "code host: merge requests": ("code", "SELECT description FROM merge_request"),
    "code host: notes": ("code", "SELECT body FROM note WHERE system = 0"),
    "code host: titles of commits": ("code", "SELECT title FROM git_commit WHERE merged_id IS NULL"),
    "code host: messages of commits": ("code", "SELECT body FROM git_commit WHERE body <> ''"),
    "code host: READMEs": ("code", README),
    "code host: wiki": ("code", "SELECT content FROM wiki_page"),
    "code host: milestones and releases": (
        "code", "SELECT description FROM milestone UNION ALL SELECT description FROM release",
    ),
    "forum: titles of submissions": ("forum", "SELECT title FROM submission"),
    "forum: submissions": ("forum", "SELECT body FROM submission WHERE body <> ''"),
    "forum: comments": ("forum", "SELECT body FROM comment"),
    "forum: biographies": ("forum", "SELECT biography FROM user WHERE biography <> ''"),
    "forum: wiki": ("forum", NEWEST),
    "map: names of places": ("map", "SELECT name FROM place WHERE name <> ''"),
}  # fmt: skip
PRODUCTS: dict[str, Callable[..., str]] = {
    "shop: descriptions": description_of,
    "shop: short points": lambda product: "\n".join(bullets_of(product)),
}


class Variety(NamedTuple):
    """What was counted in the texts of one kind."""

    texts: int
    distinct_texts: int
    sentences: int
    distinct_sentences: int
    words: int
    trigrams: float  # distinct ones a word


def texts_of(world: World, kind: str) -> list[str]:
    """All texts of a kind, in the order of the data."""
    if kind in PRODUCTS:
        return [PRODUCTS[kind](row) for row in world.database("store").rows("SELECT * FROM product ORDER BY id")]
    data, statement = KINDS[kind]
    database: Database = world.database(data)
    return [row[0] for row in database.rows(statement)]


def variety(texts: Sequence[str]) -> Variety:
    """Count, in words as they stand between blanks, one text after the other."""
    sentences = [sentence for text in texts for sentence in _END.split(text) if sentence]
    stride = STRIDE if len(texts) % STRIDE else 1
    words = [word for place in range(len(texts)) for word in texts[place * stride % len(texts)].split()][:WORDS]
    trigrams = len(set(zip(words, words[1:], words[2:], strict=False)))
    return Variety(
        len(texts), len(set(texts)), len(sentences), len(set(sentences)), len(words), trigrams / len(words)
    )  # fmt: skip


def main() -> int:
    """A table of all kinds; 1 if one has too few trigrams."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", default="", help="only kinds whose name has this in it")
    parser.add_argument("--show", type=int, default=0, help="print so many texts of each kind")
    arguments = parser.parse_args()
    world = World()
    print("| kind of text | texts | distinct | sentences | distinct | words read | trigrams a word |")
    print("|---|---|---|---|---|---|---|")
    poor = False
    for kind in (kind for kind in (*KINDS, *PRODUCTS) if arguments.kind in kind):
        texts = texts_of(world, kind)
        found = variety(texts)
        poor |= found.trigrams < REQUIRED
        print(f"| {kind} | {' | '.join(f'{count:,}' for count in found[:5])} | {found.trigrams:.2f} |", flush=True)
        for text in texts[:: max(1, len(texts) // arguments.show)][: arguments.show] if arguments.show else ():
            print(f"    {text!r}")
    world.close()
    return int(poor)


if __name__ == "__main__":
    sys.exit(main())
