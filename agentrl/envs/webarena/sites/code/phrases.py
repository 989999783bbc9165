"""Sentences of issues, merge requests and comments. {noun} and the like are words of the project."""

# ruff: noqa: E501  (tables read better with one entry on a line)
from __future__ import annotations

LABELS = (
    ("bug", "#d9534f", "Something does not work"), ("feature", "#428bca", "Something new"), ("documentation", "#5c8d3f", "Manual and comments"),
    ("question", "#8e44ad", "Somebody needs an answer"), ("performance", "#c77700", "Too slow or too large"), ("help wanted", "#2e8b8b", "Take it, please"),
    ("good first issue", "#6699cc", "For newcomers"), ("security", "#7a1f3d", "Handle with care"), ("design", "#b5651d", "Looks and wording"), ("wontfix", "#7f8c8d", "Stays as it is"),
)  # fmt: skip
# Titles of issues with the label that they usually have.
ISSUES = (
    ("{Noun} is lost after the {other} changes", "bug"), ("Crash when the {noun} has no {quality}", "bug"),
    ("Wrong {quality} shown for a {noun}", "bug"), ("The {other} list is empty on the first start", "bug"),
    ("{Noun} and {other} disagree after an update", "bug"), ("Error message for an invalid {noun} is misleading", "bug"),
    ("Cannot {verb} a {noun} with a long name", "bug"), ("{Verb} fails without a network", "bug"),
    ("Allow more than {n} {noun}s", "feature"), ("Add an option to {verb} the {other}", "feature"),
    ("Export every {noun} as a table", "feature"), ("Remember the last {noun} between sessions", "feature"),
    ("Keyboard shortcut to {verb} the {noun}", "feature"), ("Show the {quality} next to the {noun}", "feature"),
    ("Undo for a deleted {noun}", "feature"), ("Group the {noun}s by {other}", "feature"),
    ("Explain the {quality} of a {noun} in the manual", "documentation"), ("Example for {noun} and {other} is outdated", "documentation"),
    ("Add a page about how to {verb} a {noun}", "documentation"), ("How do I {verb} a {noun}?", "question"),
    ("What does the {quality} of the {other} mean?", "question"), ("Is it safe to {verb} a {noun} twice?", "question"),
    ("{Verb} takes {m} seconds with {n} {noun}s", "performance"), ("Memory grows with every {noun}", "performance"),
    ("Cache the {quality} of each {noun}", "performance"), ("Check the {noun} before it is stored", "security"),
    ("The {other} is readable by everybody", "security"), ("{Noun} looks crowded on small screens", "design"),
    ("Better contrast for the {noun}", "design"), ("Rename {noun} to {other} in the interface", "design"),
    ("Test the {noun} with {n} {other}s", "good first issue"), ("Typo in the {noun} settings", "good first issue"),
)  # fmt: skip
OPENINGS = (
    "Since the last release the {noun} behaves differently.", "I found this while I was trying to {verb} a {noun}.",
    "Several people asked for this in the past weeks.", "We noticed this with a {noun} that has {n} {other}s.",
    "This has been on my mind for a while.", "My setup: default configuration, one {noun}, {m} {other}s.",
)  # fmt: skip
DETAILS = (
    "The {quality} should stay the same, but it is {m} afterwards.", "I would expect the {other} to follow the {noun}.",
    "It happens about once in {n} attempts.", "Without the {other} everything is fine.",
    "It would save me a lot of clicking.", "The manual says nothing about the {quality} of a {noun}.",
    "A workaround is to {verb} the {other} by hand.", "I can send a merge request if you agree with the idea.",
    "Other programs show the {quality} right beside the {noun}.", "Please keep the current behaviour as the default.",
)  # fmt: skip
STEPS = "## Steps\n\n1. Create a {noun} with {m} {other}s.\n2. {Verb} the {noun}.\n3. Look at the {quality}.\n\nExpected: {n}. Found: {m}."
COMMENTS = (
    "I can reproduce this with version 1.{m}.", "Could you attach the {noun} that causes it?", "Same here, with {n} {noun}s.",
    "I think the {other} is to blame. Looking into it.", "Thanks for the report, that is a real gap.",
    "This is related to how we {verb} the {noun}.", "Would a setting for the {quality} be enough?",
    "Agreed. Let us do it after the next release.", "I had a look: the {quality} is computed twice.",
    "Please do not change the format of the {noun} for this.", "A test for this would be very welcome.",
    "Works for me on the main branch, can you try again?", "I like the idea, but the {other} needs a better name.",
    "Let us discuss this at the next meeting.", "For the record: the old behaviour was not documented either.",
    "I started on this, a merge request will follow.", "That explains the strange {quality} I saw last week.",
    "The {noun} part is easy; the {other} is what worries me.", "Any news on this?", "Moved to the next milestone.",
    "It also happens when you {verb} a {noun} without a {other}.", "Confirmed on two machines.",
)  # fmt: skip
REVIEWS = (
    "Looks good to me.", "Could you add a test for an empty {noun}?", "Nice, that is much simpler than before.",
    "Why {n} and not {m}?", "The name of the {other} is confusing here.", "I tried it with my own {noun}, works well.",
    "Please rebase, the {noun} code has changed on main.", "One question: what happens without a {other}?",
    "Good catch.", "The pipeline is green, merging soon.", "Let us split the {other} part into its own change.",
    "I would {verb} the {noun} first and then look at the {quality}.", "Done, please have another look.",
    "Thank you for the quick turnaround!", "Small remark about the wording, otherwise fine.", "Can this wait for the release?",
)  # fmt: skip
MILESTONES = ("1.0", "1.1", "1.2", "2.0", "Spring clean-up", "Summer release", "Documentation sprint", "Autumn release")
