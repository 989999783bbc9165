"""What people do on the code host, form by form, and what its pages show afterwards."""

from __future__ import annotations

import pytest

from tests.envs.webarena.code_visitor import Visitor

MINE = "/byteblaze/recipe-cards"
HOSTILE = "<script>alert('x')</script> \"'; DROP TABLE issue; -- {{ 7*7 }} \u202e%s \U0001f600"


@pytest.fixture
def visitor() -> Visitor:
    return Visitor()


def test_issue_is_created_edited_commented_closed_and_reopened(visitor: Visitor) -> None:
    visitor.open(f"{MINE}/-/issues/new")
    label = visitor.db.value("SELECT id FROM label WHERE project_id = 2 AND name = 'bug'")
    visitor.submit(
        "#content-body form",
        {
            "issue[title]": "404 for many URLs",
            "issue[assignee_ids][]": "1",
            "issue[due_date]": "2030-1-3",
            "issue[label_ids][]": str(label),
        },
    )
    assert visitor.text('[data-qa-selector="title_content"]') == "404 for many URLs"
    assert "Jan 3, 2030" in visitor.text('[data-testid="sidebar-due-date"]')
    assert "Byte Blaze" in visitor.text(".block.assignee") and "bug" in visitor.text(".block.labels")
    place = visitor.url
    visitor.submit("form.note-form", {"note[note]": "Good idea"}, "Comment")
    assert visitor.texts("#notes-list .timeline-discussion-body")[-1] == "Good idea"
    visitor.submit(".aside form", button="Close issue")
    assert visitor.text(".state") == "Closed"
    visitor.submit(".aside form", button="Reopen issue")
    assert visitor.text(".state") == "Open"
    milestone = visitor.db.value("SELECT id FROM milestone WHERE project_id = 2")
    visitor.open(f"{place}/edit").submit(
        "#content-body form",
        {"issue[title]": "Fewer URLs", "issue[milestone_id]": str(milestone), "issue[assignee_ids][]": ""},
    )
    assert visitor.text(".title") == "Fewer URLs" and "None" in visitor.text(".block.assignee")
    assert "None" not in visitor.text(".block.milestone")
    assert "Fewer URLs" in visitor.open(f"{MINE}/-/issues").texts("a.issue-title")[0]
    assert visitor.open(f"{MINE}/activity").text(".event-row").startswith("B Byte Blaze")


def test_issue_assigned_to_me_is_on_my_dashboard(visitor: Visitor) -> None:
    row = visitor.db.row(
        "SELECT * FROM issue WHERE project_id = 2 AND state = 'opened' AND (assignee_id IS NULL OR assignee_id != 1)"
    )
    assert row is not None
    visitor.open(f"{MINE}/-/issues/{row['iid']}").submit("form[action$=assign_to_me]")
    visitor.open(
        "/dashboard/issues?scope=all&state=opened&assignee_username=byteblaze&search=" + row["title"].replace(" ", "+")
    )
    assert row["title"] in visitor.source


@pytest.mark.parametrize(
    "fields", [{"issue[title]": " "}, {"issue[title]": "x" * 300}, {"issue[title]": "a", "issue[due_date]": "soon"}]
)
def test_bad_issues_are_refused_with_a_reason(visitor: Visitor, fields: dict[str, str]) -> None:
    visitor.open(f"{MINE}/-/issues/new").submit("#content-body form", dict(fields))
    assert visitor.status == 422 and visitor.text(".message-error")
    assert "issue" not in visitor.world.changes().get("code", {})


