"""What an agent is told about each grammar."""

from __future__ import annotations

WEBRL = """\
Each turn write one call. Lines that begin with # may come before it, to describe the element or to keep a note.
do(action="Click", element="12") clicks the element with that id. In the same way: "Right Click", "Hover".
do(action="Type", argument="text", element="12") replaces what stands in a field.
do(action="Search", argument="text", element="12") does the same and presses Enter.
do(action="Select Dropdown Option", argument="Blue", element="12") chooses the first option that contains the text.
do(action="Press Enter") presses Enter; do(action="Press", argument="Tab") another key.
do(action="Scroll Down") and do(action="Scroll Up") move the page.
do(action="Switch Tab", argument="1") shows another tab, counted from 0. Also: "New Tab", "Close Tab", "Wait".
do(action="Go To", argument="http://...") opens an address. go_backward() and go_forward() move in the history.
quote("text") keeps a note. exit(message="answer") ends the task; the message is the answer, if one was asked for."""

WEBARENA = """\
Each turn write one action, alone or between three backticks:
click [12] clicks the element with that id. hover [12] and right_click [12] move the pointer there or click otherwise.
type [12] [text] [1] replaces what stands in a field and presses Enter, type [12] [text] [0] without Enter.
select [12] [Blue] chooses the first option of a list that contains the text.
press [ctrl+a] presses keys. scroll [down] and scroll [up] move the page.
new_tab opens a tab, tab_focus [1] shows another one, counted from 0, and close_tab closes this one.
goto [http://...] opens an address. go_back and go_forward move in the history. wait does nothing.
note [text] keeps a note. stop [answer] ends the task; leave the brackets empty if nothing was asked."""

BROWSERGYM = """\
Each turn write one call; the first one of a reply counts:
click("12") clicks the element with that id; click("12", button="right") with the other button. Also dblclick("12"),
hover("12"), focus("12").
fill("12", "text") replaces what stands in a field; fill("12", "text", enter=True) also presses Enter. clear("12").
select_option("12", "Blue") chooses an option. press("12", "Enter") presses a key there, keyboard_press("Tab") anywhere.
scroll(0, 200) moves the page down, scroll(0, -200) up, each time by two thirds of what is shown.
goto("http://...") opens an address. go_back(), go_forward(), new_tab(), tab_focus(1) (counted from 0), tab_close().
noop() waits. note("text") keeps a note. send_msg_to_user("answer") ends the task with an answer (or with "" if nothing
was asked), report_infeasible("reason") says that it cannot be done."""

_TEXTS = {"webrl": WEBRL, "webarena": WEBARENA, "browsergym": BROWSERGYM}


def describe(grammar: str) -> str:
    """The rules of a grammar, for the system prompt."""
    return _TEXTS[grammar]
