"""What a search finds: hand-computed scores, a plain implementation of the formula, both kernels, hostile queries."""

from __future__ import annotations

import math
import multiprocessing
import os
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_bm25 import plain_search
from search_corpora import QUERIES, random_documents

from agentrl.core.errors import ConfigError
from agentrl.envs.common.search import Index, build_index, kernel


@pytest.fixture(params=[pytest.param("c", marks=pytest.mark.c_kernel), "numpy"])
def either_kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "numpy":
        monkeypatch.setattr(kernel, "compiled", lambda: None)
    assert kernel.kernel_name() == request.param
    return request.param


def pairs(index: Index, query: str, k: int = 50) -> list[tuple[str, float]]:
    return [(hit.docid, hit.score) for hit in index.search(query, k)]


# ---------------------------------------------------------------------- by hand


@pytest.mark.usefixtures("either_kernel")
def test_scores_by_hand(tmp_path: Path) -> None:
    index = build_index(tmp_path, [("b", "red shoes"), ("a", "red red lamp"), ("c", "the tea")])
    # 3 documents of 2, 3 and 1 terms: 2 on average. "red" is in 2 of them, "shoe" in 1.
    red, shoe = math.log(1 + 1.5 / 2.5), math.log(1 + 2.5 / 1.5)
    of_two, of_three = 0.9 * (0.6 + 0.4 * 2 / 2), 0.9 * (0.6 + 0.4 * 3 / 2)
    assert pairs(index, "a red shoe") == [
        ("b", pytest.approx(red / (1 + of_two) + shoe / (1 + of_two), rel=1e-6)),
        ("a", pytest.approx(red * 2 / (2 + of_three), rel=1e-6)),
    ]
    assert pairs(index, "tea") == [("c", pytest.approx(shoe / (1 + 0.9 * (0.6 + 0.4 / 2)), rel=1e-6))]


@pytest.mark.usefixtures("either_kernel")
def test_a_word_said_twice_in_the_query_counts_twice(tmp_path: Path) -> None:
    index = build_index(tmp_path, [("a", "red lamp"), ("b", "tea")])
    once = math.log(1 + 1.5 / 1.5) / (1 + 0.9 * (0.6 + 0.4 * 2 / 1.5))
    assert pairs(index, "red") == [("a", pytest.approx(once, rel=1e-6))]
    assert pairs(index, "red, red!") == [("a", pytest.approx(2 * once, rel=1e-6))]


@pytest.mark.usefixtures("either_kernel")
def test_equal_scores_go_by_id_whatever_the_order_of_the_documents(tmp_path: Path) -> None:
    docids = ["B2", "B10", "a", "Z", "é", "日", "𐀀", "\uffff", "B1"]
    index = build_index(tmp_path, [(docid, "red lamp") for docid in docids])
    by_code_point = ["B1", "B10", "B2", "Z", "a", "é", "日", "\uffff", "𐀀"]
    assert [hit.docid for hit in index.search("lamp")] == by_code_point
    assert [hit.docid for hit in index.search("lamp", 4)] == by_code_point[:4]
    assert [docids[hit.number] for hit in index.search("lamp")] == by_code_point


@pytest.mark.usefixtures("either_kernel")
def test_scores_are_compared_to_the_last_digit(tmp_path: Path) -> None:
    # "common" is in all of 20,001 documents: worth 0.00002 at most, and still the shorter text is the better one.
    texts = [("z", "common"), *((f"m{n:05}", "common other") for n in range(20_000))]
    hits = build_index(tmp_path, texts, processes=1).search("common", 3)
    assert [hit.docid for hit in hits] == ["z", "m00000", "m00001"]
    assert 2e-5 > hits[0].score > hits[1].score == hits[2].score > 0


@pytest.mark.usefixtures("either_kernel")
def test_counts_that_no_byte_holds_are_exact(tmp_path: Path) -> None:
    texts = [("a", "tea " * 255), ("b", "tea " * 256), ("c", "tea " * 70_000 + "red " * 300), ("d", "red")]
    index = build_index(tmp_path, texts)
    for query in ("tea", "red", "tea red"):
        assert pairs(index, query) == plain_search(texts, query, 50)


# ---------------------------------------------------------------------- against the formula

WORD = st.sampled_from(["red", "tea", "lamp", "shoes", "shoe", "the", "x", "3.5", "é", "日"])
TEXT = st.lists(WORD, max_size=60).map(" ".join)


@given(st.lists(TEXT, max_size=12), TEXT, st.integers(1, 15))
@settings(max_examples=60, deadline=None)
def test_equals_the_plain_formula_on_small_corpora(texts: list[str], query: str, k: int) -> None:
    documents = [(f"id{number * 7 % 13}", text) for number, text in enumerate(texts)]
    with TemporaryDirectory() as folder:
        assert pairs(build_index(folder, documents), query, k) == plain_search(documents, query, k)