def test_merge_request_is_opened_approved_and_merged(visitor: Visitor) -> None:
    visitor.open(f"{MINE}/-/new/main").submit(
        "#content-body form", {"file_name": "docs/tips.md", "content": "Salt the water.", "branch_name": "tips"}
    )
    assert visitor.url.endswith("/-/blob/tips/docs/tips.md")
    assert visitor.open(f"{MINE}/-/raw/main/docs/tips.md").status == 404
    visitor.open(f"{MINE}/-/merge_requests/new").submit("#content-body form", {"merge_request[source_branch]": "tips"})
    reviewer = visitor.db.row(
        "SELECT user.* FROM project_member m JOIN user ON user.id = user_id WHERE project_id = 2 AND user.id > 1"
    )
    assert reviewer is not None
    visitor.submit(
        "#content-body form", {"merge_request[title]": "Add tips", "merge_request[reviewer_ids][]": str(reviewer["id"])}
    )
    assert visitor.texts(".detail-page-description > a.gl-font-monospace") == ["tips", "main"]
    assert reviewer["name"] in visitor.text(".block.reviewer")
    assert visitor.texts(".tab .badge")[1:] == ["1", "1"]
    visitor.open(f"{visitor.url}?widget=1").submit("form[action$='/approve']")
    assert "Approved by Byte Blaze" in visitor.text(".file-box")
    place = visitor.url
    assert "+Salt the water." in visitor.open(f"{place}/diffs").text(".diff")
    visitor.open(f"{place}?widget=1").submit("form[action$='/merge']", {"remove_source_branch": "1"})
    assert visitor.text(".state") == "Merged"
    assert visitor.open(f"{MINE}/-/raw/main/docs/tips.md").source == "Salt the water."
    assert visitor.open(f"{MINE}/-/commits/main").text(".commit-title") == "Merge branch 'tips' into 'main'"
    assert visitor.texts(".commit-title")[1] == "Add docs/tips.md" or "Add new file" in visitor.texts(".commit-title")
    assert "tips" not in visitor.open(f"{MINE}/-/branches").texts("a.issue-title")
    assert visitor.send(f"{place}/merge").text(".message-error")


def test_merge_request_is_closed_and_reopened_and_gets_comments(visitor: Visitor) -> None:
    iid = visitor.db.value("SELECT iid FROM merge_request WHERE project_id = 2 AND state = 'opened'")
    visitor.open(f"{MINE}/-/merge_requests/{iid}").submit("form[action$='/state']", button="Close merge request")
    assert visitor.text(".state") == "Closed"
    visitor.submit("form[action$='/state']", button="Reopen merge request")
    visitor.submit("form.note-form", {"note[note]": "@costa9 please look"})
    assert visitor.texts("#notes-list .timeline-discussion-body")[-1] == "@costa9 please look"
    costa = visitor.db.value("SELECT id FROM user WHERE username = 'costa9'")
    assert visitor.db.value("SELECT count(*) FROM todo WHERE user_id = ? AND action = 'mentioned'", costa) == 1


def test_editing_a_file_makes_a_commit(visitor: Visitor) -> None:
    before = int(visitor.open(MINE).text(".numbers a").split()[0])
    visitor.open(f"{MINE}/-/edit/main/LICENSE").submit(
        "#content-body form", {"content": "MIT\nfor all", "commit_message": "Simplify"}
    )
    assert visitor.text(".blob-content") == "MIT for all" and visitor.text(".commit-title") == "Simplify"
    assert int(visitor.open(MINE).text(".numbers a").split()[0]) == before + 1
    visitor.open(visitor.all(".last-commit a")[0].get("href"))
    assert "1 changed file" in visitor.text("main") and "+MIT" in visitor.text(".diff")
    visitor.open(f"{MINE}/-/blob/main/LICENSE").submit("form[action*='/-/delete/']")
    assert visitor.open(f"{MINE}/-/blob/main/LICENSE").status == 404


@pytest.mark.parametrize("name", ["", "a/../b", "src", "README.md/x", "README.md", "//", "a\nb"])
def test_impossible_file_names_are_refused(visitor: Visitor, name: str) -> None:
    visitor.open(f"{MINE}/-/new/main").submit("#content-body form", {"file_name": name, "content": "x"})
    assert visitor.status == 422 and visitor.text(".message-error")


def test_branches_and_tags_are_made_and_deleted(visitor: Visitor) -> None:
    visitor.open(f"{MINE}/-/branches/new").submit("#content-body form", {"branch_name": "feature/new-thing"})
    assert visitor.url == f"{MINE}/-/tree/feature/new-thing" and "README.md" in visitor.texts("a.tree-file")
    assert visitor.open(f"{MINE}/-/blob/feature/new-thing/docs/usage.md").status == 200
    assert (
        visitor.open(f"{MINE}/-/tags/new").submit("#content-body form", {"tag_name": "v9"}).url.endswith("/-/tree/v9")
    )
    visitor.open(f"{MINE}/-/branches/new").submit("#content-body form", {"branch_name": "bad name"})
    assert visitor.status == 422
    main = visitor.db.value("SELECT id FROM ref WHERE project_id = 2 AND name = 'main'")
    assert visitor.send(f"{MINE}/-/branches/{main}/delete").status == 403


