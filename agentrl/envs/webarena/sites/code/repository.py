"""Files and history: folders, files, commits, branches, tags, contributors, the graph."""

from __future__ import annotations

import sqlite3
from itertools import groupby
from typing import Any
from urllib.parse import unquote

from agentrl.envs.webarena.sites.code.host import Project, like, paged, project_of, site
from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.formats import day
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context, NotFound, existing

# All commits that are reachable from one (?1).
HISTORY = """WITH RECURSIVE history(id) AS (SELECT ?1 UNION SELECT p.id FROM history
    JOIN git_commit c ON c.id = history.id
    JOIN git_commit p ON p.id IN (c.parent_id, c.merged_id))"""
COMMIT = """SELECT c.*, user.name AS author_name, user.username AS author_username, user.email AS author_email
    FROM git_commit c JOIN user ON user.id = c.author_id"""


# ---------------------------------------------------------------------- names of versions


def ref_named(db: Database, project: int, name: str) -> sqlite3.Row | None:
    """A branch or tag; a branch if both have the name."""
    return db.row("SELECT * FROM ref WHERE project_id = ? AND name = ? ORDER BY kind, id", project, name)


def default_ref(db: Database, project: Project) -> sqlite3.Row | None:
    """The default branch; None in an empty repository."""
    return ref_named(db, project.id, project.row["default_branch"])


def split_ref(context: Context, project: Project, rest: str) -> tuple[sqlite3.Row, str]:
    """A branch or tag and a path out of "branch/with/slashes/and/path": the longest name that exists."""
    parts = unquote(rest).strip("/").split("/")
    for count in range(min(len(parts), 8), 0, -1):
        ref = ref_named(context.db, project.id, "/".join(parts[:count]))
        if ref is not None:
            return ref, "/".join(parts[count:])
    raise NotFound


# ---------------------------------------------------------------------- files


def files_of(db: Database, ref: int, folder: str) -> list[dict[str, Any]]:
    """What is in a folder: folders first, each with the commit that changed it last."""
    prefix = f"{folder}/" if folder else ""
    rows = db.rows(
        """SELECT e.path, c.sha, c.title, c.created_at FROM tree_entry e JOIN git_commit c ON c.id = e.commit_id
           WHERE e.ref_id = ? AND substr(e.path, 1, ?) = ? ORDER BY e.path""",
        ref,
        len(prefix),
        prefix,
    )
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        name, slash, _ = row["path"][len(prefix) :].partition("/")
        known = found.get(name)
        if known is None or known["created_at"] < row["created_at"]:
            found[name] = {
                "name": name, "path": prefix + name, "folder": bool(slash), "sha": row["sha"], "title": row["title"],
                "created_at": row["created_at"],
            }  # fmt: skip
    return sorted(found.values(), key=lambda entry: (not entry["folder"], entry["name"].lower()))


def content_of(db: Database, ref: int, path: str) -> str | None:
    """The text of a file; None if there is none."""
    return db.value(
        "SELECT blob.content FROM tree_entry e JOIN blob ON blob.id = e.blob_id WHERE e.ref_id = ? AND e.path = ?",
        ref,
        path,
    )


def crumbs(path: str) -> list[tuple[str, str]]:
    """The folders above a path, and itself: (name, path)."""
    parts = path.split("/") if path else []
    return [(name, "/".join(parts[: place + 1])) for place, name in enumerate(parts)]


def branches_of(db: Database, project: int, kind: str = "branch") -> list[sqlite3.Row]:
    """Branches or tags with their newest commit, the newest first."""
    return db.rows(
        """SELECT ref.*, c.sha, c.title, c.created_at AS committed_at, user.name AS author_name, 
            user.username AS author_username
           FROM ref JOIN git_commit c ON c.id = ref.commit_id JOIN user ON user.id = c.author_id
           WHERE ref.project_id = ? AND ref.kind = ? ORDER BY c.created_at DESC, ref.id""",
        project,
        kind,
    )


@site.get("/{namespace}/{project}/-/tree/{rest:path}")
def tree(context: Context) -> Response:
    """A folder of a branch or tag."""
    project = project_of(context)
    ref, path = split_ref(context, project, context.params["rest"])
    entries = files_of(context.db, ref["id"], path)
    if path and not entries:
        raise NotFound
    readme = content_of(context.db, ref["id"], f"{path}/README.md" if path else "README.md")
    last = context.db.row(f"{COMMIT} WHERE c.id = ?", ref["commit_id"])
    return context.page(
        "tree.html", project=project, ref=ref, path=path, entries=entries, crumbs=crumbs(path), readme=readme,
        last=last, refs=branches_of(context.db, project.id),
    )  # fmt: skip


@site.get("/{namespace}/{project}/-/blob/{rest:path}")
def blob(context: Context) -> Response:
    """A file."""
    project = project_of(context)
    ref, path = split_ref(context, project, context.params["rest"])
    content = existing(content_of(context.db, ref["id"], path))
    last = context.db.row(
        f"{COMMIT} JOIN tree_entry e ON e.commit_id = c.id WHERE e.ref_id = ? AND e.path = ?", ref["id"], path
    )
    return context.page(
        "blob.html", project=project, ref=ref, path=path, content=content, crumbs=crumbs(path), last=last,
        size=len(content.encode()), markup=path.endswith(".md"),
    )  # fmt: skip


