"""Changes of a repository: files, branches, tags."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from hashlib import blake2b
from urllib.parse import quote

from agentrl.envs.webarena.sites.code.changes import comparison
from agentrl.envs.webarena.sites.code.host import DEVELOPER, MAINTAINER, Project, project_of, record, site, writable
from agentrl.envs.webarena.sites.code.repository import branches_of, content_of, default_ref, ref_named, split_ref
from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context, Forbidden, NotFound

REF_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./+-]{0,200}")


def is_name(name: str) -> bool:
    """Can a branch or tag be called so?"""
    return bool(REF_NAME.fullmatch(name)) and ".." not in name and "//" not in name and not name.endswith(("/", "."))


def may_push(project: Project, branch: str) -> bool:
    """Developers may change branches; the default branch is protected and needs a maintainer."""
    return project.allows(MAINTAINER if branch == project.row["default_branch"] else DEVELOPER)


# ---------------------------------------------------------------------- commits


def commit_files(context: Context, project: Project, branch: str, files: Mapping[str, str | None], message: str) -> int:
    """Write files to a branch (None removes one) as one commit; the branch is made where there is none."""
    db = context.db
    ref = ref_named(db, project.id, branch)
    commit = new_commit(context, project, ref["commit_id"] if ref else None, None, message)
    if ref is None:
        ref_id = db.insert(
            "ref", project_id=project.id, kind="branch", name=branch, commit_id=commit, created_at=db.now()
        )
    else:
        ref_id = ref["id"]
        db.update("ref", ref_id, commit_id=commit)
    for path, content in files.items():
        change = comparison(path, content_of(db, ref_id, path), content)
        db.insert(
            "commit_file", commit_id=commit, path=path, change=change.kind, additions=change.additions,
            deletions=change.deletions, diff=change.diff,
        )  # fmt: skip
        put_file(db, ref_id, path, db.insert("blob", content=content) if content is not None else None, commit)
    return commit


def new_commit(context: Context, project: Project, parent: int | None, merged: int | None, message: str) -> int:
    """The row of a commit by the visitor."""
    db = context.db
    title, _, body = message.strip().partition("\n")
    number = db.value("SELECT max(id) FROM git_commit") + 1
    sha = blake2b(f"{project.id}|{number}|{title}".encode(), digest_size=20).hexdigest()
    commit = db.insert(
        "git_commit", project_id=project.id, sha=sha, parent_id=parent, merged_id=merged,
        author_id=context.member["id"], title=title, body=body.strip(), created_at=db.now(),
    )  # fmt: skip
    record(context, project.id, "committed", title, f"{project.url}/-/commit/{sha}")
    return commit


def put_file(db: Database, ref: int, path: str, blob: int | None, commit: int) -> None:
    """Set, replace or remove a file of a branch."""
    known = db.value("SELECT id FROM tree_entry WHERE ref_id = ? AND path = ?", ref, path)
    if blob is None:
        if known is not None:
            db.delete("tree_entry", known)
    elif known is None:
        db.insert("tree_entry", ref_id=ref, path=path, blob_id=blob, commit_id=commit)
    else:
        db.update("tree_entry", known, blob_id=blob, commit_id=commit)


# ---------------------------------------------------------------------- files


@site.get("/{namespace}/{project}/-/edit/{rest:path}")
def edit_form(context: Context) -> Response:
    """The editor with a file."""
    project = writable(context, DEVELOPER)
    ref, path = split_ref(context, project, context.params["rest"])
    content = content_of(context.db, ref["id"], path)
    if content is None or ref["kind"] != "branch":
        raise NotFound
    return _editor(context, project, ref["name"], path, content, f"Update {path}", new=False)


@site.get("/{namespace}/{project}/-/new/{rest:path}")
def new_form(context: Context) -> Response:
    """The editor with an empty file, for a folder of a branch (which an empty repository need not have yet)."""
    project = writable(context, DEVELOPER)
    if default_ref(context.db, project) is None:
        return _editor(context, project, project.row["default_branch"], "", "", "Add new file", new=True)
    ref, path = split_ref(context, project, context.params["rest"])
    if ref["kind"] != "branch":
        raise NotFound
    return _editor(context, project, ref["name"], f"{path}/" if path else "", "", "Add new file", new=True)


def _editor(
    context: Context, project: Project, branch: str, path: str, content: str, message: str, *, new: bool,
    error: str = "",
) -> Response:  # fmt: skip
    return context.page(
        "editor.html", project=project, branch=branch, path=path, content=content, commit_message=message, new=new,
        error=error, may_push=may_push(project, branch), status=422 if error else 200,
    )  # fmt: skip


@site.post("/{namespace}/{project}/-/create/{rest:path}", "/{namespace}/{project}/-/update/{rest:path}")
def save_file(context: Context) -> Response:
    """Commit what is in the editor, to the branch or to a new one."""
    project = writable(context, DEVELOPER)
    new = "/-/create/" in context.request.path
    branch, old_path = _place(context, project, new)
    path = (context.form("file_name") if new else context.form("file_path", old_path)).strip().strip("/")
    content = context.form("content").replace("\r\n", "\n")
    message = context.form("commit_message").strip() or f"{'Add' if new else 'Update'} {path}"
    target = context.form("branch_name").strip() or branch
    error = _refusal(context, project, target, path, old_path, new)
    if error:
        return _editor(context, project, branch, path, content, message, new=new, error=error)
    if target != branch:
        make_branch(context, project, target, branch)
    files = {path: content} if new or path == old_path else {old_path: None, path: content}
    commit_files(context, project, target, files, message)
    return context.redirect(
        quote(f"{project.url}/-/blob/{target}/{path}"), "Your changes have been successfully committed."
    )


def _place(context: Context, project: Project, new: bool) -> tuple[str, str]:
    if new and default_ref(context.db, project) is None:
        return project.row["default_branch"], ""
    ref, path = split_ref(context, project, context.params["rest"])
    if ref["kind"] != "branch" or (not new and content_of(context.db, ref["id"], path) is None):
        raise NotFound
    return ref["name"], path


def _refusal(context: Context, project: Project, branch: str, path: str, old: str, new: bool) -> str:
    """Why the file cannot be committed; "" if it can."""
    if not is_name(branch):
        return "The target branch has an invalid name."
    if not may_push(project, branch):
        return f"You are not allowed to push to {branch}: choose another target branch."
    parts = path.split("/")
    if not path or len(path) > 400 or any(part in ("", ".", "..") for part in parts) or not path.isprintable():
        return "You must provide a valid file path."
    ref = ref_named(context.db, project.id, branch)
    if ref is not None and (new or path != old):
        if content_of(context.db, ref["id"], path) is not None:
            return "A file with this name already exists."
        taken = (
            "SELECT 1 FROM tree_entry WHERE ref_id = ?1 AND (substr(path, 1, length(?2)) = ?2"
            " OR instr(?2, path || '/') = 1)"
        )
        if context.db.value(taken, ref["id"], path + "/"):
            return "A folder and a file cannot have the same name."
    return ""


@site.post("/{namespace}/{project}/-/delete/{rest:path}")
def delete_file(context: Context) -> Response:
    """Commit the removal of a file."""
    project = writable(context, DEVELOPER)
    branch, path = _place(context, project, new=False)
    if not may_push(project, branch):
        raise Forbidden
    commit_files(context, project, branch, {path: None}, context.form("commit_message").strip() or f"Delete {path}")
    return context.redirect(quote(f"{project.url}/-/tree/{branch}"), "The file has been successfully deleted.")


# ---------------------------------------------------------------------- branches and tags


def make_branch(
    context: Context, project: Project, name: str, source: str, kind: str = "branch", message: str = ""
) -> None:
    """A branch or tag with the files of another one; nothing to do where the branch exists."""
    db = context.db
    origin = ref_named(db, project.id, source)
    if origin is None or _existing(db, project.id, name, kind) is not None:
        return
    ref = db.insert(
        "ref", project_id=project.id, kind=kind, name=name, commit_id=origin["commit_id"], message=message,
        created_at=db.now(),
    )  # fmt: skip
    copy_files(db, origin["id"], ref)
    record(context, project.id, f"created {kind}", name, f"{project.url}/-/tree/{name}")


def copy_files(db: Database, source: int, target: int) -> None:
    """Give a branch or tag the files of another one. Commits are shared, as in git."""
    for entry in db.rows("SELECT * FROM tree_entry WHERE ref_id = ?", source):
        path, blob, commit = entry["path"], entry["blob_id"], entry["commit_id"]
        db.insert("tree_entry", ref_id=target, path=path, blob_id=blob, commit_id=commit)


def _existing(db: Database, project: int, name: str, kind: str) -> sqlite3.Row | None:
    return db.row("SELECT * FROM ref WHERE project_id = ? AND name = ? AND kind = ?", project, name, kind)


@site.get("/{namespace}/{project}/-/branches", "/{namespace}/{project}/-/tags")
def refs(context: Context) -> Response:
    """All branches, or all tags."""
    project = project_of(context)
    kind = "tag" if context.request.path.rstrip("/").endswith("tags") else "branch"
    rows = branches_of(context.db, project.id, kind)
    search = context.query("search").strip().lower()
    return context.page(
        "refs.html", project=project, kind=kind, rows=[row for row in rows if search in row["name"].lower()],
        search=search,
    )  # fmt: skip


@site.get("/{namespace}/{project}/-/branches/new", "/{namespace}/{project}/-/tags/new")
def new_ref_form(context: Context) -> Response:
    """The form for a branch or tag."""
    project = writable(context, DEVELOPER)
    kind = "tag" if "/tags" in context.request.path else "branch"
    return context.page(
        "ref_form.html", project=project, kind=kind, refs=branches_of(context.db, project.id), error="", name=""
    )


@site.post("/{namespace}/{project}/-/branches", "/{namespace}/{project}/-/tags")
def create_ref(context: Context) -> Response:
    """Make a branch or tag."""
    project = writable(context, DEVELOPER)
    kind = "tag" if context.request.path.rstrip("/").endswith("tags") else "branch"
    name, source = context.form(f"{kind}_name").strip(), context.form("ref")
    error = ""
    if not is_name(name):
        error = f"The {kind} name is invalid."
    elif ref_named(context.db, project.id, source) is None:
        error = "Choose what to create it from."
    elif _existing(context.db, project.id, name, kind) is not None:
        error = f"The {kind} already exists."
    if error:
        choices = branches_of(context.db, project.id)
        return context.page(
            "ref_form.html", project=project, kind=kind, refs=choices, error=error, name=name, status=422
        )
    make_branch(context, project, name, source, kind, context.form("message").strip())
    return context.redirect(f"{project.url}/-/tree/{name}", f"The {kind} {name} was created.")


@site.post("/{namespace}/{project}/-/branches/{ref}/delete", "/{namespace}/{project}/-/tags/{ref}/delete")
def delete_ref(context: Context) -> Response:
    """Remove a branch or tag; the default branch stays."""
    project = writable(context, DEVELOPER)
    row = context.record("ref", "ref", project_id=project.id)
    if row["kind"] == "tag":
        project.require(MAINTAINER)
    if row["kind"] == "branch" and row["name"] == project.row["default_branch"]:
        raise Forbidden
    remove_ref(context.db, row["id"])
    return context.redirect(
        f"{project.url}/-/{'tags' if row['kind'] == 'tag' else 'branches'}", f"{row['name']} was deleted."
    )


def remove_ref(db: Database, ref: int) -> None:
    """A branch or tag and its list of files; commits stay."""
    for entry in db.rows("SELECT id FROM tree_entry WHERE ref_id = ?", ref):
        db.delete("tree_entry", entry["id"])
    db.delete("ref", ref)
