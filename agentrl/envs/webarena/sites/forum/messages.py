"""Private messages and notifications."""

from __future__ import annotations

import sqlite3

from agentrl.envs.webarena.sites.forum.app import field, site, too_long, user_of
from agentrl.envs.webarena.sites.forum.listing import page_number, paged
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context, NotFound

MAX_LENGTH = 10_000


@site.get("/messages")
def inbox_page(context: Context) -> Response:
    """The member's conversations, the one with the newest message first."""
    user_id = context.member["id"]
    sql = """SELECT t.*, a.username AS sender, b.username AS receiver, m.created_at, m.body,
        (SELECT count(*) FROM message WHERE thread_id = t.id) AS messages
        FROM message_thread t JOIN user a ON a.id = t.sender_id JOIN user b ON b.id = t.receiver_id
        JOIN message m ON m.id = (SELECT max(id) FROM message WHERE thread_id = t.id)
        WHERE t.sender_id = ? OR t.receiver_id = ? ORDER BY m.created_at DESC, m.id DESC"""
    page = paged(context.db, sql, [user_id, user_id], page_number(context))
    return context.page("messages.html", page=page)


@site.get("/messages/thread/{id}")
def conversation_page(context: Context) -> Response:
    """A conversation, oldest message first."""
    return _conversation(context, _thread(context), "", [])


@site.post("/messages/thread/{id}")
def reply(context: Context) -> Response:
    """Add a message to a conversation."""
    thread, body = _thread(context), field(context, "message[body]")
    if errors := _faults(body):
        return _conversation(context, thread, body, errors)
    other = thread["receiver_id"] if thread["sender_id"] == context.member["id"] else thread["sender_id"]
    _send(context, thread["id"], other, body)
    return context.redirect(f"/messages/thread/{thread['id']}")


@site.get("/user/{user}/compose_message")
def compose_page(context: Context) -> Response:
    """The form for a message to the member of the address."""
    _ = context.member
    return context.page("compose.html", owner=user_of(context), body="", errors=[])


@site.post("/user/{user}/compose_message")
def compose(context: Context) -> Response:
    """Begin a conversation."""
    user, other, body = context.member, user_of(context), field(context, "message[body]")
    errors = _faults(body)
    if not other["allow_messages"] or user["id"] == other["id"]:
        errors.append("This member cannot be sent messages.")
    if errors:
        return context.page("compose.html", owner=other, body=body, errors=errors)
    thread_id = context.db.insert("message_thread", sender_id=user["id"], receiver_id=other["id"])
    _send(context, thread_id, other["id"], body)
    return context.redirect(f"/messages/thread/{thread_id}")


def _faults(body: str) -> list[str]:
    return too_long({"The message": (body, MAX_LENGTH)}) if body else ["The message must not be blank."]


def _send(context: Context, thread_id: int, receiver_id: int, body: str) -> None:
    db, now = context.db, context.db.now()
    message = db.insert("message", thread_id=thread_id, sender_id=context.member["id"], body=body, created_at=now)
    db.insert("notification", user_id=receiver_id, message_id=message, created_at=now)


def _thread(context: Context) -> sqlite3.Row:
    thread = context.db.get("message_thread", context.number(context.params["id"]))
    if thread is None or context.member["id"] not in (thread["sender_id"], thread["receiver_id"]):
        raise NotFound
    return thread


def _conversation(context: Context, thread: sqlite3.Row, body: str, errors: list[str]) -> Response:
    sql = """SELECT m.*, u.username AS author FROM message m JOIN user u ON u.id = m.sender_id
        WHERE thread_id = ? ORDER BY m.id"""
    messages = context.db.rows(sql, thread["id"])
    username = "SELECT username FROM user WHERE id = ?"
    names = [context.db.value(username, thread[key]) for key in ("sender_id", "receiver_id")]
    return context.page("conversation.html", thread=thread, names=names, messages=messages, body=body, errors=errors)


# ---------------------------------------------------------------------- notifications


@site.get("/notifications")
def notifications_page(context: Context) -> Response:
    """Answers to what the member wrote, and new messages."""
    sql = """SELECT n.*, c.body AS comment_body, c.submission_id, c.parent_id, cu.username AS comment_author,
        s.title, m.body AS message_body, m.thread_id, mu.username AS message_author FROM notification n
        LEFT JOIN comment c ON c.id = n.comment_id LEFT JOIN user cu ON cu.id = c.user_id
        LEFT JOIN submission s ON s.id = c.submission_id
        LEFT JOIN message m ON m.id = n.message_id LEFT JOIN user mu ON mu.id = m.sender_id
        WHERE n.user_id = ? ORDER BY n.created_at DESC, n.id DESC"""
    page = paged(context.db, sql, [context.member["id"]], page_number(context))
    comments = {
        row["comment_id"]: context.db.get("comment", row["comment_id"]) for row in page.rows if row["comment_id"]
    }
    return context.page("notifications.html", page=page, comments=comments)


@site.post("/notifications/clear")
def clear_notifications(context: Context) -> Response:
    """Forget all notifications, or the one that the button names."""
    chosen = context.number(context.form("id"), default=-1)
    for row in context.db.rows("SELECT id FROM notification WHERE user_id = ?", context.member["id"]):
        if chosen in (-1, row["id"]):
            context.db.delete("notification", row["id"])
    return context.redirect("/notifications")