@site.get("/{namespace}/{project}/-/raw/{rest:path}")
def raw(context: Context) -> Response:
    """A file as plain text."""
    project = project_of(context)
    ref, path = split_ref(context, project, context.params["rest"])
    content = existing(content_of(context.db, ref["id"], path))
    return Response(content, content_type="text/plain; charset=utf-8")


# ---------------------------------------------------------------------- history


@site.get("/{namespace}/{project}/-/commits", "/{namespace}/{project}/-/commits/{rest:path}")
def commits(context: Context) -> Response:
    """The commits of a branch, or those that changed a file, by day."""
    project = project_of(context)
    rest = context.params.get("rest") or project.row["default_branch"]
    try:
        ref, path = split_ref(context, project, rest)
    except NotFound:
        if context.params.get("rest"):
            raise
        return context.page("commits.html", project=project, ref=None, path="", page=None)
    author, search = context.query("author").strip(), context.query("search").strip()
    where = """c.id IN history AND (?2 = '' OR user.name LIKE ?3 ESCAPE '!' OR lower(user.username) = lower(?2))
        AND (?4 = '' OR c.title LIKE ?5 ESCAPE '!') AND (?6 = '' OR EXISTS (SELECT 1 FROM commit_file f
        WHERE f.commit_id = c.id AND (f.path = ?6 OR substr(f.path, 1, length(?6) + 1) = ?6 || '/')))"""
    values = (ref["commit_id"], author, like(author), search, like(search), path)
    page = paged(context, f"{HISTORY} {COMMIT} WHERE {where} ORDER BY c.created_at DESC, c.id DESC", *values)
    by_day = f"""{HISTORY} SELECT substr(c.created_at, 1, 10) AS day, count(*) FROM git_commit c
        JOIN user ON user.id = c.author_id WHERE {where} GROUP BY day"""
    counts = {row[0]: row[1] for row in context.db.rows(by_day, *values)}
    days = [
        (day(date), counts[date], list(rows))
        for date, rows in groupby(page.rows, key=lambda row: row["created_at"][:10])
    ]
    return context.page(
        "commits.html", project=project, ref=ref, path=path, days=days, page=page, author=author, search=search,
        authors=contributors_of(context.db, ref["commit_id"]),
    )  # fmt: skip


@site.get("/{namespace}/{project}/-/commit/{sha}")
def commit(context: Context) -> Response:
    """One commit with its changes."""
    project = project_of(context)
    sha = context.params["sha"]  # or the first characters of it
    if len(sha) < 6 or not sha.isalnum():
        raise NotFound
    row = context.db.row(f"{COMMIT} WHERE c.sha >= ? AND c.sha < ? ORDER BY c.id", sha, sha + "g")
    if row is None or row["project_id"] not in (project.id, project.row["forked_from_id"]):  # a fork shares commits
        raise NotFound
    changed = context.db.rows("SELECT * FROM commit_file WHERE commit_id = ? ORDER BY path, id", row["id"])
    parents = context.db.rows(
        "SELECT sha FROM git_commit WHERE id IN (?, ?) ORDER BY id", row["parent_id"], row["merged_id"]
    )
    return context.page("commit.html", project=project, row=row, changed=changed, parents=parents)


def contributors_of(db: Database, commit_id: int) -> list[sqlite3.Row]:
    """Everybody who has commits in a history, with their number, the most first."""
    return db.rows(
        f"""{HISTORY} SELECT user.name, user.username, user.email, count(DISTINCT c.id) AS commits,
              coalesce(sum(f.additions), 0) AS additions, coalesce(sum(f.deletions), 0) AS deletions
            FROM history JOIN git_commit c ON c.id = history.id JOIN user ON user.id = c.author_id
            LEFT JOIN (SELECT commit_id, sum(additions) AS additions, sum(deletions) AS deletions FROM commit_file
              WHERE commit_id IN history GROUP BY commit_id) f ON f.commit_id = c.id
            GROUP BY user.id ORDER BY commits DESC, user.name""",
        commit_id,
    )


@site.get("/{namespace}/{project}/-/graphs/{rest:path}")
def contributors(context: Context) -> Response:
    """Who has contributed how many commits."""
    project = project_of(context)
    ref, _ = split_ref(context, project, context.params["rest"])
    return context.page(
        "contributors.html", project=project, ref=ref, rows=contributors_of(context.db, ref["commit_id"])
    )


@site.get("/{namespace}/{project}/-/network/{rest:path}", "/{namespace}/{project}/-/network")
def network(context: Context) -> Response:
    """The newest commits of all branches, each beside its branches and tags."""
    project = project_of(context)
    names: dict[int, list[str]] = {}
    for ref in context.db.rows("SELECT * FROM ref WHERE project_id = ? ORDER BY id", project.id):
        names.setdefault(ref["commit_id"], []).append(ref["name"])
    main = default_ref(context.db, project)
    on_main = set[int]()
    if main is not None:
        on_main = {row["id"] for row in context.db.rows(f"{HISTORY} SELECT id FROM history", main["commit_id"])}
    source = project.row["forked_from_id"] or project.id
    rows = context.db.rows(
        f"{COMMIT} WHERE c.project_id IN (?, ?) ORDER BY c.created_at DESC, c.id DESC LIMIT 50", project.id, source
    )
    return context.page("network.html", project=project, rows=rows, names=names, on_main=on_main)
