-- The forum's tables. Times are "2025-06-16 09:00:00", flags are 0 or 1. Names are compared in either case of letters.
CREATE TABLE user (
    id INTEGER PRIMARY KEY, username TEXT NOT NULL UNIQUE COLLATE NOCASE, password TEXT NOT NULL,
    email TEXT NOT NULL DEFAULT '', biography TEXT NOT NULL DEFAULT '', is_admin INTEGER NOT NULL DEFAULT 0,
    front_page TEXT NOT NULL DEFAULT 'default', -- default, featured, subscribed, all, moderated
    front_page_sort TEXT NOT NULL DEFAULT 'hot', show_thumbnails INTEGER NOT NULL DEFAULT 1,
    allow_messages INTEGER NOT NULL DEFAULT 1, notify_replies INTEGER NOT NULL DEFAULT 1,
    is_deleted INTEGER NOT NULL DEFAULT 0, created_at TEXT NOT NULL
);
CREATE TABLE forum (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE COLLATE NOCASE, title TEXT NOT NULL, description TEXT NOT NULL,
    sidebar TEXT NOT NULL, tags TEXT NOT NULL DEFAULT '', is_featured INTEGER NOT NULL DEFAULT 0, created_at TEXT NOT NULL
);
CREATE TABLE moderator (
    id INTEGER PRIMARY KEY, forum_id INTEGER NOT NULL, user_id INTEGER NOT NULL, created_at TEXT NOT NULL
);
CREATE INDEX moderator_forum ON moderator (forum_id, user_id);
CREATE INDEX moderator_user ON moderator (user_id);
CREATE TABLE subscription (
    id INTEGER PRIMARY KEY, forum_id INTEGER NOT NULL, user_id INTEGER NOT NULL, created_at TEXT NOT NULL
);
CREATE INDEX subscription_forum ON subscription (forum_id, user_id);
CREATE INDEX subscription_user ON subscription (user_id);
CREATE TABLE ban (
    id INTEGER PRIMARY KEY, forum_id INTEGER NOT NULL, user_id INTEGER NOT NULL, banned_by INTEGER NOT NULL,
    reason TEXT NOT NULL, created_at TEXT NOT NULL
);
CREATE INDEX ban_forum ON ban (forum_id, user_id);
CREATE TABLE submission (
    id INTEGER PRIMARY KEY, forum_id INTEGER NOT NULL, user_id INTEGER NOT NULL, title TEXT NOT NULL,
    url TEXT NOT NULL DEFAULT '', body TEXT NOT NULL DEFAULT '', created_at TEXT NOT NULL,
    edited_at TEXT NOT NULL DEFAULT '', upvotes INTEGER NOT NULL, downvotes INTEGER NOT NULL,
    comment_count INTEGER NOT NULL DEFAULT 0, last_active TEXT NOT NULL, ranking INTEGER NOT NULL, -- of the "hot" order
    is_sticky INTEGER NOT NULL DEFAULT 0, is_locked INTEGER NOT NULL DEFAULT 0, is_trashed INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX submission_forum ON submission (forum_id, created_at);
CREATE INDEX submission_listing ON submission (
    forum_id, is_trashed, user_id, ranking, created_at, last_active, upvotes, downvotes, comment_count, is_sticky
);
CREATE INDEX submission_user ON submission (user_id, created_at);
CREATE INDEX submission_created ON submission (created_at);
CREATE TABLE comment (
    id INTEGER PRIMARY KEY, submission_id INTEGER NOT NULL, parent_id INTEGER, user_id INTEGER NOT NULL,
    body TEXT NOT NULL, created_at TEXT NOT NULL, edited_at TEXT NOT NULL DEFAULT '', upvotes INTEGER NOT NULL,
    downvotes INTEGER NOT NULL, is_trashed INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX comment_submission ON comment (submission_id);
CREATE INDEX comment_user ON comment (user_id, created_at);
CREATE INDEX comment_created ON comment (created_at);
-- The votes of members who are known one by one; the others are in the counts of submissions and comments.
CREATE TABLE submission_vote (
    id INTEGER PRIMARY KEY, submission_id INTEGER NOT NULL, user_id INTEGER NOT NULL, choice INTEGER NOT NULL -- 1, -1
);
CREATE INDEX submission_vote_user ON submission_vote (user_id, submission_id);
CREATE TABLE comment_vote (
    id INTEGER PRIMARY KEY, comment_id INTEGER NOT NULL, user_id INTEGER NOT NULL, choice INTEGER NOT NULL
);
CREATE INDEX comment_vote_user ON comment_vote (user_id, comment_id);
CREATE TABLE hidden_forum (id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL, forum_id INTEGER NOT NULL);
CREATE INDEX hidden_forum_user ON hidden_forum (user_id);
CREATE TABLE block (
    id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL, blocked_id INTEGER NOT NULL, comment TEXT NOT NULL DEFAULT '',
    created_at TEXT NOT NULL
);
CREATE INDEX block_user ON block (user_id, blocked_id);
CREATE TABLE message_thread (
    id INTEGER PRIMARY KEY, sender_id INTEGER NOT NULL, receiver_id INTEGER NOT NULL
);
CREATE TABLE message (
    id INTEGER PRIMARY KEY, thread_id INTEGER NOT NULL, sender_id INTEGER NOT NULL, body TEXT NOT NULL,
    created_at TEXT NOT NULL
);
CREATE INDEX message_in_thread ON message (thread_id);
CREATE TABLE notification ( -- of a reply to what a member wrote, or of a message
    id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL, comment_id INTEGER, message_id INTEGER, created_at TEXT NOT NULL
);
CREATE INDEX notification_user ON notification (user_id);
CREATE TABLE wiki_page (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE COLLATE NOCASE, is_locked INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE wiki_revision (
    id INTEGER PRIMARY KEY, page_id INTEGER NOT NULL, user_id INTEGER NOT NULL, title TEXT NOT NULL, body TEXT NOT NULL,
    created_at TEXT NOT NULL
);
CREATE INDEX wiki_revision_page ON wiki_revision (page_id);
