"""Search over projects, issues, merge requests, milestones, users and code."""

from __future__ import annotations

from agentrl.envs.webarena.sites.code.dashboard import PROJECT_COLUMNS
from agentrl.envs.webarena.sites.code.host import VISIBLE, Page, like, paged, site, user_id
from agentrl.envs.webarena.sites.code.listing import TABLES, Listing, listing
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context

SCOPES = {
    "projects": "Projects",
    "issues": "Issues",
    "merge_requests": "Merge requests",
    "milestones": "Milestones",
    "users": "Users",
    "blobs": "Code",
}
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


@site.get("/search")
def search(context: Context) -> Response:
    """Results of one kind; how many there are of the others stands in the tabs."""
    text = context.query("search").strip()
    scope = context.query("scope")
    scope = scope if scope in SCOPES else "projects"
    numbers = {name: _count(context, name, text) for name in SCOPES if name != "blobs"} if text else {}
    found = _results(context, scope, text) if text else None
    return context.page("search.html", scope=scope, scopes=SCOPES, text=text, found=found, numbers=numbers)


def _results(context: Context, scope: str, text: str) -> Page | Listing:
    if scope in TABLES:
        found = "t.title LIKE ?2 ESCAPE '!' OR t.description LIKE ?2 ESCAPE '!'"
        return listing(context, scope, found, like(text))
    return paged(context, QUERIES[scope], user_id(context), text if scope == "blobs" else like(text))


def _count(context: Context, scope: str, text: str) -> int:
    sql = (
        QUERIES.get(scope)
        or f"""SELECT 1 FROM {TABLES[scope]} t JOIN project ON project.id = t.project_id
        WHERE {VISIBLE} AND t.state = 'opened' AND (t.title LIKE ?2 ESCAPE '!' OR t.description LIKE ?2 ESCAPE '!')"""
    )
    return context.db.value(f"SELECT count(*) FROM ({sql})", user_id(context), like(text))