def test_members_are_invited_get_other_roles_and_are_removed(visitor: Visitor) -> None:
    names = visitor.db.rows(
        "SELECT username FROM user WHERE id NOT IN (SELECT user_id FROM project_member WHERE project_id = 2) LIMIT 2"
    )
    first, second = (row["username"] for row in names)
    visitor.open(f"{MINE}/-/project_members?invite=1").submit(
        "#invite-form", {"user": f"{first}, @{second}", "access_level": "30"}
    )
    assert role_of(visitor, first) == role_of(visitor, second) == "Developer"
    row = next(row for row in visitor.all("tr") if f"@{first}" in row.text_content())
    action = row.cssselect("form[action$=update]")[0].get("action")
    visitor.send(action, {"access_level": "10"})
    assert role_of(visitor, first) == "Guest"
    visitor.send(action.replace("update", "delete"))
    assert f"@{first}" not in visitor.source
    visitor.open(f"{MINE}/-/project_members?invite=1").submit("#invite-form", {"user": "nobody-at-all"})
    assert "nobody-at-all" in visitor.text(".message-error")


def role_of(visitor: Visitor, username: str) -> str:
    """As the benchmark's helper reads it: the place among the accounts, and the role at that place."""
    place = visitor.texts("td[data-label='Account'] span.gl-avatar-labeled-sublabel").index(f"@{username}")
    return visitor.texts("td.col-max-role span")[place]


def test_stars_are_given_and_taken_back(visitor: Visitor) -> None:
    before = int(visitor.open("/northlight/darkroom").text(".star-count").removeprefix("★ "))
    starred = visitor.text(".star-btn") == "Unstar"
    visitor.submit("form[action$=toggle_star]")
    assert int(visitor.text(".star-count").removeprefix("★ ")) == before + (-1 if starred else 1)
    assert ("darkroom" in visitor.open("/users/byteblaze/starred").source) != starred
    visitor.open("/northlight/darkroom").submit("form[action$=toggle_star]")
    assert int(visitor.text(".star-count").removeprefix("★ ")) == before


def test_fork_has_files_and_history_of_its_own(visitor: Visitor) -> None:
    visitor.open("/northlight/darkroom/-/forks/new").submit("#content-body form")
    assert visitor.url == "/byteblaze/darkroom" and "Forked from northlight / darkroom" in visitor.text("main")
    visitor.open("/byteblaze/darkroom/-/edit/main/README.md").submit("#content-body form", {"content": "My own"})
    assert visitor.open("/byteblaze/darkroom/-/raw/main/README.md").source == "My own"
    assert visitor.open("/northlight/darkroom/-/raw/main/README.md").source != "My own"
    shas = [link.get("href") for link in visitor.open("/byteblaze/darkroom/-/commits/main").all("a.sha")]
    assert all(visitor.open(link).status == 200 for link in shas[:3])
    assert visitor.open("/northlight/darkroom").text(".fork-count") == "1"
    visitor.open("/northlight/darkroom/-/forks/new").submit("#content-body form")
    assert visitor.status == 422


def test_project_is_created_changed_and_deleted(visitor: Visitor) -> None:
    visitor.open("/projects/new").submit("#new_project", {"project[name]": "Do it myself", "visibility": "public"})
    assert visitor.url == "/byteblaze/Do-it-myself"
    assert "Public" in visitor.all(".visibility-icon")[0].get("title")
    assert visitor.open("/byteblaze/Do-it-myself/-/raw/main/README.md").source.startswith("# Do it myself")
    visitor.open("/byteblaze/Do-it-myself/edit").submit(
        "#general-settings", {"project[description]": "New", "visibility": "private"}
    )
    assert visitor.open("/byteblaze/Do-it-myself").all(".visibility-icon")[0].get("title").startswith("Private")
    visitor.open("/projects/new").submit("#new_project", {"project[name]": "do it myself"})
    assert visitor.status == 422
    visitor.open("/byteblaze/Do-it-myself/edit").submit(
        "form[action$=delete_project]", {"confirm_name_input": "Do-it-myself"}
    )
    assert visitor.open("/byteblaze/Do-it-myself").status == 404


def test_empty_project_takes_its_first_file(visitor: Visitor) -> None:
    visitor.open("/projects/new").submit(
        "#new_project", {"project[name]": "empty", "project[initialize_with_readme]": None}
    )
    assert "is empty" in visitor.text("main")
    for page in ("-/commits", "-/branches", "-/network", "-/issues", "-/project_members", "edit", "-/wikis/home"):
        assert visitor.open(f"/byteblaze/empty/{page}").status == 200, page
    visitor.open("/byteblaze/empty/-/new/main").submit(
        "#content-body form", {"file_name": "a/b.txt", "content": "hello"}
    )
    assert visitor.open("/byteblaze/empty").texts("a.tree-folder") == ["a/"]


