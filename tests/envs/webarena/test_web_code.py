"""The code host: every page answers, lists are filtered and counted right, strangers are kept out, hooks are there."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter

import pytest

from agentrl.envs.webarena.sites.code import data
from agentrl.envs.webarena.sites.code.host import markdown
from agentrl.envs.webarena.sites.code.site import site
from agentrl.envs.webarena.sites.formats import ago, date_or_none, moment
from agentrl.envs.webarena.sites.places import base_file
from tests.envs.webarena.code_visitor import Visitor

MINE = "/byteblaze/recipe-cards"
PAGES = """
/ /dashboard/projects /dashboard/projects?personal=true /dashboard/projects/starred /explore /explore/projects/starred
/explore/groups /dashboard/todos /dashboard/todos?state=done /dashboard/issues /dashboard/merge_requests
/dashboard/groups /dashboard/milestones /dashboard/activity /dashboard/snippets /search /search?search=tide
/search?search=tide&scope=issues /search?search=tide&scope=merge_requests /search?search=a&scope=users
/search?search=tide&scope=blobs /search?search=1&scope=milestones /tidewater-labs /groups/tidewater-labs
/groups/tidewater-labs/-/group_members /groups/tidewater-labs/-/issues /groups/tidewater-labs/-/merge_requests
/groups/new /projects/new /projects/new/template /byteblaze /users/byteblaze/activity /users/byteblaze/groups
/users/byteblaze/contributed /users/byteblaze/projects /users/byteblaze/starred /users/byteblaze/snippets
/users/byteblaze/followers /users/byteblaze/following /-/profile /-/profile/ssh_keys
/-/profile/personal_access_tokens /-/snippets/new
"""
PROJECT_PAGES = """
activity edit forks/new -/starrers -/forks -/tree/main -/tree/main/src -/blob/main/README.md -/blob/main/LICENSE
-/edit/main/README.md -/new/main -/commits -/commits/main -/commits/main/README.md -/branches -/tags -/branches/new
-/tags/new -/graphs/main -/network/main -/issues -/issues/new -/issues/1 -/issues/1/edit -/boards -/merge_requests
-/merge_requests/new -/merge_requests/1 -/merge_requests/1/commits -/merge_requests/1/diffs -/merge_requests/1/edit
-/project_members -/labels -/labels/new -/milestones -/milestones/new -/milestones/1 -/milestones/1/edit -/releases
-/wikis/home -/wikis/home/edit -/wikis/new -/snippets -/snippets/new
"""


@pytest.fixture(scope="module")
def reader() -> Visitor:
    """For tests that change nothing."""
    return Visitor()


# ---------------------------------------------------------------------- pages


def test_every_page_answers_with_its_kind(reader: Visitor) -> None:
    for path in [*PAGES.split(), MINE, *(f"{MINE}/{page}" for page in PROJECT_PAGES.split())]:
        reader.open(path)
        assert reader.status == 200, path
        (body,) = reader.all("body")
        assert re.fullmatch(r"[a-z_-]+", body.get("data-page")), path
        assert reader.source.count("<script") == reader.source.count('<script src="/static/behaviours.js" defer>') == 1
        assert not re.search(r"<[^>]+ on\w+=", reader.source)


def test_every_link_of_the_main_pages_leads_somewhere(reader: Visitor) -> None:
    pages = ["/", MINE, f"{MINE}/-/issues", f"{MINE}/-/issues/1", f"{MINE}/-/merge_requests/1", "/byteblaze"]
    links = {link.get("href") for page in pages for link in reader.open(page).all("a") if link.get("href")}
    assert len(links) > 150
    for link in sorted(links):
        if link.startswith("/"):
            assert reader.open(link).status == 200, link


@pytest.mark.parametrize(
    "path",
    [
        "/nobody", "/byteblaze/nothing", "/users/nobody/starred", "/users/byteblaze/nothing", f"{MINE}/-/issues/99999",
        f"{MINE}/-/issues/x", f"{MINE}/-/merge_requests/0", f"{MINE}/-/tree/nothing", f"{MINE}/-/blob/main/nothing.py",
        f"{MINE}/-/commit/abc", f"{MINE}/-/commit/{'0' * 40}", f"{MINE}/-/milestones/77", f"{MINE}/-/wikis/nothing",
        "/groups/nothing", "/-/snippets/99999", f"{MINE}/-/labels/1/edit", f"{MINE}/-/issues/{'9' * 40}",
    ],
)  # fmt: skip
def test_unknown_things_are_not_found(reader: Visitor, path: str) -> None:
    assert reader.open(path).status == 404


def test_every_route_has_a_documented_handler() -> None:
    assert len(site.routes) > 130
    assert all(route.handler.__doc__ for route in site.routes)


# ---------------------------------------------------------------------- base data


def test_data_is_plentiful_coherent_and_the_same_every_time() -> None:
    path = base_file("code")
    assert path.stat().st_size < 15_000_000
    db = sqlite3.connect(path)

    def value(sql: str) -> int:
        return db.execute(sql).fetchone()[0]

    least = {
        "project": 60,
        "git_commit": 5500,
        "issue": 2500,
        "merge_request": 800,
        "user": 120,
        "team": 8,
        "note": 8000,
    }
    for table, count in least.items():
        assert value(f"SELECT count(*) FROM {table}") >= count, table
    for table, column in (("git_commit", "created_at"), ("issue", "updated_at"), ("note", "created_at")):
        assert value(f"SELECT count(*) FROM {table} WHERE {column} >= '2025-06-16 09'") == 0
    assert (
        value(
            "SELECT count(*) FROM git_commit c"
            " JOIN git_commit p ON p.id = c.parent_id WHERE p.created_at > c.created_at"
        )
        == 0
    )
    assert value("SELECT count(*) FROM issue WHERE (state = 'closed') != (closed_at != '')") == 0
    for table, earlier in (("star", "project"), ("team_member", "user"), ("project_member", "user")):
        joined = f"{table} t JOIN {earlier} e ON e.id = t.{earlier}_id"
        assert value(f"SELECT count(*) FROM {joined} WHERE t.created_at < e.created_at") == 0, table
    assert value("SELECT count(*) FROM issue WHERE updated_at < created_at") == 0
    assert (
        value("SELECT count(*) FROM note JOIN issue ON issue.id = issue_id WHERE note.created_at < issue.created_at")
        == 0
    )
    assert value("SELECT count(DISTINCT title) FROM issue") > 2000
    db.close()


def test_building_twice_gives_the_same_data() -> None:
    first, second = sqlite3.connect(":memory:"), sqlite3.connect(base_file("code"))
    first.execute("CREATE TABLE session (id INTEGER PRIMARY KEY, site, token, user_id, message)")
    data.build(first)
    for table in ("git_commit", "issue", "note", "tree_entry", "star"):
        sql = f"SELECT * FROM {table} ORDER BY id"
        assert first.execute(sql).fetchall() == second.execute(sql).fetchall(), table
    first.close()
    second.close()


def test_diffs_turn_the_first_version_of_a_file_into_the_last(reader: Visitor) -> None:
    """Replaying the stored changes of a file gives the text that its page shows."""
    db = reader.db
    head = db.row("SELECT * FROM ref WHERE project_id = 2 AND kind = 'branch' AND name = 'main'")
    assert head is not None
    chain, commit = [], head["commit_id"]
    while commit is not None:
        chain.append(commit)
        commit = db.value("SELECT parent_id FROM git_commit WHERE id = ?", commit)
    files: dict[str, list[str]] = {}
    for number in reversed(chain):
        for change in db.rows("SELECT * FROM commit_file WHERE commit_id = ? ORDER BY id", number):
            files[change["path"]] = patched(files.get(change["path"], []), change["diff"])
    for path, lines in files.items():
        stored = db.value(
            "SELECT content FROM tree_entry e JOIN blob ON blob.id = e.blob_id WHERE e.ref_id = ? AND e.path = ?",
            head["id"],
            path,
        )
        assert "\n".join(lines) == stored, path


def patched(lines: list[str], diff: str) -> list[str]:
    head, *body = diff.split("\n")
    found = re.match(r"@@ -(\d+),(\d+) ", head)
    assert found is not None
    start, count = max(int(found[1]) - 1, 0), int(found[2])
    assert lines[start : start + count] == [line[1:] for line in body if line[:1] in " -"]
    return [*lines[:start], *(line[1:] for line in body if line[:1] in " +"), *lines[start + count :]]


# ---------------------------------------------------------------------- lists


def test_issue_filters_agree_with_the_data(reader: Visitor) -> None:
    reader.open("/railpath/router/-/issues?state=all&label_name[]=bug")
    want = reader.db.value(
        """SELECT count(*) FROM issue JOIN issue_label l ON l.issue_id = issue.id JOIN label ON label.id = l.label_id
           JOIN project p ON p.id = issue.project_id WHERE p.path = 'router' AND label.name = 'bug'"""
    )
    assert reader.texts(".tab-here") == [f"All {want}"]
    assert all("bug" in text for text in reader.texts(".issue-row"))
    reader.open("/railpath/router/-/issues?assignee_username=byteblaze&search=the")
    assert reader.all(".issue-row") and all("Byte Blaze" in row.get("title") for row in reader.all(".issue-side a"))


def test_filter_forms_lead_to_the_address_that_the_benchmark_expects(reader: Visitor) -> None:
    reader.open("/railpath/router/-/issues").submit("form.filter", {"label_name[]": "good first issue"})
    assert reader.url == (
        "/railpath/router/-/issues/?sort=created_date&state=opened&label_name%5B%5D=good+first+issue&first_page_size=20"
    )


def test_label_links_and_tabs_lead_to_the_same_address(reader: Visitor) -> None:
    want = (
        "/railpath/router/-/issues/?sort=created_date&state=opened&label_name%5B%5D=good+first+issue&first_page_size=20"
    )
    links = {link.get("href") for link in reader.open("/railpath/router/-/labels").all("a")}
    assert want in links
    chips = {link.get("href") for link in reader.open("/railpath/router/-/issues?state=all").all("a.label")}
    assert all(
        re.fullmatch(r".*/\?sort=created_date&state=opened&label_name%5B%5D=[a-z+]+&first_page_size=20", url)
        for url in chips
    )
    tabs = [link.get("href") for link in reader.open(want.replace("opened", "closed")).all("a.tab")]
    assert want in tabs


@pytest.mark.parametrize(
    "sort, column", [("created_asc", "created_at"), ("updated_desc", "updated_at"), ("title_asc", "title")]
)
def test_sorted_lists_are_in_order_over_all_pages(reader: Visitor, sort: str, column: str) -> None:
    seen: list[str] = []
    for page in range(1, 7):
        reader.open(f"/railpath/router/-/issues?state=all&sort={sort}&page={page}")
        seen += [link.get("href").rsplit("/", 1)[1] for link in reader.all("a.issue-title")]
    rows = {
        str(row["iid"]): row
        for row in reader.db.rows(
            "SELECT issue.* FROM issue JOIN project p ON p.id = project_id WHERE p.path = 'router'"
        )
    }
    assert sorted(seen) == sorted(rows)
    values = [rows[iid][column].lower() for iid in seen]
    assert values == sorted(values, reverse=sort.endswith("desc"))


def test_projects_sorted_by_stars_have_the_stars_that_their_pages_show(reader: Visitor) -> None:
    stars = [int(text.removeprefix("★ ")) for text in reader.open("/explore?sort=stars_desc").texts("a.stars")]
    assert len(stars) == 20 and stars == sorted(stars, reverse=True)
    first = reader.all("a.project")[0].get("href")
    assert reader.open(first).text(".star-count") == f"★ {stars[0]}"


def test_commits_of_an_author_are_counted_by_day(reader: Visitor) -> None:
    reader.open("/railpath/router/-/graphs/main")
    name, commits = reader.text("td a"), int(re.findall(r"(\d+) commit", reader.text("table"))[0])
    reader.open("/railpath/router/-/commits/main").submit("form.filter", {"author": name})
    assert f"{commits} commits" in reader.text("form.filter")
    assert set(reader.texts(".commit-author")) == {name}
    days = Counter(re.search(r"\((\w+ \d+, \d+)", text)[1] for text in reader.texts(".commit-row time"))  # pyright: ignore
    heads = [text.rsplit(" ", 2) for text in reader.texts(".commit-header")]
    assert all(days[day] == int(count) for day, count, _ in heads[:-1])


def test_search_finds_projects_people_issues_and_code(reader: Visitor) -> None:
    assert "/railpath/router" in [link.get("href") for link in reader.open("/search?search=router").all("a.project")]
    assert reader.open("/search?search=byte+blaze&scope=users").texts("a.issue-title") == ["Byte Blaze"]
    assert reader.open("/search?search=Initial%20commit%25&scope=issues").text(".search-results") != ""
    assert "README.md" in reader.open("/search?search=npm+install+components&scope=blobs").text(".search-results")


# ---------------------------------------------------------------------- rights


def test_private_projects_of_others_do_not_exist_for_the_agent(reader: Visitor) -> None:
    owner = reader.db.value("SELECT namespace FROM project WHERE path = 'salary-notes'")
    for page in ("", "/-/issues", "/-/raw/main/README.md", "/-/project_members", "/edit", "/-/forks/new"):
        assert reader.open(f"/{owner}/salary-notes{page}").status == 404
    for path in ("/search?search=salary", f"/{owner}", "/explore?name=salary", "/search?search=salary&scope=issues"):
        assert "salary-notes" not in reader.open(path).source


def test_guests_see_public_projects_only() -> None:
    guest = Visitor(guest=True)
    assert guest.open(MINE).status == 200
    assert guest.open("/hexfold/runner").url == "/users/sign_in"
    assert guest.open("/dashboard/todos").url == "/users/sign_in"
    assert guest.send(f"{MINE}/toggle_star").url == "/users/sign_in"
    assert guest.send(f"{MINE}/-/issues", {"issue[title]": "x"}).url == "/users/sign_in"


def test_only_maintainers_change_settings_and_members() -> None:
    visitor = Visitor()
    other = visitor.db.row("SELECT * FROM project WHERE path = 'darkroom'")
    assert other is not None
    assert visitor.open("/northlight/darkroom/edit").status == 404
    assert visitor.send("/northlight/darkroom/edit", {"project[name]": "mine"}).status == 403
    assert (
        visitor.send("/northlight/darkroom/-/project_members", {"user": "byteblaze", "access_level": "50"}).status
        == 403
    )
    assert visitor.send("/northlight/darkroom/-/delete_project", {"confirm_name_input": "darkroom"}).status == 403
    assert visitor.send("/northlight/darkroom/-/update/main/README.md", {"content": "x"}).status == 403
    assert visitor.send("/northlight/darkroom/-/milestones", {"milestone[title]": "x"}).status == 403
    assert not visitor.world.changes().get("code", {}).keys() - {"session"}


def test_maintainers_cannot_give_more_than_they_have() -> None:
    visitor = Visitor()
    project = visitor.db.row(
        """SELECT p.* FROM project p
        JOIN project_member m ON m.project_id = p.id WHERE m.user_id = 1 AND m.access_level = 40
           AND p.team_id IS NULL"""
    )
    assert project is not None
    base = f"/{project['namespace']}/{project['path']}"
    visitor.send(f"{base}/-/project_members", {"user": "byteblaze", "access_level": "50"})
    assert (
        visitor.db.value("SELECT access_level FROM project_member WHERE user_id = 1 AND project_id = ?", project["id"])
        == 40
    )
    owner = visitor.db.value("SELECT id FROM project_member WHERE project_id = ? AND access_level = 50", project["id"])
    assert visitor.send(f"{base}/-/project_members/{owner}/update", {"access_level": "10"}).status == 403
    assert visitor.send(f"{base}/-/project_members/{owner}/delete").status == 403


# ---------------------------------------------------------------------- texts


def test_markdown_shows_markup_as_text_and_keeps_its_own() -> None:
    shown = markdown(
        "# A <b>\n\n* one `x<y`\n* [two](/there)\n\n@byteblaze said <script>\n\n```\n<i>\n```\n"
        "[bad](javascript:alert(1))"
    )
    assert "<script>" not in shown and "<b>" not in shown and "<i>" not in shown
    assert "<h2>A &lt;b&gt;</h2>" in shown and '<a href="/there">two</a>' in shown and "<code>x&lt;y</code>" in shown
    assert '<a href="/byteblaze">@byteblaze</a>' in shown and 'href="javascript' not in shown
    assert markdown('[x](/a"onclick="b)').count('onclick="') == 0


def test_dates_are_written_and_read_as_people_do() -> None:
    assert moment("2025-06-03 00:05:00") == "Jun 3, 2025 12:05am"
    assert ago("2025-06-15 09:00:00", "2025-06-16 09:00:00") == "1 day ago"
    assert [date_or_none(text) for text in ("2030-1-3", "1/3/2030", "Jan 3, 2030", "", "soon", "2030-13-01")] == [
        "2030-01-03", "2030-01-03", "2030-01-03", "", None, None,
    ]  # fmt: skip
