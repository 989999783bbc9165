"""What concerns the visitor: own projects, issues, merge requests, to-dos, groups, milestones, activity; and search."""

from __future__ import annotations

from typing import Any

from agentrl.envs.webarena.sites.code.host import MINE, VISIBLE, Page, like, paged, site, user_id
from agentrl.envs.webarena.sites.code.tickets import TABLES, listing
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context, NotFound

PROJECT_COLUMNS = """project.*, (SELECT count(*) FROM star WHERE star.project_id = project.id) AS stars,
    (SELECT count(*) FROM project f WHERE f.forked_from_id = project.id) AS forks"""
PROJECT_SORTS = {
    "latest_activity_desc": ("Updated date", "project.updated_at DESC, project.id"),
    "stars_desc": ("Most stars", "stars DESC, project.id"),
    "created_desc": ("Last created", "project.created_at DESC, project.id"),
    "created_asc": ("Oldest created", "project.created_at, project.id"),
    "name_asc": ("Name", "lower(project.name), project.id"),
    "name_desc": ("Name, descending", "lower(project.name) DESC, project.id"),
}
STARRED = "EXISTS (SELECT 1 FROM star s WHERE s.project_id = project.id AND s.user_id = ?1)"
EVENTS = """SELECT event.*, user.username, user.name AS user_name, project.namespace, project.path FROM event
    JOIN user ON user.id = event.user_id JOIN project ON project.id = event.project_id"""


def project_list(context: Context, where: str, *values: Any, default: str = "latest_activity_desc") -> dict[str, Any]:
    """Projects that the visitor may see, with the sorting and the name filter of the address. `?1` is the visitor."""
    sort = context.query("sort", default)
    sort = sort if sort in PROJECT_SORTS else default
    name = context.query("name") or context.query("search")
    mark = len(values) + 2
    sql = f"""SELECT {PROJECT_COLUMNS} FROM project WHERE {VISIBLE} AND ({where})
        AND (project.name LIKE ?{mark} ESCAPE '!' OR project.path LIKE ?{mark} ESCAPE '!'
        OR project.description LIKE ?{mark} ESCAPE '!')
        ORDER BY {PROJECT_SORTS[sort][1]}"""
    page = paged(context, sql, user_id(context), *values, like(name))
    return {"page": page, "sort": sort, "name": name, "sorts": {key: text for key, (text, _) in PROJECT_SORTS.items()}}


@site.get("/", "/dashboard/projects", "/dashboard")
def your_projects(context: Context) -> Response:
    """Projects that the visitor is a member of; guests get the public ones."""
    if context.user is None:
        return explore(context)
    mine = "project.owner_id = ?1" if context.query("personal") else MINE
    return context.page(
        "projects.html", here="personal" if context.query("personal") else "yours", **project_list(context, mine)
    )


@site.get("/dashboard/projects/starred")
def starred_projects(context: Context) -> Response:
    """Projects that the visitor has starred."""
    _ = context.member
    return context.page("projects.html", here="starred", **project_list(context, STARRED))


@site.get("/explore", "/explore/projects", "/explore/projects/starred")
def explore(context: Context) -> Response:
    """All projects that the visitor may see; under the last address those with the most stars first."""
    default = "stars_desc" if context.request.path.rstrip("/").endswith("/starred") else "latest_activity_desc"
    return context.page("projects.html", here="explore", **project_list(context, "1", default=default))


@site.get("/dashboard/issues", "/dashboard/merge_requests")
def my_tickets(context: Context) -> Response:
    """Issues or merge requests of all projects, usually filtered by assignee, author or reviewer."""
    kind = context.request.path.strip("/").rpartition("/")[2]
    name = context.member["username"]
    people = ("assignee_username", "author_username", "reviewer_username")
    if not any(context.query(field) for field in people) and not context.query("scope"):
        return context.redirect(f"/dashboard/{kind}?assignee_username={name}")
    return context.page("dashboard_tickets.html", list=listing(context, kind))


@site.get("/dashboard/todos")
def todos(context: Context) -> Response:
    """What waits for the visitor."""
    state = "done" if context.query("state") == "done" else "pending"
    rows = paged(
        context,
        """SELECT todo.*, user.name AS author_name, user.username AS author_username, project.namespace, project.path,
             coalesce(issue.title, merge_request.title) AS title, coalesce(issue.iid, merge_request.iid) AS iid
           FROM todo JOIN user ON user.id = todo.author_id JOIN project ON project.id = todo.project_id
           LEFT JOIN issue ON issue.id = todo.issue_id LEFT
           JOIN merge_request ON merge_request.id = todo.merge_request_id
           WHERE todo.user_id = ? AND todo.state = ? ORDER BY todo.created_at DESC, todo.id""",
        context.member["id"],
        state,
    )
    done = context.db.value("SELECT count(*) FROM todo WHERE user_id = ? AND state = 'done'", context.member["id"])
    return context.page("todos.html", page=rows, state=state, done=done)


@site.post("/dashboard/todos/{todo}/done", "/dashboard/todos/{todo}/restore")
def mark_todo(context: Context) -> Response:
    """One to-do is done, or waits again."""
    row = context.db.get("todo", context.number(context.params["todo"]))
    if row is None or row["user_id"] != context.member["id"]:
        raise NotFound
    done = context.request.path.rstrip("/").endswith("done")
    context.db.update("todo", row["id"], state="done" if done else "pending")
    return context.redirect("/dashboard/todos" if done else "/dashboard/todos?state=done", "To-do item updated.")