def test_project_from_a_template_says_so_in_its_history(visitor: Visitor) -> None:
    visitor.open("/projects/new/template").submit(
        "#new_project", {"project[name]": "app", "project[template_name]": "Android"}
    )
    assert "Initialized from 'Android' project template" in visitor.open("/byteblaze/app/-/commits").text("main")


def test_archived_projects_are_read_only(visitor: Visitor) -> None:
    visitor.open(f"{MINE}/edit").submit("form[action$='/-/archive']")
    assert "Archived" in visitor.open(MINE).text(".head")
    assert visitor.send(f"{MINE}/-/issues", {"issue[title]": "x"}).status == 403
    assert visitor.open(f"{MINE}/-/new/main").status == 403
    visitor.open(f"{MINE}/edit").submit("form[action$='/-/unarchive']")
    assert visitor.open(f"{MINE}/-/new/main").status == 200


def test_groups_are_created_and_joined(visitor: Visitor) -> None:
    visitor.open("/groups/new").submit("#content-body form", {"group[name]": "Book Club", "visibility": "public"})
    assert visitor.url == "/book-club"
    visitor.open("/groups/book-club/-/group_members?invite=1").submit(
        "#invite-form", {"user": "costa9", "access_level": "30"}
    )
    assert role_of(visitor, "costa9") == "Developer" and role_of(visitor, "byteblaze") == "Owner"
    visitor.open("/projects/new").submit("#new_project", {"project[name]": "shelf", "project[namespace]": "book-club"})
    assert visitor.url == "/book-club/shelf" and "shelf" in visitor.open("/book-club").text("main")
    assert role_of(visitor.open("/book-club/shelf/-/project_members"), "costa9") == "Developer"
    visitor.open("/groups/new").submit("#content-body form", {"group[name]": "byteblaze"})
    assert visitor.status == 422


def test_profile_and_status_are_shown_as_the_benchmark_reads_them(visitor: Visitor) -> None:
    visitor.open("/-/profile").submit(
        "#profile-form",
        {"user[status][message]": "Enjoying life", "user[website]": "https://egg.tart.com", "user[bio]": "Hi <b>"},
    )
    visitor.open("/byteblaze")
    (status,) = visitor.all(".cover-status")
    assert status.text == "Enjoying life" and len(status) == 0
    assert visitor.text(".profile-header [itemprop=url]") == "egg.tart.com"
    assert visitor.text(".profile-user-bio") == "Hi <b>"


def test_dangerous_web_sites_become_harmless_links(visitor: Visitor) -> None:
    visitor.open("/-/profile").submit("#profile-form", {"user[website]": "javascript:alert(1)"})
    assert visitor.open("/byteblaze").all("[itemprop=url]")[0].get("href").startswith("http://")


def test_following_and_todos(visitor: Visitor) -> None:
    name = visitor.db.value(
        "SELECT username FROM user WHERE id > 1 AND id NOT IN (SELECT follows_id FROM follow WHERE user_id = 1)"
    )
    visitor.open(f"/{name}").submit("form[action$='/follow']")
    assert f"@{name}" in visitor.open("/users/byteblaze/following").text(".user-profile")
    visitor.open(f"/{name}").submit("form[action$='/unfollow']")
    assert f"@{name}" not in visitor.open("/users/byteblaze/following").text(".user-profile")
    before = visitor.open("/dashboard/todos").texts("a.todo-target")
    visitor.submit("form[action$='/done']:not([action*=mark])")
    assert before[0] in visitor.open("/dashboard/todos?state=done").text(".todos-list") or len(before) > 1
    visitor.open("/dashboard/todos").submit("form[action$=mark_all_done]")
    assert visitor.texts("a.todo-target") == [] and visitor.texts(".bar .badge")[2] == "0"


