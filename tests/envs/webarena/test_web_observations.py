"""A page as text: what each mode shows of small pages, word by word, and what must hold for every page."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from lxml import etree, html

from agentrl.core.errors import ConfigError
from agentrl.envs.webarena.backend import Box, Tab, View
from agentrl.envs.webarena.env import WebArenaLiteEnv
from agentrl.envs.webarena.observing.accessibility import accessibility_tree, with_line_ids
from agentrl.envs.webarena.observing.compact import compact_text, token_bound
from agentrl.envs.webarena.observing.modes import BESIDE_PICTURES, MODES, observe, raw_html
from agentrl.envs.webarena.observing.simplified import MAX_LENGTH, simplified_html
from tests.envs.webarena.web_views import view_of

SHOP = """<html><head><title>Chairs</title><style>a {}</style><script>var a = 1;</script></head>
<body box="0,0,1280,900">
<header box="0,0,1280,40"><nav box="0,0,640,40"><ul box="0,0,640,40">
  <li box="0,0,99,40"><a act href="/" box="8,8,60,20">Home <b box="40,8,20,20">now</b> again</a></li>
  <li box="99,0,99,40"><a act href="/x" title="Other" box="99,8,60,20">Other</a></li></ul></nav></header>
<main box="0,40,1280,860"><h1 box="8,50,300,32">Chairs</h1>
<form box="8,90,900,40"><label for="q" box="8,90,40,20">Search</label>
<input act required id="q" name="q" type="text" placeholder="Words" live="oak" box="50,90,240,32">
<select act focus aria-label="Sort by" box="300,90,100,32" live="b">
<option box="" value="a">Position</option><option box="" value="b">Price</option></select>
<label box="420,90,120,32"><input act type="checkbox" live="on" box="420,98,16,16"> In stock</label>
<input type="hidden" name="k" value="3" box=""><button act box="560,90,58,32">Go</button></form>
<table box="8,140,600,80"><tr box="8,140,600,40"><th box="8,140,200,40">Order</th><th box="208,140,200,40">Total</th>
</tr><tr box="8,180,600,40"><td box="8,180,200,40">000123</td><td box="208,180,200,40">$3
<i box="230,180,30,20">net</i></td><td box="408,180,200,40"><a act href="/o/1" box="408,180,40,20">View</a></td>
</tr></table>
<a act href="/p" box="8,240,80,80"><img alt="A chair" src="c.png" box="8,240,80,80"></a>
<a act href="/p" box="8,330,80,20">A chair</a>
<p box="8,360,300,20">Fine <!-- comment -->words</p><p aria-hidden="true" box="8,380,300,20">Hidden</p>
<p box="8,800,300,20">Below</p><p box="">Nowhere</p></main></body></html>"""

SIMPLIFIED = (
    '<html data-bbox="0,0,1280,720"> <body data-bbox="0,0,1280,900"> <ul data-bbox="0,0,640,40"> '
    '<a id="0" data-text="Home,again" data-bbox="8,8,60,20"> Home <b data-text="now" data-bbox="40,8,20,20"> now </b> '
    "</a> "
    '<a id="1" title="Other" data-bbox="99,8,60,20"> Other </a> </ul> '
    '<main data-bbox="0,40,1280,860"> <h1 data-text="Chairs" data-bbox="8,50,300,32"> Chairs </h1> '
    '<form data-bbox="8,90,900,40"> <label data-text="Search" data-bbox="8,90,40,20"> Search </label> '
    '<input id="2" type="text" placeholder="Words" data-value="oak" data-bbox="50,90,240,32"> </input> '
    '<select id="3" data-value="b" data-text="Price" data-bbox="300,90,100,32"> '
    '<option value="a" data-text="Position"> Position </option> '
    '<option value="b" data-text="Price" data-status="selected"> Price </option> </select> '
    '<label data-text="In stock" data-bbox="420,90,120,32"> '
    '<input id="4" type="checkbox" data-value="on" data-bbox="420,98,16,16" data-status="checked"> </input> </label> '
    '<button id="5" data-text="Go" data-bbox="560,90,58,32"> Go </button> </form> '
    '<table data-bbox="8,140,600,80"> <tr data-bbox="8,140,600,40"> <th data-text="Order" data-bbox="8,140,200,40"> '
    'Order </th> <th data-text="Total" data-bbox="208,140,200,40"> Total </th> </tr> <tr data-bbox="8,180,600,40"> '
    '<td data-text="000123" data-bbox="8,180,200,40"> 000123 </td> <td data-text="$3" data-bbox="208,180,200,40"> $3 '
    '<i data-text="net" data-bbox="230,180,30,20"> net </i> </td> '
    '<a id="6" data-text="View" data-bbox="408,180,40,20"> View </a> </tr> </table> '
    '<a id="7" data-bbox="8,240,80,80"> </a> <a id="8" data-text="A chair" data-bbox="8,330,80,20"> A chair </a> '
    '<p data-text="Fine,words" data-bbox="8,360,300,20"> Fine words </p> </main> </body> </html>'
)
ACCESSIBILITY = """\
Tab 0 (current): Chairs
URL: http://shop.localhost/
[0] RootWebArea 'Chairs' focused: True
	[1] link 'Home now again'
	[2] link 'Other'
	[3] main ''
		[4] heading 'Chairs'
		[5] form ''
			[6] StaticText 'Search'
			[7] textbox 'Search' required: True
				[8] StaticText 'oak'
			[9] combobox 'Sort by' focused: True hasPopup: menu expanded: False
			[10] checkbox 'In stock' checked: true
			[11] button 'Go'
		[12] table ''
			[13] row ''
				[14] columnheader 'Order' required: False
				[15] columnheader 'Total' required: False
			[16] row ''
				[17] cell '000123'
				[18] cell '$3 net'
				[19] cell 'View'
					[20] link 'View'
		[21] link 'A chair'
			[22] img 'A chair'
		[23] link 'A chair'
		[24] StaticText 'Fine '
		[25] StaticText 'words'"""
COMPACT = """\
[0] link Home now again
[1] link Other
# Chairs
[2] textbox Search = oak
[3] select Sort by: Price | options Position, Price
[4] checkbox In stock = on
[5] button Go
Order | Total
000123 | $3 net
[6] link View
[7] link A chair
[8] link same as 7
Fine words
(scroll down for more)"""


@pytest.fixture(scope="module")
def shop() -> View:
    return view_of(SHOP, title="Chairs", height=900)


def test_simplified_html_word_by_word(shop):
    assert simplified_html(shop) == SIMPLIFIED


def test_the_accessibility_tree_word_by_word(shop):
    assert accessibility_tree(shop) == ACCESSIBILITY


def test_compact_text_word_by_word(shop):
    assert compact_text(shop) == COMPACT


def test_raw_html_is_the_whole_document(shop):
    text = raw_html(shop)
    assert text.startswith("<html><head><title>Chairs</title>")
    assert "Below" in text
    assert "Nowhere" in text
    assert "oak" not in text


# ---------------------------------------------------------------------- simplified HTML, rule by rule


def body(inside: str, **more: Any) -> str:
    """What is inside <body>, without its tag."""
    text = simplified_html(view_of(f"<html><body>{inside}</body></html>", **more))
    return re.sub(r"^(?:<html[^>]*> )?(?:<body[^>]*> )?|(?: </body>)?(?: </html>)?$", "", text)


def test_attributes_come_in_their_order_and_a_value_comes_once():
    given = 'data-label="6" data-testid="5" selected="4" placeholder="3" type="2" value="1" title="0" class="x" id="y"'
    shown = 'title="0" value="1" type="2" placeholder="3" selected="4" data-text="t" data-testid="5" data-label="6"'
    assert body(f'<b {given} box="1,2,3,4">t</b>') == f'<b {shown} data-bbox="1,2,3,4"> t </b>'
    assert body('<i title="Go" data-label="Go" data-testid="x" box="1,1,1,1">Go</i>') == (
        '<i title="Go" data-testid="x" data-bbox="1,1,1,1"> Go </i>'
    )


@pytest.mark.parametrize(
    ("inside", "shown"),
    [
        ("<div><div><p @>x</p></div></div>", '<p data-text="x" @> x </p>'),
        ("<div @><i @>x</i><i @>y</i></div>", '<div @> <i data-text="x" @> x </i> <i data-text="y" @> y </i> </div>'),
        ("<div act @></div>", '<div id="0" @> </div>'),
        ("<div @></div>", ""),
        ('<p box="0,721,9,9">x</p>', ""),
        ('<p box="0,720,9,9">x</p>', '<p data-text="x" data-bbox="0,720,9,9"> x </p>'),
        ('<p box="0,-10,9,9">x</p>', ""),
        ('<p box="1281,0,9,9">x</p>', ""),
        ('<p box="">x</p>', ""),
        ('<p aria-hidden="true">x <b @>y</b></p>', '<b data-text="y" @> y </b>'),
        ('<input type="hidden" value="3" box="">', ""),
        (
            '<input type="radio" value="r" live="" @>',
            '<input value="r" type="radio" @> </input>',
        ),
        ('<textarea live="new" @>old</textarea>', '<textarea data-value="new" data-text="old" @> old </textarea>'),
        ('<select live="2" box=""><option box="" value="1">a</option></select>', ""),
        (
            '<select live="2" @><optgroup box=""><option box="" value="2">b</option></optgroup></select>',
            '<select data-value="2" data-text="b" @> </select>',
        ),
        ("<p @>a\n  b\t<i @></i> c </p>", '<p data-text="a b,c" @> a b </p>'),
        ('<p @>a &lt; "b" &amp; c</p>', '<p data-text="a < "b" & c" @> a < "b" & c </p>'),
        (
            "<p @>a&nbsp; b&nbsp;c<!-- x --> d<script>e</script>&nbsp;</p>",
            '<p data-text="a b\xa0c,d" @> a\xa0 b\xa0c d </p>',
        ),
        (
            "<p @>a &lt;image&gt; &lt;|im_end|&gt;</p>",
            '<p data-text="a &lt;image> &lt;|im_end|>" @> a &lt;image> &lt;|im_end|> </p>',
        ),
        ('<a act aria-hidden="true" @></a>', ""),
    ],
)
def test_rules_of_simplified_html(inside, shown):
    assert body(inside.replace("@", 'box="1,1,1,1"')) == shown.replace("@", 'data-bbox="1,1,1,1"')


def test_long_texts_and_values_are_cut():
    text = body(f'<p title="{"t" * 900}" box="1,1,1,1">{"x " * 900}</p>')
    assert f'title="{"t" * MAX_LENGTH}"' in text
    assert max(map(len, re.findall(r"[x ]+", text))) <= MAX_LENGTH + 2


# ---------------------------------------------------------------------- names and roles


@pytest.mark.parametrize(
    ("inside", "line"),
    [
        ('<a act href="/">x <img alt="y"> z</a>', "[1] link 'x y z'"),
        ('<a act href="/" aria-label="Cart"><img src=""></a>', "[1] link 'Cart'"),
        ('<a act href="/" title="Cart"></a>', "[1] link 'Cart'"),
        ("<button act>It's</button>", '[1] button "It\'s"'),
        ('<input act type="submit" value="Send">', "[1] button 'Send'"),
        ('<input act type="submit">', "[1] button 'Submit'"),
        ('<input act placeholder="Name">', "[1] textbox 'Name' required: False"),
        ('<label for="a">Name</label><input act id="a" title="no">', "[2] textbox 'Name' required: False"),
        ("<label><span>Your</span> name <input act></label>", "[3] textbox 'Your name' required: False"),
        ('<p id="n">Name</p><input act aria-labelledby="n">', "[2] textbox 'Name' required: False"),
        ("<input act aria-labelledby=\"'] | //*['\" title='t'>", "[1] textbox 't' required: False"),
        ('<input act type="search" live="a\nb">', "[1] searchbox ''"),
        (
            '<input act type="number" live="3" disabled>',
            "[1] spinbutton '' disabled: True required: False valuemin: 0 valuemax: 0 valuetext: 3",
        ),
        ('<textarea act aria-label="Text" live="x"></textarea>', "[1] textbox 'Text' required: False"),
        ('<input act type="radio" aria-label="r" live="">', "[1] radio 'r' checked: false"),
        ('<div act role="checkbox" aria-checked="true">c</div>', "[1] checkbox 'c' checked: true"),
        ('<a act href="/" aria-haspopup="true">m</a>', "[1] link 'm' hasPopup: menu"),
        ('<button act aria-expanded="false">m</button>', "[1] button 'm' expanded: False"),
        ("<div act>plain</div>", "[1] StaticText 'plain'"),
        ('<li act role="tab">t</li>', "[1] tab 't' selected: False"),
        ('<li act role="tab" aria-selected="true">t</li>', "[1] tab 't' selected: True"),
        ('<div role="tablist">t</div>', "[1] tablist '' multiselectable: False orientation: horizontal"),
        ('<div act focus tabindex="0"><img alt="Map"></div>', "[1] generic 'Map' focused: True"),
        ("<summary act>more</summary>", "[1] DisclosureTriangle 'more'"),
        ('<span act role="presentation none">x</span>', "[1] StaticText 'x'"),
        ("<a act href=/>1.5<i>, 2</i><div>far</div></a>", "[1] link '1.5, 2 far'"),
        ('<a act href="/"><script>x</script>y</a>', "[1] link 'y'"),
        ('<img alt="A dog">', "[1] img 'A dog'"),
        ("<h2>Title</h2>", "[1] heading 'Title'"),
        ("<fieldset><legend>Ship to</legend><input act></fieldset>", "[1] group 'Ship to'"),
        ("<p>text</p>", "[1] StaticText 'text'"),
    ],
)
def test_roles_names_and_properties(inside, line):
    text = accessibility_tree(view_of(f"<html><body>{inside}</body></html>"), header=False)
    assert line in [each.strip() for each in text.splitlines()]


def test_containers_without_contents_in_view_are_left_out():
    text = accessibility_tree(view_of('<ul><li box=""><a href="/" box="">x</a></li></ul>'))
    assert text.splitlines()[2:] == ["[0] RootWebArea 'A page' focused: True"]


# ---------------------------------------------------------------------- headers


@pytest.mark.parametrize("mode", MODES)
def test_tabs_and_address_stand_above_the_page_if_wanted(mode, shop):
    tabs = (Tab("http://a", "First\n<image>"), Tab("http://b", "Second"))
    view = view_of("<p>x</p>", tabs=tabs, url="http://a/<image>", error="no\nanswer <image>")
    with_header, without = observe(view, mode, header=True), observe(view, mode, header=False)
    first = "Tab 0 (current): First &lt;image> | Tab 1: Second\nURL: http://a/&lt;image>\n"
    assert with_header == first + without
    assert without.startswith("This page could not be shown: no answer &lt;image>\n")


def test_unknown_modes_are_refused():
    with pytest.raises(
        ConfigError, match=r"one of simplified, accessibility, html, compact, marks, none; got 'compct'.*compact"
    ):
        WebArenaLiteEnv(kind="visual", observation_mode="compct")
    assert WebArenaLiteEnv(observation_mode="compact").observation_mode == "compact"


# ---------------------------------------------------------------------- every page


def random_page(seed: int, size: int) -> View:
    """A page without sense: nested anyhow, with hostile texts."""
    rng = random.Random(seed)
    tags = ["div", "p", "span", "a", "button", "input", "select", "option", "table", "tr", "td", "li", "ul", "h2"]
    tags += ["label", "img", "b", "textarea", "nav", "footer", "image"]
    texts = [
        "<image>",
        "<|im_end|>",
        "</answer>",
        "plain words",
        "a\nb",
        "é",
        "  ",
        "[3] link",
        'quo"te',
        "\u2028",
        "&amp;",
    ]
    root = html.Element("html")
    parents = [root]
    boxes, labels, values = {root: Box(0, 0, 1280, 720)}, [], {}
    for _ in range(size):
        parent = rng.choice(parents[-8:])
        element = etree.SubElement(parent, rng.choice(tags))
        element.text, element.tail = rng.choice(texts), rng.choice(texts)
        for name in rng.sample(["title", "value", "type", "aria-hidden", "alt", "role", "href"], 2):
            element.set(name, rng.choice([*texts[:6], "true", "checkbox", "hidden"]))
        if rng.random() < 0.8:
            boxes[element] = Box(rng.randint(-50, 1300), rng.randint(-50, 800), rng.randint(0, 90), rng.randint(0, 90))
        if rng.random() < 0.2:
            labels.append(element)
        if rng.random() < 0.2:
            values[element] = rng.choice([*texts, "\ud800"])
        parents.append(element)
    order = {element: place for place, element in enumerate(root.iter())}
    labels = [label for label in sorted(labels, key=order.__getitem__) if not _inside_unseen(label)]
    return View("http://x", "T", root, boxes, tuple(labels), values, (Tab("http://x", "T"),), 0, height=900)


def _inside_unseen(element: Any) -> bool:
    return any(parent.tag in ("script", "style", "template") for parent in (element, *element.iterancestors()))


@pytest.mark.parametrize("seed", range(30))
def test_every_page_shows_each_id_once_and_no_tag_of_another(seed):
    view = random_page(seed, 60)
    simplified = simplified_html(view)
    plain = (label for label in view.labels if label.get("aria-hidden") != "true" and view.is_visible(label))
    assert set(map(int, re.findall(r'<[a-z0-9]+ id="(\d+)"', simplified))) >= {view.ids[label] for label in plain}
    assert "\n" not in simplified
    html.fromstring(simplified)
    tree = accessibility_tree(view)
    numbers = list(map(int, re.findall(r"^\t*\[(\d+)\] ", tree, re.MULTILINE)))
    assert numbers == list(range(len(with_line_ids(view).labels))) == list(range(len(tree.splitlines()) - 2))
    for mode in MODES:
        text = observe(view, mode)
        assert "<image>" not in text
        assert "<|" not in text
        assert mode in ("html", "simplified") or "</answer>" not in text
        text.encode()


@pytest.mark.parametrize("seed", range(10))
def test_compact_text_shows_each_id_once_where_it_fits(seed):
    view = random_page(seed, 40)
    for element in view.root.iter():
        element.text = element.tail = "words"
        element.attrib.pop("title", None)
        element.attrib.pop("alt", None)
    view.values.clear()
    found = re.findall(r"^\[(\d+)\]", compact_text(view), re.MULTILINE)
    assert sorted(map(int, found)) == list(range(len(view.labels)))


def tall(count: int) -> View:
    """Many elements in a row."""
    root = html.Element("html")
    boxes, labels = {root: Box(0, 0, 1280, 720)}, []
    for number in range(count // 2):
        part = etree.SubElement(root, "p")
        part.tail = "tail"
        link = etree.SubElement(part, "a", href=f"/{number}")
        link.text = f"link {number}"
        boxes[part] = boxes[link] = Box(0, number % 700, 100, 20)
        labels.append(link)
    return View("http://x", "T", root, boxes, tuple(labels), {}, (Tab("http://x", "T"),), 0)


def deep(depth: int, tag: str) -> View:
    """Elements inside each other, all of which have an id."""
    root = element = html.Element("html")
    boxes, labels = {root: Box(0, 0, 1280, 720)}, []
    for number in range(depth):
        element = etree.SubElement(element, tag, href="/", role="list" if number % 3 else "link")
        element.text = f"t{number}"
        boxes[element] = Box(0, 0, 100, 20)
        labels.append(element)
    return View("http://x", "T", root, boxes, tuple(labels), {}, (Tab("http://x", "T"),), 0)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("view", [tall(20_000), deep(3_000, "div"), deep(3_000, "a")], ids=["tall", "deep", "links"])
def test_huge_pages_are_written_without_recursion(mode, view):
    text = observe(view, mode)
    if mode == "compact":
        assert token_bound(text) <= 800
        assert "left out)" in text
    elif mode in BESIDE_PICTURES:
        assert len(text) < 50_000
    else:
        assert len(text) > 20_000


# ---------------------------------------------------------------------- what does not fit


def test_texts_are_shortened_before_any_element_is_left_out():
    rows = "".join(
        f'<p>{"some long text about it " * 12}</p><a act href="/{n}">Entry number {n}</a>' for n in range(40)
    )
    text = compact_text(view_of(f"<html><body>{rows}</body></html>"))
    assert re.findall(r"\[(\d+)\] Entry number \1\b", text) == [str(number) for number in range(40)]
    assert "40 texts" not in text
    assert token_bound(text) <= 800


def test_navigation_is_left_out_before_other_elements():
    menu = "".join(f'<a act href="/m{n}">Department of things {n}</a>' for n in range(120))
    main = "".join(f'<p>words</p><a act href="/e{n}">Entry number {n}</a>' for n in range(50))
    text = compact_text(view_of(f"<html><body><nav>{menu}</nav><main>{main}</main></body></html>"))
    assert len(re.findall(r"\[\d+\] Entry", text)) == 50
    left_out = re.search(r"\((\d+) elements and 50 texts left out\)$", text)
    assert left_out
    shown = len(re.findall(r"\[\d+\] Dep", text))
    assert int(left_out[1]) == 120 - shown
    assert shown > 0


def test_scrolling_shows_what_was_left_out():
    rows = "".join(
        f'<p>{"some long text about it " * 12} {n}.</p><a act href="/{n}">Entry number {n}</a>' for n in range(60)
    )
    top, end = (compact_text(view_of(rows, scroll=scroll, height=1440)).splitlines() for scroll in (0, 720))
    assert top[-1] == "(scroll down for more)"
    assert end[-1] == "(scroll up for more)"
    assert top[0].startswith("some long text")
    assert end[0].startswith("[0] Entry number 0 [1]")
    assert re.fullmatch(r"\(0 elements and \d+ texts left out\)", end[-2])


def test_long_lists_of_options_are_shortened():
    options = "".join(f'<option box="" value="{n}">Option number {n}</option>' for n in range(300))
    text = compact_text(view_of(f'<select act aria-label="Pick" live="7">{options}</select>'))
    assert text.startswith("[0] select Pick: Option number 7 | options Option number 0, ")
    assert text.endswith("and 280 more")
