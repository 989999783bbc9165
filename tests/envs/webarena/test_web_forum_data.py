"""The forum's base data: plentiful, varied, the same in every build, and without contradictions."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from random import Random

import pytest

from agentrl.envs.webarena.sites.database import START, Database
from agentrl.envs.webarena.sites.forum import data
from agentrl.envs.webarena.sites.forum.content import contents
from agentrl.envs.webarena.sites.forum.listing import ranking
from agentrl.envs.webarena.sites.forum.people import AGENT
from agentrl.envs.webarena.sites.places import base_file
from agentrl.envs.webarena.sites.prose import expand, parse, sentences
from agentrl.envs.webarena.sites.site import SESSION_TABLE

TABLES = ("user", "forum", "submission", "comment", "subscription", "ban", "wiki_revision", "message", "notification")


@pytest.fixture(scope="module")
def db() -> Iterator[Database]:
    database = Database(base_file("forum"))
    yield database
    database.close()


def test_a_second_build_gives_the_same_rows(db: Database) -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.executescript(SESSION_TABLE)
    data.build(connection)
    for table in TABLES:
        again = connection.execute(f"SELECT * FROM {table} ORDER BY id").fetchall()
        assert again == [tuple(row) for row in db.rows(f"SELECT * FROM {table} ORDER BY id")], table


def test_there_is_plenty_and_it_is_small(db: Database) -> None:
    counts = {table: db.value(f"SELECT count(*) FROM {table}") for table in TABLES}
    assert counts["forum"] == 28 and counts["user"] == 400
    assert counts["submission"] >= 3_000 and counts["comment"] >= 14_000
    assert base_file("forum").stat().st_size < 15_000_000
    assert db.value("SELECT min(n) FROM (SELECT count(*) AS n FROM submission GROUP BY forum_id)") >= 60
    agent = db.value("SELECT id FROM user WHERE username = ?", AGENT)
    for table, least in (("submission", 30), ("comment", 30), ("subscription", 8)):
        assert db.value(f"SELECT count(*) FROM {table} WHERE user_id = ?", agent) >= least


def test_texts_are_varied(db: Database) -> None:
    titles = [row["title"] for row in db.rows("SELECT title FROM submission")]
    assert len(set(titles)) >= 0.98 * len(titles)
    bodies = [row["body"] for row in db.rows("SELECT body FROM comment")]
    assert len(set(bodies)) == len(bodies)
    for text in (*titles, *bodies):
        assert text and text == text.strip() and not set("{}|") & set(text) and "  " not in text


def test_counts_scores_and_dates_agree(db: Database) -> None:
    comments: dict[int, list[sqlite3.Row]] = {}
    by_id = {}
    for comment in db.rows("SELECT * FROM comment"):
        comments.setdefault(comment["submission_id"], []).append(comment)
        by_id[comment["id"]] = comment
    for row in db.rows("SELECT * FROM submission"):
        below = comments.get(row["id"], [])
        assert row["comment_count"] == len(below)
        assert row["last_active"] == max([row["created_at"], *(comment["created_at"] for comment in below)])
        assert row["ranking"] == ranking(row["created_at"], row["upvotes"], row["downvotes"], len(below))
        for comment in below:
            answered = by_id[comment["parent_id"]] if comment["parent_id"] is not None else row
            assert row["created_at"] < comment["created_at"] and answered["created_at"] < comment["created_at"]
            assert comment["parent_id"] is None or answered["submission_id"] == row["id"]


def test_nobody_writes_before_joining_and_nothing_happens_after_the_start(db: Database) -> None:
    for table, column in (
        ("submission", "user_id"),
        ("comment", "user_id"),
        ("subscription", "user_id"),
        ("ban", "user_id"),
    ):
        assert (
            db.value(
                f"SELECT count(*) FROM {table} t JOIN user u ON u.id = t.{column} WHERE t.created_at < u.created_at"
            )
            == 0
        )
        assert db.value(f"SELECT max(created_at) FROM {table}") < START.isoformat(" ")
        assert db.value(f"SELECT max(length(created_at)) FROM {table}") == len("2025-06-16 09:00:00")
    later = """SELECT count(*) FROM ban b JOIN submission s ON s.forum_id = b.forum_id AND s.user_id = b.user_id
        WHERE s.created_at > b.created_at"""
    assert db.value(later) == 0
    assert db.value("SELECT count(*) FROM moderator m JOIN ban b USING (forum_id, user_id)") == 0


def test_patterns_expand_to_every_choice_and_refuse_loose_brackets() -> None:
    rng = Random(1)
    found = {expand("[a|b[c|d]] {word} {2..3}", rng, {"word": ["x", "[y|z]"]}) for _ in range(300)}
    assert len(found) == 3 * 3 * 2
    assert expand(r"\[R\] {name}", rng, {"name": "plain"}) == "[R] plain"
    assert sentences("a apple. it is fine") == "An apple. It is fine"
    for wrong in ("[a", "a]]b[", "{a"):
        with pytest.raises(ValueError, match="brackets"):
            parse(wrong)


def test_every_forum_has_something_to_say() -> None:
    for content in contents():
        assert len(content.subjects) >= 8 and len(content.posts) >= 1 and len(content.comments) >= 4
        assert all(len(subject) == len(content.fields) for subject in content.subjects)
