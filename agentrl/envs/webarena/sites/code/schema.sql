-- The code host's tables. Times are "2025-06-16 09:00:00", dates "2025-06-16", flags 0 or 1.
-- Access levels: 50 Owner, 40 Maintainer, 30 Developer, 20 Reporter, 10 Guest.
CREATE TABLE user (
    id INTEGER PRIMARY KEY, username TEXT NOT NULL UNIQUE, name TEXT NOT NULL, email TEXT NOT NULL, password TEXT NOT NULL,
    bio TEXT NOT NULL DEFAULT '', location TEXT NOT NULL DEFAULT '', website TEXT NOT NULL DEFAULT '',
    organization TEXT NOT NULL DEFAULT '', job_title TEXT NOT NULL DEFAULT '', pronouns TEXT NOT NULL DEFAULT '',
    status_message TEXT NOT NULL DEFAULT '', status_busy INTEGER NOT NULL DEFAULT 0,
    feed_token TEXT NOT NULL, created_at TEXT NOT NULL
);
CREATE TABLE team ( -- a group of the host; "group" is a word of SQL
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, name TEXT NOT NULL, description TEXT NOT NULL DEFAULT '',
    visibility TEXT NOT NULL, created_at TEXT NOT NULL
);
CREATE TABLE team_member (
    id INTEGER PRIMARY KEY, team_id INTEGER NOT NULL, user_id INTEGER NOT NULL, access_level INTEGER NOT NULL,
    expires_at TEXT NOT NULL DEFAULT '', created_at TEXT NOT NULL
);
CREATE INDEX team_member_team ON team_member (team_id);
CREATE INDEX team_member_user ON team_member (user_id);
CREATE TABLE project (
    id INTEGER PRIMARY KEY, namespace TEXT NOT NULL, path TEXT NOT NULL, name TEXT NOT NULL,
    owner_id INTEGER, team_id INTEGER, -- of whose namespace it is: one of the two
    description TEXT NOT NULL DEFAULT '', visibility TEXT NOT NULL, -- public, internal, private
    archived INTEGER NOT NULL DEFAULT 0, default_branch TEXT NOT NULL DEFAULT 'main', language TEXT NOT NULL DEFAULT '',
    topics TEXT NOT NULL DEFAULT '', forked_from_id INTEGER, template TEXT NOT NULL DEFAULT '',
    created_at TEXT NOT NULL, updated_at TEXT NOT NULL
);
CREATE UNIQUE INDEX project_path ON project (namespace, path);
CREATE INDEX project_fork ON project (forked_from_id);
CREATE TABLE project_member (
    id INTEGER PRIMARY KEY, project_id INTEGER NOT NULL, user_id INTEGER NOT NULL, access_level INTEGER NOT NULL,
    expires_at TEXT NOT NULL DEFAULT '', created_at TEXT NOT NULL
);
CREATE INDEX project_member_project ON project_member (project_id);
CREATE INDEX project_member_user ON project_member (user_id);
CREATE TABLE star (id INTEGER PRIMARY KEY, project_id INTEGER NOT NULL, user_id INTEGER NOT NULL, created_at TEXT NOT NULL);
CREATE INDEX star_project ON star (project_id);
CREATE INDEX star_user ON star (user_id);
CREATE TABLE follow (id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL, follows_id INTEGER NOT NULL);
CREATE INDEX follow_user ON follow (user_id);
CREATE INDEX follow_follows ON follow (follows_id);
-- A repository is commits with parents, and branches and tags that name a commit and list its files.
CREATE TABLE git_commit (
    id INTEGER PRIMARY KEY, project_id INTEGER NOT NULL, sha TEXT NOT NULL, parent_id INTEGER, merged_id INTEGER,
    author_id INTEGER NOT NULL, title TEXT NOT NULL, body TEXT NOT NULL DEFAULT '', created_at TEXT NOT NULL
);
CREATE INDEX git_commit_project ON git_commit (project_id);
CREATE INDEX git_commit_author ON git_commit (author_id);
CREATE INDEX git_commit_sha ON git_commit (sha);
CREATE TABLE commit_file (
    id INTEGER PRIMARY KEY, commit_id INTEGER NOT NULL, path TEXT NOT NULL, change TEXT NOT NULL, -- added, modified, deleted
    additions INTEGER NOT NULL, deletions INTEGER NOT NULL, diff TEXT NOT NULL
);
CREATE INDEX commit_file_commit ON commit_file (commit_id);
CREATE TABLE ref (
    id INTEGER PRIMARY KEY, project_id INTEGER NOT NULL, kind TEXT NOT NULL, -- branch, tag
    name TEXT NOT NULL, commit_id INTEGER NOT NULL, message TEXT NOT NULL DEFAULT '', created_at TEXT NOT NULL
);
CREATE INDEX ref_project ON ref (project_id);
CREATE TABLE blob (id INTEGER PRIMARY KEY, content TEXT NOT NULL);
CREATE TABLE tree_entry (
    id INTEGER PRIMARY KEY, ref_id INTEGER NOT NULL, path TEXT NOT NULL, blob_id INTEGER NOT NULL, commit_id INTEGER NOT NULL
);
CREATE INDEX tree_entry_ref ON tree_entry (ref_id, path);
CREATE TABLE release (
    id INTEGER PRIMARY KEY, project_id INTEGER NOT NULL, tag TEXT NOT NULL, name TEXT NOT NULL, description TEXT NOT NULL,
    author_id INTEGER NOT NULL, created_at TEXT NOT NULL
);
CREATE INDEX release_project ON release (project_id);
CREATE TABLE label (
    id INTEGER PRIMARY KEY, project_id INTEGER NOT NULL, name TEXT NOT NULL, color TEXT NOT NULL,
    description TEXT NOT NULL DEFAULT ''
);
CREATE INDEX label_project ON label (project_id);
CREATE TABLE milestone (
    id INTEGER PRIMARY KEY, project_id INTEGER NOT NULL, iid INTEGER NOT NULL, title TEXT NOT NULL,
    description TEXT NOT NULL DEFAULT '', state TEXT NOT NULL DEFAULT 'active', -- active, closed
    start_date TEXT NOT NULL DEFAULT '', due_date TEXT NOT NULL DEFAULT '', created_at TEXT NOT NULL
);
CREATE INDEX milestone_project ON milestone (project_id);
CREATE TABLE issue (
    id INTEGER PRIMARY KEY, project_id INTEGER NOT NULL, iid INTEGER NOT NULL, title TEXT NOT NULL,
    description TEXT NOT NULL DEFAULT '', state TEXT NOT NULL DEFAULT 'opened', -- opened, closed
    author_id INTEGER NOT NULL, assignee_id INTEGER, milestone_id INTEGER, due_date TEXT NOT NULL DEFAULT '', weight INTEGER,
    created_at TEXT NOT NULL, updated_at TEXT NOT NULL, closed_at TEXT NOT NULL DEFAULT ''
);
CREATE INDEX issue_project ON issue (project_id, iid);
CREATE INDEX issue_assignee ON issue (assignee_id);
CREATE INDEX issue_author ON issue (author_id);
CREATE TABLE issue_label (id INTEGER PRIMARY KEY, issue_id INTEGER NOT NULL, label_id INTEGER NOT NULL);
CREATE INDEX issue_label_issue ON issue_label (issue_id);
CREATE INDEX issue_label_label ON issue_label (label_id);
CREATE TABLE merge_request (
    id INTEGER PRIMARY KEY, project_id INTEGER NOT NULL, iid INTEGER NOT NULL, title TEXT NOT NULL,
    description TEXT NOT NULL DEFAULT '', state TEXT NOT NULL DEFAULT 'opened', -- opened, merged, closed
    source_branch TEXT NOT NULL, target_branch TEXT NOT NULL, head_id INTEGER, base_id INTEGER, -- commits between the two
    author_id INTEGER NOT NULL, assignee_id INTEGER, reviewer_id INTEGER, milestone_id INTEGER, merged_by_id INTEGER,
    draft INTEGER NOT NULL DEFAULT 0, created_at TEXT NOT NULL, updated_at TEXT NOT NULL, closed_at TEXT NOT NULL DEFAULT ''
);
CREATE INDEX merge_request_project ON merge_request (project_id, iid);
CREATE INDEX merge_request_assignee ON merge_request (assignee_id);
CREATE INDEX merge_request_reviewer ON merge_request (reviewer_id);
CREATE TABLE merge_request_label (id INTEGER PRIMARY KEY, merge_request_id INTEGER NOT NULL, label_id INTEGER NOT NULL);
CREATE INDEX merge_request_label_merge_request ON merge_request_label (merge_request_id);
CREATE TABLE approval (id INTEGER PRIMARY KEY, merge_request_id INTEGER NOT NULL, user_id INTEGER NOT NULL, created_at TEXT NOT NULL);
CREATE INDEX approval_merge_request ON approval (merge_request_id);
CREATE TABLE note ( -- a comment, or with `system` a line that says what somebody did
    id INTEGER PRIMARY KEY, issue_id INTEGER, merge_request_id INTEGER, author_id INTEGER NOT NULL, body TEXT NOT NULL,
    system INTEGER NOT NULL DEFAULT 0, created_at TEXT NOT NULL
);
CREATE INDEX note_issue ON note (issue_id);
CREATE INDEX note_merge_request ON note (merge_request_id);
CREATE TABLE todo (
    id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL, author_id INTEGER NOT NULL, project_id INTEGER NOT NULL,
    issue_id INTEGER, merge_request_id INTEGER, action TEXT NOT NULL, -- assigned, review_requested, mentioned, marked
    state TEXT NOT NULL DEFAULT 'pending', created_at TEXT NOT NULL
);
CREATE INDEX todo_user ON todo (user_id);
CREATE TABLE event (
    id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL, project_id INTEGER NOT NULL, action TEXT NOT NULL, -- "opened", "pushed to"
    target TEXT NOT NULL, url TEXT NOT NULL, created_at TEXT NOT NULL
);
CREATE INDEX event_user ON event (user_id);
CREATE INDEX event_project ON event (project_id);
CREATE TABLE snippet (
    id INTEGER PRIMARY KEY, project_id INTEGER, author_id INTEGER NOT NULL, title TEXT NOT NULL,
    description TEXT NOT NULL DEFAULT '', file_name TEXT NOT NULL, content TEXT NOT NULL, visibility TEXT NOT NULL,
    created_at TEXT NOT NULL
);
CREATE INDEX snippet_project ON snippet (project_id);
CREATE TABLE wiki_page (
    id INTEGER PRIMARY KEY, project_id INTEGER NOT NULL, slug TEXT NOT NULL, title TEXT NOT NULL, content TEXT NOT NULL,
    author_id INTEGER NOT NULL, updated_at TEXT NOT NULL
);
CREATE INDEX wiki_page_project ON wiki_page (project_id);
CREATE TABLE ssh_key (
    id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL, title TEXT NOT NULL, key TEXT NOT NULL, created_at TEXT NOT NULL
);
CREATE TABLE access_token (
    id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL, name TEXT NOT NULL, scopes TEXT NOT NULL, token TEXT NOT NULL,
    expires_at TEXT NOT NULL DEFAULT '', created_at TEXT NOT NULL
);
