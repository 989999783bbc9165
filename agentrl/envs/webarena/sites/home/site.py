"""The home page's `site`, and its base data: none but an empty scratchpad."""

from __future__ import annotations

import ast
import math
import operator
import sqlite3
from typing import Any

from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.places import PLACES
from agentrl.envs.webarena.sites.site import Context, Site

VERSION = "1"
ABOUT = {
    "shopping": ("The shop", "Products, search, cart, checkout, orders, reviews, wish list"),
    "shopping_admin": ("The shop's administration", "Orders, customers, products, reviews, pages, reports"),
    "reddit": ("The forum", "Forums, submissions, comments, votes, profiles"),
    "gitlab": ("The code host", "Projects, files, commits, issues, merge requests, members"),
    "map": ("The map", "Places, search, details, directions by car, bicycle and on foot"),
    "homepage": ("The home page", "All sites, a calculator, a scratchpad"),
}
LONGEST = 200  # characters of a calculation, so that Python's parser can read it whatever it is
_SIGNS: dict[type[ast.AST], Any] = {
    **{ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv},
    **{ast.Mod: math.fmod, ast.Pow: math.pow, ast.UAdd: operator.pos, ast.USub: operator.neg},
}  # fmt: skip
site = Site("home", "home", "home_session")


def build(connection: sqlite3.Connection) -> None:
    """Fill an empty database."""
    connection.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")


@site.get("/")
def index(context: Context) -> Response:
    """The other sites and the tools."""
    cards = [(place.url, *ABOUT[name]) for name, place in PLACES.items() if name != "homepage"]
    tools = [("/calculator.html", "Calculator", "Sums, products, powers and brackets")]
    tools += [("/scratchpad.html", "Scratchpad", "Notes to keep while you work")]
    return context.page("home.html", cards=cards + tools)


@site.get("/calculator.html")
def calculator(context: Context) -> Response:
    """An expression and what it comes to."""
    asked = context.query("expression")
    return context.page("calculator.html", asked=asked, result=calculated(asked) if asked.strip() else "")


@site.get("/scratchpad.html")
def scratchpad(context: Context) -> Response:
    """The notes, the newest first."""
    return context.page("scratchpad.html", notes=context.db.rows("SELECT text FROM note ORDER BY id DESC"))


@site.post("/scratchpad.html")
def add_note(context: Context) -> Response:
    """Keep a note."""
    if text := context.form("text").strip():
        context.db.insert("note", text=text)
    return context.redirect("/scratchpad.html")


def calculated(text: str) -> str:
    """What an expression of numbers, + - * / % ** (or ^) and brackets comes to, or that it is none."""
    try:
        if len(text) > LONGEST:
            raise ValueError("too long")
        found = _value(ast.parse(text.strip().replace("^", "**"), mode="eval").body)
        if not math.isfinite(found):
            raise ValueError("too large")
        return f"{found:.15g}"
    except (ArithmeticError, KeyError, MemoryError, RecursionError, SyntaxError, TypeError, ValueError):
        return "This cannot be calculated"


def _value(node: ast.AST) -> float:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return float(number)
        case ast.UnaryOp(op=sign, operand=inner):
            return _SIGNS[type(sign)](_value(inner))
        case ast.BinOp(left=left, op=sign, right=right):
            return _SIGNS[type(sign)](_value(left), _value(right))
    raise ValueError("no arithmetic")
