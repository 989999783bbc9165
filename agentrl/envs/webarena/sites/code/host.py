"""The site itself, and what all its pages need: Markdown, the project that an address names, who may do what, lists."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, quote_plus, unquote, urlencode

from markupsafe import Markup

from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.formats import ago, day, moment, paging
from agentrl.envs.webarena.sites.site import Context, Forbidden, LoginNeeded, NotFound, Site, existing

OWNER, MAINTAINER, DEVELOPER, REPORTER, GUEST = 50, 40, 30, 20, 10
ROLES = {OWNER: "Owner", MAINTAINER: "Maintainer", DEVELOPER: "Developer", REPORTER: "Reporter", GUEST: "Guest"}
VISIBILITIES = ("private", "internal", "public")
RESERVED = frozenset(
    {"dashboard", "explore", "groups", "projects", "search", "users", "static", "-", "profile", "help"}
)
PAGE_SIZE = 20
AVATARS = ("#8a5a2b", "#2b6f8a", "#6b4a8f", "#3f7d4e", "#a34a4a", "#4a5fa3", "#8f7a2b", "#2b8a78")
# Projects that a user (?1) is a member of, and those that a user may see.
MINE = """project.id IN (SELECT m.project_id FROM project_member m WHERE m.user_id = ?1 UNION
    SELECT p.id FROM project p JOIN team_member m ON m.team_id = p.team_id WHERE m.user_id = ?1)"""
VISIBLE = f"(project.visibility = 'public' OR (project.visibility = 'internal' AND ?1 > 0) OR {MINE})"


class CodeHost(Site):
    """The code host."""

    def shared(self, context: Context) -> Mapping[str, Any]:
        """Formatting for the templates, and the counts of the bar at the top."""
        return {
            "day": day, "moment": moment, "markdown": markdown, "ago": lambda when: ago(when, context.db.now()),
            "avatar": lambda name: AVATARS[sum(map(ord, name)) % len(AVATARS)],  # behind somebody's first letter
            "quoted": lambda value: quote(str(value), safe="/"), "plus": quote_plus,
            "roles": ROLES, "origin": context.request.origin, "host": context.request.origin.partition("//")[2],
            "counts": counts(context.db, context.user["id"]) if context.user else {},
            "with_query": lambda **v: with_query(context, **v),
            "open_counts": lambda project: open_counts(context.db, project),
        }  # fmt: skip


site = CodeHost("gitlab", "code", "code_session", login_path="/users/sign_in")


def counts(db: Database, user: int) -> dict[str, int]:
    """What waits for a user: issues, merge requests, to-dos."""
    return {
        "issues": db.value("SELECT count(*) FROM issue WHERE assignee_id = ? AND state = 'opened'", user),
        "merge_requests": db.value(
            "SELECT count(*) FROM merge_request WHERE (assignee_id = ? OR reviewer_id = ?) AND state = 'opened'",
            user,
            user,
        ),
        "todos": db.value("SELECT count(*) FROM todo WHERE user_id = ? AND state = 'pending'", user),
    }


def open_counts(db: Database, project: int) -> tuple[int, int]:
    """Open issues and merge requests of a project."""
    return (
        db.value("SELECT count(*) FROM issue WHERE project_id = ? AND state = 'opened'", project),
        db.value("SELECT count(*) FROM merge_request WHERE project_id = ? AND state = 'opened'", project),
    )


# ---------------------------------------------------------------------- projects and rights


@dataclass(frozen=True)
class Project:
    """A project as the visitor meets it."""

    row: sqlite3.Row
    level: int  # of access; 0 for somebody who is no member

    @property
    def id(self) -> int:
        """Of the row."""
        return self.row["id"]

    @property
    def url(self) -> str:
        """Its address on the site."""
        return project_url(self.row)

    def allows(self, level: int) -> bool:
        """May the visitor do what needs this level? Nobody changes an archived project."""
        return self.level >= level and (not self.row["archived"] or level >= OWNER)

    def require(self, level: int) -> None:
        """`Forbidden` unless the visitor has this level."""
        if not self.allows(level):
            raise Forbidden


def project_url(row: sqlite3.Row) -> str:
    """The address of a project."""
    return f"/{row['namespace']}/{row['path']}"


def user_id(context: Context) -> int:
    """Of the visitor; 0 for a guest."""
    return context.user["id"] if context.user else 0


def project_of(context: Context) -> Project:
    """The project that the address names; `NotFound` where the visitor may not even know that it exists."""
    names = unquote(context.params["namespace"]), unquote(context.params["project"])
    sql = "SELECT * FROM project WHERE lower(namespace) = lower(?) AND lower(path) = lower(?)"
    row = existing(context.db.row(sql, *names))
    level = access_level(context.db, row, user_id(context))
    if not level and (row["visibility"] == "private" or (row["visibility"] == "internal" and context.user is None)):
        if context.user is None:
            raise LoginNeeded
        raise NotFound
    return Project(row, level)


def writable(context: Context, level: int = 0) -> Project:
    """The project that the address names, for a change by a member of the site with that level."""
    _ = context.member
    project = project_of(context)
    project.require(level)
    return project


def access_level(db: Database, project: sqlite3.Row, user: int) -> int:
    """The best of what a user has in the project and in its group."""
    own = db.value(
        "SELECT max(access_level) FROM project_member WHERE project_id = ? AND user_id = ?", project["id"], user
    )
    group = db.value(
        "SELECT max(access_level) FROM team_member WHERE team_id = ? AND user_id = ?", project["team_id"], user
    )
    return max(own or 0, group or 0)


def members(db: Database, project: sqlite3.Row) -> list[sqlite3.Row]:
    """Everybody with access, best first. `member_id` is None for members of the group."""
    return db.rows(
        """SELECT user.*, m.id AS member_id, m.access_level, m.expires_at, m.created_at AS since FROM project_member m
             JOIN user ON user.id = m.user_id WHERE m.project_id = ?1
           UNION ALL SELECT user.*, NULL, m.access_level, m.expires_at, m.created_at FROM team_member m
             JOIN user ON user.id = m.user_id WHERE m.team_id = ?2
             AND m.user_id NOT IN (SELECT user_id FROM project_member WHERE project_id = ?1)
           ORDER BY access_level DESC, name""",
        project["id"],
        project["team_id"],
    )


def user_named(db: Database, username: str) -> sqlite3.Row | None:
    """A user by user name, with or without "@", or by full name."""
    name = username.strip().removeprefix("@")
    return db.row(
        "SELECT * FROM user WHERE lower(username) = lower(?) OR name = ? COLLATE NOCASE ORDER BY id", name, name
    )


def record(context: Context, project: int, action: str, target: str, url: str) -> None:
    """Remember what the visitor did, for the activity pages."""
    now = context.db.now()
    context.db.insert(
        "event", user_id=context.member["id"], project_id=project, action=action, target=target, url=url, created_at=now
    )
    context.db.update("project", project, updated_at=now)


# ---------------------------------------------------------------------- lists


@dataclass(frozen=True)
class Page:
    """A part of a list."""

    rows: list[sqlite3.Row]
    number: int  # from 1
    last: int
    total: int


def paged(context: Context, sql: str, *values: Any, size: int = PAGE_SIZE) -> Page:
    """The rows of a query that the `page` of the address asks for."""
    total = context.db.value(f"SELECT count(*) FROM ({sql})", *values)
    number, last = paging(context.number(context.query("page"), 1), total, size)
    rows = context.db.rows(f"{sql} LIMIT {size} OFFSET {(number - 1) * size}", *values)
    return Page(rows, number, last, total)


def with_query(context: Context, **changes: Any) -> str:
    """This address with other fields behind the question mark, each in its old place; any change goes to page 1."""
    kept = [(key, str(changes.pop(key, value))) for key, value in context.request.query if key != "page"]
    fields = [*kept, *((key, str(value)) for key, value in changes.items())]
    return context.request.path + (f"?{urlencode(fields)}" if fields else "")


def like(text: str) -> str:
    """A pattern for LIKE ... ESCAPE '!' that finds texts containing this one."""
    text = text[:200]  # longer patterns are refused by the database
    return "%" + text.replace("!", "!!").replace("%", "!%").replace("_", "!_") + "%"


# ---------------------------------------------------------------------- Markdown


# Code, a link, a mention.
_INLINE = re.compile(
    r"`([^`\n]+)`|\[([^\]\n]{1,200})\]\((https?://[^\s)]{1,400}|/[^\s)]{0,400})\)|(?<![\w/@.])@([A-Za-z0-9](?:[\w.-]{0,60}\w)?)"
)
_ITEM = re.compile(r"(?:[*-]|[0-9]{1,3}\.) +(.*)")


def markdown(text: str) -> Markup:
    """Headings, paragraphs, lists, code, links and mentions; everything else is shown as it was written."""
    parts: list[Markup] = []
    blocks = re.split(r"(?m)^```[^\n]*\n(.*?)(?:^```\s*$|\Z)", text.replace("\r\n", "\n"), flags=re.DOTALL)
    for number, block in enumerate(blocks):
        parts += [Markup("<pre>{}</pre>").format(block.rstrip("\n"))] if number % 2 else _blocks(block)
    return Markup("\n").join(parts)


def _blocks(text: str) -> list[Markup]:
    found: list[Markup] = []
    for block in re.split(r"\n[ \t]*\n", text):
        lines: list[str] = []
        for line in block.split("\n"):
            heading = re.fullmatch(r"(#{1,4}) +(.+)", line)
            if heading:
                found += _paragraph(lines)
                lines = []
                level = min(len(heading[1]) + 1, 4)
                found.append(Markup(f"<h{level}>{{}}</h{level}>").format(_inline(heading[2])))
            else:
                lines.append(line)
        found += _paragraph(lines)
    return found


def _paragraph(lines: list[str]) -> list[Markup]:
    found: list[Markup] = []
    plain: list[str] = []
    items: list[Markup] = []
    for line in [*lines, ""]:
        item = _ITEM.fullmatch(line.strip())
        if item:
            items.append(Markup("<li>• {}</li>").format(_inline(item[1])))
            continue
        if items:
            found += [_text(plain), Markup("<ul>{}</ul>").format(Markup("").join(items))]
            plain, items = [], []
        plain.append(line)
    return [part for part in [*found, _text(plain)] if part]


def _text(lines: list[str]) -> Markup:
    text = "\n".join(lines).strip()
    return Markup("<p>{}</p>").format(_inline(text)) if text else Markup("")


def _inline(text: str) -> Markup:
    parts: list[Markup | str] = []
    end = 0
    for found in _INLINE.finditer(text):
        parts.append(text[end : found.start()])
        code, label, url, name = found.groups()
        if code is not None:
            parts.append(Markup("<code>{}</code>").format(code))
        elif url is not None:
            parts.append(Markup('<a href="{}">{}</a>').format(url, label))
        else:
            parts.append(Markup('<a href="/{0}">@{0}</a>').format(name))
        end = found.end()
    return Markup("").join([*parts, text[end:]]).replace("\n", Markup("<br>"))