@pytest.mark.usefixtures("either_kernel")
@pytest.mark.parametrize("seed", range(3))
def test_equals_the_plain_formula_on_larger_corpora(tmp_path: Path, seed: int) -> None:
    documents = random_documents(700, seed, longest=300)
    index = build_index(tmp_path, documents)
    for query in QUERIES:
        for k in (1, 10, 5000):
            assert pairs(index, query, k) == plain_search(documents, query, k)


@pytest.mark.c_kernel
def test_both_kernels_agree_over_many_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More documents than the compiled kernel looks at in one go, and more equal scores than hits."""
    index = build_index(tmp_path, random_documents(40_000, 5, longest=8), processes=1)
    assert kernel.kernel_name() == "c"
    compiled = [index.search(query, k) for query in QUERIES for k in (1, 50, 3000)]
    monkeypatch.setattr(kernel, "compiled", lambda: None)
    assert compiled == [index.search(query, k) for query in QUERIES for k in (1, 50, 3000)]
    assert len(compiled[-1]) == 3000


def test_a_library_of_another_machine_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AGENTRL_KERNEL", raising=False)
    (tmp_path / "_score.cpython-399-m68k.so").write_bytes(b"\x7fELF of another machine")
    monkeypatch.setattr(kernel, "__file__", str(tmp_path / "kernel.py"))
    assert kernel.compiled.__wrapped__() is None


def test_the_environment_can_ask_for_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTRL_KERNEL", "numpy")
    assert kernel.compiled.__wrapped__() is None
    monkeypatch.delenv("AGENTRL_KERNEL")
    assert kernel.compiled.__wrapped__() is not None


# ---------------------------------------------------------------------- bad input


@pytest.fixture(scope="module")
def goods(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return build_index(tmp_path_factory.mktemp("goods"), random_documents(500))


@pytest.mark.parametrize(
    "query",
    [
        "",
        " ",
        "the of and",
        "(.*)+[",
        "\\",
        "\x00",
        "\ud800",
        "nothingknown",
        "🇩🇪",
        "' OR 1=1 --",
        "<r>",
        "%s{0}",
        "\u202e",
    ],
)
def test_a_query_without_a_known_term_finds_nothing(goods: Index, query: str) -> None:
    assert goods.search(query) == []


def test_noise_around_words_changes_nothing(goods: Index) -> None:
    plain = goods.search("red lamp")
    assert plain and plain == goods.search("\x00 (RED)*  <lamp>?\ud800\n")


def test_a_query_of_megabytes_counts_its_beginning(goods: Index) -> None:
    assert goods.search("red lamp " + "unknown " * 1_000_000) == goods.search("red lamp")
    many = " ".join(f"x{number}" for number in range(3000))
    assert goods.search(f"{many} red lamp") == []  # behind more distinct terms than any query has


@pytest.mark.parametrize(
    ("arguments", "named"),
    [(("tea", 0), "k "), (("tea", 2.5), "k "), (("tea", True), "k "), ((None,), "query"), ((b"tea",), "query")],
)
def test_bad_arguments_are_named(goods: Index, arguments: tuple[Any, ...], named: str) -> None:
    with pytest.raises(ConfigError, match=f"^{named}"):
        goods.search(*arguments)


def test_more_hits_than_documents_may_be_asked_for(goods: Index) -> None:
    containing = sum("tea" in text.split() for _, text in random_documents(500))
    assert len(goods.search("tea", 10**12)) == containing > 100


def test_an_index_of_nothing_finds_nothing(tmp_path: Path) -> None:
    assert build_index(tmp_path / "none", []).search("tea") == []
    hollow = build_index(tmp_path / "hollow", [("a", ""), ("b", "the of")])
    assert (len(hollow), hollow.term_count, hollow.search("tea the")) == (2, 0, [])
    hollow.verify()


# ---------------------------------------------------------------------- many at once


def test_thousands_of_searches_from_threads(goods: Index) -> None:
    expected = {query: goods.search(query) for query in QUERIES}
    fresh = Index.open(goods.folder)
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(fresh.search, QUERIES * 400))
    assert found == [expected[query] for query in QUERIES] * 400


def _search_in_child(index: Index, results: Any) -> None:
    results.put((os.getpid(), [index.search(query) for query in QUERIES]))


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_an_index_goes_to_other_processes(goods: Index, method: str) -> None:
    context: Any = multiprocessing.get_context(method)
    results = context.SimpleQueue()
    child = context.Process(target=_search_in_child, args=(goods, results))
    child.start()
    pid, found = results.get()
    child.join()
    assert pid != os.getpid() and found == [goods.search(query) for query in QUERIES]


def test_an_open_index_survives_a_fork(goods: Index) -> None:
    expected = repr([goods.search(query) for query in QUERIES]).encode()
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn that the test runner has threads
        child = os.fork()
    if child == 0:
        os.write(writer, b"same" if repr([goods.search(query) for query in QUERIES]).encode() == expected else b"other")
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 10) == b"same"
    os.close(reader)
    os.close(writer)


def test_a_copy_is_small_and_reopens_the_file(goods: Index) -> None:
    blob = pickle.dumps(goods)
    assert len(blob) < 1000
    assert pickle.loads(blob).search("tea") == goods.search("tea")
