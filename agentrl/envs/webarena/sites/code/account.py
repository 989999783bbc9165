"""Signing in and out, and the settings of one's own account: profile, status, keys, tokens."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

from agentrl.envs.webarena.sites.code.host import site
from agentrl.envs.webarena.sites.formats import date_or_none
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context, NotFound

# ---------------------------------------------------------------------- signing in


@site.get("/users/sign_in")
def sign_in_page(context: Context) -> Response:
    """The form for user name and password."""
    return context.redirect("/") if context.user else context.page("sign_in.html", login="")


@site.post("/users/sign_in")
def sign_in(context: Context) -> Response:
    """Check user name (or e-mail) and password."""
    login, password = context.form("user[login]").strip(), context.form("user[password]")
    user = context.db.row("SELECT * FROM user WHERE (username = ?1 OR email = ?1) AND password = ?2", login, password)
    if user is None:
        context.visit()
        return context.page("sign_in.html", login=login, failed=True, status=401)
    context.log_in(user["id"])
    return context.redirect("/")


@site.get("/users/sign_out")
@site.post("/users/sign_out")
def sign_out(context: Context) -> Response:
    """Back to being a guest."""
    context.log_out()
    return context.redirect("/users/sign_in")


# ---------------------------------------------------------------------- settings

FIELDS = ("name", "pronouns", "bio", "location", "website", "organization", "job_title")
SCOPES = ("api", "read_api", "read_user", "read_repository", "write_repository")


@site.get("/-/profile", "/profile", "/-/user_settings/profile")
def profile(context: Context) -> Response:
    """The form of the profile."""
    return context.page("profile.html", account=context.member)


@site.post("/-/profile")
def save_profile(context: Context) -> Response:
    """Keep what was typed; fields that were not sent stay."""
    me = context.member
    sent = dict(context.request.form)
    values: dict[str, Any] = {name: sent[f"user[{name}]"].strip() for name in FIELDS if f"user[{name}]" in sent}
    if "user[status][message]" in sent:
        values["status_message"] = sent["user[status][message]"].strip()
        values["status_busy"] = int("user[status][availability]" in sent)
    if not values.get("name", me["name"]):
        return context.redirect("/-/profile", "error: Full name can't be blank.")
    if len(values.get("status_message", "")) > 100:
        return context.redirect("/-/profile", "error: Status message is too long (maximum is 100 characters).")
    if values:
        context.db.update("user", me["id"], **values)
    return context.redirect("/-/profile", "Profile was successfully updated.")


@site.get("/-/profile/ssh_keys", "/-/profile/keys", "/-/user_settings/ssh_keys")
def keys(context: Context) -> Response:
    """SSH keys and a form for another one."""
    rows = context.db.rows("SELECT * FROM ssh_key WHERE user_id = ? ORDER BY id", context.member["id"])
    return context.page("ssh_keys.html", rows=rows)


@site.post("/-/profile/ssh_keys", "/-/profile/keys")
def add_key(context: Context) -> Response:
    """Another key."""
    me, key = context.member, context.form("key[key]").strip()
    if not key.startswith(("ssh-", "ecdsa-", "sk-")):
        return context.redirect("/-/profile/ssh_keys", "error: Key is invalid.")
    title = context.form("key[title]").strip() or key.rsplit(" ", 1)[-1][:60]
    context.db.insert("ssh_key", user_id=me["id"], title=title, key=key, created_at=context.db.now())
    return context.redirect("/-/profile/ssh_keys", "SSH key was added.")


@site.get("/-/profile/personal_access_tokens", "/-/user_settings/personal_access_tokens", "/-/profile/feed_token")
def tokens(context: Context) -> Response:
    """Access tokens, and the token of the RSS feeds."""
    me = context.member
    rows = context.db.rows("SELECT * FROM access_token WHERE user_id = ? ORDER BY id", me["id"])
    return context.page("tokens.html", rows=rows, account=me, scopes=SCOPES)


@site.post("/-/profile/personal_access_tokens")
def add_token(context: Context) -> Response:
    """Another access token."""
    me, name = context.member, context.form("personal_access_token[name]").strip()
    expires = date_or_none(context.form("personal_access_token[expires_at]"))
    scopes = [scope for scope in context.forms("personal_access_token[scopes][]") if scope in SCOPES]
    if not name or expires is None or not scopes:
        return context.redirect(
            "/-/profile/personal_access_tokens", "error: A token needs a name, at least one scope and a valid date."
        )
    count = context.db.value("SELECT count(*) FROM access_token")
    token = "cyt-" + blake2b(f"{me['id']}|{count}|{name}".encode(), digest_size=10).hexdigest()
    context.db.insert(
        "access_token", user_id=me["id"], name=name, scopes=", ".join(scopes), token=token, expires_at=expires,
        created_at=context.db.now(),
    )  # fmt: skip
    return context.redirect("/-/profile/personal_access_tokens", f"Your new personal access token: {token}")


@site.post("/-/profile/ssh_keys/{key}/delete", "/-/profile/personal_access_tokens/{key}/revoke")
def delete_key(context: Context) -> Response:
    """Remove an SSH key, or revoke an access token."""
    is_key = "/ssh_keys/" in context.request.path
    table = "ssh_key" if is_key else "access_token"
    row = context.db.get(table, context.number(context.params["key"]))
    if row is None or row["user_id"] != context.member["id"]:
        raise NotFound
    context.db.delete(table, row["id"])
    if is_key:
        return context.redirect("/-/profile/ssh_keys", "SSH key was removed.")
    return context.redirect("/-/profile/personal_access_tokens", "Token was revoked.")