def test_labels_milestones_wiki_snippets_and_releases(visitor: Visitor) -> None:
    visitor.open(f"{MINE}/-/labels/new").submit(
        "#content-body form", {"label[title]": "urgent", "label[color]": "#ff0000"}
    )
    assert "urgent" in visitor.text("main")
    visitor.open(f"{MINE}/-/milestones/new").submit(
        "#content-body form",
        {"milestone[title]": "Launch", "milestone[start_date]": "2025-07-01", "milestone[due_date]": "2025-08-01"},
    )
    assert visitor.texts(".milestone-dates .block") == ["Start date: Jul 1, 2025", "Due date: Aug 1, 2025"]
    visitor.open(f"{MINE}/-/milestones/new").submit(
        "#content-body form",
        {"milestone[title]": "Odd", "milestone[start_date]": "2025-07-01", "milestone[due_date]": "2025-06-01"},
    )
    assert visitor.status == 422
    visitor.open(f"{MINE}/-/wikis/new").submit(
        "#content-body form", {"wiki[title]": "How to", "wiki[content]": "# Steps"}
    )
    assert visitor.url.endswith("/-/wikis/how-to") and visitor.text(".wiki-content h2") == "Steps"
    visitor.open(f"{MINE}/-/snippets/new").submit(
        "#content-body form", {"snippet[title]": "One", "snippet[content]": "print(1)"}
    )
    assert visitor.text(".file-box pre") == "print(1)"
    visitor.open(f"{MINE}/-/releases").submit("form.filter", {"release[name]": "Big one"})
    assert "Big one" in visitor.text("main")


def test_keys_and_tokens(visitor: Visitor) -> None:
    visitor.open("/-/profile/personal_access_tokens")
    assert visitor.all("#feed_token")[0].get("value") == visitor.db.value("SELECT feed_token FROM user WHERE id = 1")
    visitor.submit(
        "#content-body form", {"personal_access_token[name]": "bot", "personal_access_token[scopes][]": "api"}
    )
    assert "bot" in visitor.text("main ul")
    visitor.open("/-/profile/ssh_keys").submit(
        "#content-body form", {"key[key]": "ssh-rsa AAAA me@home", "key[title]": "desk"}
    )
    assert "desk" in visitor.text("main ul")
    visitor.submit("#content-body form", {"key[key]": "nonsense"})
    assert visitor.text(".message-error")


def test_signing_in_and_out(visitor: Visitor) -> None:
    visitor.open("/-/profile").submit(".side form")
    assert visitor.url == "/users/sign_in" and visitor.open("/-/profile").url == "/users/sign_in"
    hooks = [visitor.all(f'[data-testid="{name}"]') for name in ("username-field", "password-field", "sign-in-button")]
    assert all(len(found) == 1 for found in hooks)
    visitor.submit("form.sign-in", {"user[login]": "byteblaze", "user[password]": "wrong"})
    assert visitor.status == 401
    visitor.submit("form.sign-in", {"user[login]": "byteblaze", "user[password]": "hello1234"})
    assert visitor.url == "/" and visitor.text(".bar-user") == "Byte Blaze"


def test_hostile_text_is_stored_and_shown_as_it_was_typed(visitor: Visitor) -> None:
    visitor.open(f"{MINE}/-/issues/new").submit(
        "#content-body form", {"issue[title]": HOSTILE, "issue[description]": HOSTILE * 50}
    )
    assert visitor.text(".title") == HOSTILE and "<script>alert" not in visitor.source
    visitor.submit("form.note-form", {"note[note]": HOSTILE})
    assert visitor.texts("#notes-list .timeline-discussion-body")[-1] == HOSTILE
    visitor.open("/-/profile").submit(
        "#profile-form", {"user[name]": HOSTILE, "user[location]": HOSTILE, "user[bio]": HOSTILE}
    )
    assert visitor.open("/byteblaze").text("[itemprop=address]") == HOSTILE and "<script>alert" not in visitor.source
    visitor.open(f"{MINE}/-/new/main").submit(
        "#content-body form", {"file_name": "odd %2F'\"<x>.md", "content": HOSTILE}
    )
    assert HOSTILE in visitor.text(".file-body") and "<script>alert" not in visitor.source
    assert visitor.open(MINE).status == 200 and "<script>alert" not in visitor.source


def test_a_megabyte_in_a_field_breaks_nothing(visitor: Visitor) -> None:
    visitor.open(f"{MINE}/-/issues/1").submit("form.note-form", {"note[note]": "[x](" * 200_000 + "`" * 200_000})
    assert visitor.status == 200
    visitor.open(f"{MINE}/-/issues/new").submit("#content-body form", {"issue[title]": "y" * 1_000_000})
    assert visitor.status == 422
    assert visitor.open("/search?search=" + "z" * 100_000).status == 200
