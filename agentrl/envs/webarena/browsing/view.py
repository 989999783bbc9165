"""`View`: what a page is at one moment. Back ends make views; observations, labels and judges read them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

VIEWPORT = (1280, 720)


class Box(NamedTuple):
    """Where an element is, in pixels of the viewport: negative above and left of it."""

    left: int
    top: int
    width: int
    height: int


class Tab(NamedTuple):
    """One of the open tabs."""

    url: str
    title: str


@dataclass(frozen=True, eq=False)
class View:
    """The active tab. `root` is the <html> element (lxml); the dictionaries are keyed by its elements.

    Live contents of form fields are in `values`, not in the attributes of the tree: text of inputs and text areas, the
    value of a select, "on" or "" of check boxes and radio buttons. An element without a box is not displayed. `labels`
    are the elements an agent can act on, in document order: the place in the list is the element's id.
    """

    url: str
    title: str
    root: Any
    boxes: dict[Any, Box]
    labels: tuple[Any, ...]
    values: dict[Any, str]
    tabs: tuple[Tab, ...]
    active: int  # which of the tabs
    scroll: int = 0  # pixels from the top
    height: int = 0  # of the whole page
    focused: Any = None  # the element that has the keyboard
    status: int = 200
    viewport: tuple[int, int] = VIEWPORT
    error: str = ""  # why the page could not be shown, if it could not
    ids: dict[Any, int] = field(default_factory=dict)  # label -> id; filled in

    def __post_init__(self) -> None:
        self.ids.update({element: number for number, element in enumerate(self.labels)})

    def is_visible(self, element: Any) -> bool:
        """Does any part of the element lie within the viewport?"""
        box = self.boxes.get(element)
        if box is None:
            return False
        width, height = self.viewport
        return box.left < width and box.top < height and box.left + box.width > 0 and box.top + box.height > 0