@site.post("/dashboard/todos/mark_all_done")
def mark_all_todos(context: Context) -> Response:
    """Everything is done."""
    for row in context.db.rows("SELECT id FROM todo WHERE user_id = ? AND state = 'pending'", context.member["id"]):
        context.db.update("todo", row["id"], state="done")
    return context.redirect("/dashboard/todos", "Everything was marked as done.")


@site.get("/dashboard/groups", "/explore/groups")
def groups(context: Context) -> Response:
    """Groups of the visitor, or all of them."""
    mine = context.request.path.startswith("/dashboard")
    if mine:
        _ = context.member
    rows = context.db.rows(
        """SELECT team.*, m.access_level, (SELECT count(*) FROM team_member t WHERE t.team_id = team.id) AS people,
             (SELECT count(*) FROM project WHERE project.team_id = team.id
             AND project.visibility != 'private') AS projects
           FROM team LEFT JOIN team_member m ON m.team_id = team.id AND m.user_id = ?1
           WHERE m.id IS NOT NULL OR (?2 AND (team.visibility = 'public' OR (team.visibility = 'internal' AND ?1 > 0)))
           ORDER BY team.name""",
        user_id(context),
        not mine,
    )
    return context.page("groups.html", rows=rows, mine=mine)


@site.get("/dashboard/milestones")
def milestones(context: Context) -> Response:
    """Open milestones of the visitor's projects."""
    rows = paged(
        context,
        f"""SELECT milestone.*, project.namespace, project.path FROM milestone
            JOIN project ON project.id = milestone.project_id
            WHERE {MINE} AND milestone.state = 'active' ORDER BY milestone.due_date, milestone.id""",
        context.member["id"],
    )
    return context.page("dashboard_milestones.html", page=rows)


@site.get("/dashboard/activity")
def activity(context: Context) -> Response:
    """What happened in the visitor's projects."""
    page = paged(context, f"{EVENTS} WHERE {MINE} ORDER BY event.created_at DESC, event.id DESC", context.member["id"])
    return context.page("activity.html", page=page)


@site.get("/dashboard/snippets", "/explore/snippets")
def snippets(context: Context) -> Response:
    """Snippets of the visitor."""
    return context.page("snippets.html", page=snippet_list(context, "author_id", context.member["id"]))


def snippet_list(context: Context, column: str, value: int) -> Page:
    """Snippets of one author ("author_id") or of one project ("project_id")."""
    return paged(
        context,
        f"""SELECT snippet.*, user.name AS author_name, user.username, project.namespace, project.path FROM snippet
            JOIN user ON user.id = snippet.author_id LEFT JOIN project ON project.id = snippet.project_id
            WHERE snippet.{column} = ? ORDER BY snippet.created_at DESC, snippet.id""",
        value,
    )


# ---------------------------------------------------------------------- search

SCOPES = {
    "projects": "Projects", "issues": "Issues", "merge_requests": "Merge requests", "milestones": "Milestones",
    "users": "Users", "blobs": "Code",
}  # fmt: skip
QUERIES = {  # ?1 is the visitor, ?2 the pattern (of code: the text itself, which is much faster)
    "projects": f"""SELECT {PROJECT_COLUMNS} FROM project WHERE {VISIBLE} AND (project.name LIKE ?2 ESCAPE '!'
        OR project.path LIKE ?2 ESCAPE '!' OR project.description LIKE ?2 ESCAPE '!'
        OR project.namespace || '/' || project.path LIKE ?2 ESCAPE '!')
        ORDER BY project.name NOT LIKE ?2 ESCAPE '!', stars DESC, project.id""",
    "milestones": f"""SELECT milestone.*, project.namespace, project.path FROM milestone
        JOIN project ON project.id = milestone.project_id WHERE {VISIBLE} AND milestone.title LIKE ?2 ESCAPE '!'
        ORDER BY milestone.due_date DESC, milestone.id""",
    "users": """SELECT user.* FROM user WHERE ?1 >= 0 AND (user.name LIKE ?2 ESCAPE '!'
        OR user.username LIKE ?2 ESCAPE '!')
        ORDER BY user.name, user.id""",
    "blobs": f"""SELECT tree_entry.path AS file, project.namespace, project.path, project.default_branch
        FROM project JOIN ref ON ref.project_id = project.id AND ref.kind = 'branch'
        AND ref.name = project.default_branch
        JOIN tree_entry ON tree_entry.ref_id = ref.id JOIN blob ON blob.id = tree_entry.blob_id
        WHERE {VISIBLE} AND instr(lower(blob.content), lower(?2)) ORDER BY project.id, tree_entry.path""",
}
IN_TICKET = "t.title LIKE ?2 ESCAPE '!' OR t.description LIKE ?2 ESCAPE '!'"
OPEN_TICKETS = f"""SELECT 1 FROM {{table}} t JOIN project ON project.id = t.project_id
    WHERE {VISIBLE} AND t.state = 'opened' AND ({IN_TICKET})"""


@site.get("/search")
def search(context: Context) -> Response:
    """Results of one kind; how many there are of the others stands in the tabs."""
    text = context.query("search").strip()
    scope = context.query("scope")
    scope = scope if scope in SCOPES else "projects"
    numbers, found = dict[str, int](), None
    for name in SCOPES if text else ():
        sql = QUERIES.get(name) or OPEN_TICKETS.format(table=TABLES[name])
        if name != "blobs":
            numbers[name] = context.db.value(f"SELECT count(*) FROM ({sql})", user_id(context), like(text))
    if text and scope in TABLES:
        found = listing(context, scope, IN_TICKET, like(text))
    elif text:
        found = paged(context, QUERIES[scope], user_id(context), text if scope == "blobs" else like(text))
    return context.page("search.html", scope=scope, scopes=SCOPES, text=text, found=found, numbers=numbers)
