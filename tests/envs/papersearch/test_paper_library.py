"""The generated library: degrees as in real ones, splits by content, shared files that repair themselves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from agentrl.core.cache import cache_dir, forget_caches
from agentrl.core.errors import ConfigError
from agentrl.envs.papersearch.graph import draw_papers
from agentrl.envs.papersearch.library import GRADES, PER_FAMILY, PER_FIELD, fingerprint, open_library
from agentrl.envs.papersearch.words import coined_name, words

SIZE = 10_000


def test_citations_are_skewed_and_go_back_in_time_only() -> None:
    arrays = draw_papers(0, SIZE)
    cited = np.diff(arrays["citation_ends"], prepend=0)
    cites = np.diff(arrays["reference_ends"], prepend=0)
    assert cites.max() <= 99 and 10 <= cites.mean() <= 30
    assert np.percentile(cited, 99) > 10 * np.median(cited)  # some are cited very often
    first_half, last = cited[: SIZE // 2].mean(), cited[-SIZE // 10 :].mean()
    assert first_half > 5 * last  # what is cited gets cited
    citing = np.repeat(np.arange(SIZE), cites)
    assert (arrays["references"] < citing).all()
    fields = arrays["facets"][:, 0] // PER_FIELD
    assert 0.7 < (fields[citing] == fields[arrays["references"]]).mean() < 0.95


def test_the_same_seed_draws_the_same_papers_and_another_seed_others() -> None:
    first, again, other = draw_papers(3, 2_000), draw_papers(3, 2_000), draw_papers(4, 2_000)
    assert all(np.array_equal(first[name], again[name]) for name in first)
    assert not np.array_equal(first["references"], other["references"])


def test_every_concept_has_three_wordings_and_every_sentence_can_be_filled() -> None:
    assert all(len(set(wordings)) == 3 for facet in words().concepts for wordings in facet)
    assert [len(facet) for facet in words().concepts] == [128, 16, 40, 32]
    library = open_library(0, SIZE, None)
    texts = [library.paper(number) for number in range(0, SIZE, 50)]
    assert not any("{" in paper.title + paper.abstract for paper in texts)
    assert len({paper.abstract for paper in texts}) == len(texts)
    assert min(len(paper.abstract.split()) for paper in texts) > 40
    assert len({coined_name(number) for number in range(SIZE)}) > 0.99 * SIZE


def test_grades_follow_from_what_papers_are_about() -> None:
    library = open_library(0, SIZE, None)
    task = library.ids["test"][0]
    question = library.question(task)
    facets = draw_papers(0, SIZE)["facets"].astype(int)
    asked = {facet: int(part) for facet, part in enumerate(task.split("-")) if part != "x"}
    for number in [*question.relevant.tolist(), *range(0, SIZE, 97)]:
        fits = sum(facets[number, facet] == wanted for facet, wanted in asked.items())
        kin = sum(
            facets[number, facet] != wanted
            and facets[number, facet] // (PER_FAMILY if facet else PER_FIELD)
            == wanted // (PER_FAMILY if facet else PER_FIELD)
            for facet, wanted in asked.items()
        )
        assert question.grades_of(np.array([number]))[0] == GRADES[fits, kin]
    assert 6 <= len(question.relevant) <= 18 and len(question.asks) == 3


def test_splits_ask_about_different_objects() -> None:
    library = open_library(0, SIZE, None)
    objects = {split: {task.split("-")[0] for task in library.ids[split]} for split in ("train", "dev", "test")}
    assert not objects["train"] & objects["dev"] and not objects["dev"] & objects["test"]
    assert not objects["train"] & objects["test"]
    assert min(map(len, objects.values())) >= 5


def test_expanding_shows_the_newest_citations_and_all_references() -> None:
    library = open_library(0, SIZE, None)
    arrays = draw_papers(0, SIZE)
    often = int(np.argmax(np.diff(arrays["citation_ends"], prepend=0)))
    ends = arrays["citation_ends"][often - 1 : often + 1]
    citing = sorted(arrays["citations"][ends[0] : ends[1]].tolist(), reverse=True)
    found = library.neighbours(often).tolist()
    assert len(citing) > 30 and found[:30] == citing[:30]
    start, stop = arrays["reference_ends"][often - 1 : often + 1]
    assert found[30:] == arrays["references"][start:stop].tolist()
    assert library.neighbours(0).tolist()[30:] == []  # the first paper has nothing to cite


def test_ids_lead_back_to_numbers_and_nothing_else_does() -> None:
    library = open_library(0, SIZE, None)
    assert library.number("P000017") == library.number("p000017") == 17 and library.paper(17).id == "P000017"
    assert [library.number(odd) for odd in ("", "P", "17", "P17", "P999999", "P00001\u0667", "X000017")] == [None] * 7


def test_damaged_files_are_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTRL_CACHE", str(tmp_path))
    expected = open_library(5, SIZE, None).search("graph neural networks")
    folder = cache_dir() / "papersearch" / fingerprint(5, SIZE)
    for name in ("papers.arrays", "search.index"):
        (folder / name).unlink()  # a file in use must not shrink below those who have mapped it
        (folder / name).write_bytes(b"\0" * 10)
    forget_caches()
    assert open_library(5, SIZE, None).search("graph neural networks") == expected and len(expected) == 10
    assert not list(folder.glob("building-*"))


@pytest.mark.parametrize("arguments", [(-1, SIZE), (0, 10), (0, 10**7), (0.5, SIZE), ("0", SIZE)])
def test_impossible_libraries_are_refused(arguments: tuple[object, object]) -> None:
    with pytest.raises(ConfigError, match="must be a whole number"):
        open_library(*arguments, None)
