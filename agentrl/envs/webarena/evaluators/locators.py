"""`evaluate_locator`: what a task's JavaScript expression gives on a page, without a browser.

`parse` turns the text into a function of the names it uses (`document`, the arguments of arrow functions): a tokenizer
and a parser, and nothing that runs code. What the values are and which methods they have is the business of `nodes.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from agentrl.envs.webarena.evaluators.inner_text import BY_TAG, Styles
from agentrl.envs.webarena.evaluators.nodes import (
    KNOWN,
    SELECTING,
    STEP,
    UNDEFINED,
    Budget,
    Document,
    LocatorError,
    Node,
    Page,
    TextNode,
    UnreadableLocator,
    add,
    call,
    compiled,
    get,
    is_nullish,
    is_true,
    truth,
)

MAX_LENGTH = 20_000  # characters of an expression
Names = Mapping[str, Any]
Expression = Callable[[Names], Any]
TOKEN = re.compile(
    r"""\s+
    | (?P<number>\d+(?:\.\d+)?)
    | (?P<string>"(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' | `(?:[^`\\$]|\\.)*`)
    | (?P<name>[A-Za-z_$][\w$]*)
    | (?P<sign>\.\.\.|=>|===|!==|==|!=|<=|>=|\|\||&&|\?\?|\?\.(?!\d)|[.,()\[\]{}?:;!<>+-])""",
    re.VERBOSE | re.DOTALL,
)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}
BUDGET = ""  # among the names, where no expression can say it
CONSTANTS: dict[str, Any] = {"true": True, "false": False, "null": None, "undefined": UNDEFINED}
# Operators between two values, the weakest first.
OPERATORS = (("||", "??"), ("&&",), ("===", "!==", "==", "!=", "<", ">", "<=", ">="), ("+", "-"))


def evaluate_locator(
    expression: str, root: Any, values: Mapping[Any, str] | None = None, styles: Styles = BY_TAG
) -> str:
    """The value of an expression such as `document.querySelector("#total").outerText`, as text.

    `root` is the <html> element (lxml), `values` the live contents of fields by element (as in `View`), `styles` say
    how elements are displayed where style sheets are known. An expression that fails on the page gives "", as in the
    benchmark; other values look as Python prints them there: "None" for null, "True", "3". `UnreadableLocator`, an
    `EnvFault`, where the expression uses something that is not known here: then nobody can say what it would give.
    """
    page = Page(root, values or {}, styles)
    try:
        found = parse(expression)({"document": Document(page), BUDGET: page.budget})
        value = found() if callable(found) else found  # "() => ..." is called, as browsers' drivers do
        return value if isinstance(value, str) else _printed(value, page.budget)
    except RecursionError:
        raise UnreadableLocator("the expression is nested too deeply") from None
    except (TypeError, AttributeError, ValueError):  # LocatorError, and what Python says about wrong arguments
        return ""


def _printed(value: Any, budget: Budget) -> str:
    """As Python prints it."""
    budget.spend(STEP + (len(value) if isinstance(value, str) else 0))
    if value is UNDEFINED:
        return "None"
    if isinstance(value, list):
        return f"[{', '.join(_printed(item, budget) for item in value)}]"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "ref: <Node>" if isinstance(value, (Node, Document, TextNode)) else repr(value)


def check_locator(expression: str) -> None:
    """`UnreadableLocator` with the reason where an expression cannot be read, or uses a name, a property, a method or a
    CSS selector that is not known here. What it calculates by itself (`x[y]`) is seen only when it runs."""
    parser = _read(expression)[1]
    unknown = [f"the name {name!r}" for name in parser.names - parser.arguments - {"document"}]
    unknown += [f"the property {name!r}" for name in parser.members - KNOWN]
    for selector in parser.selectors:
        try:
            compiled(selector)
        except LocatorError:
            unknown.append(f"the CSS selector {selector!r}")
    if unknown:
        raise UnreadableLocator(f"{min(unknown)[:90]} is not known without a browser")


# ---------------------------------------------------------------------- reading expressions


class Token(NamedTuple):
    """A piece of the text; `kind` is number, string, name, sign or end."""

    kind: str
    text: str


class _EndOfChain(Exception):
    """`?.` met nothing: the rest of the chain is left out."""


def parse(text: str) -> Expression:
    """The expression as a function; `UnreadableLocator` if it is none, or uses something that is not known here."""
    return _read(text)[0]


@lru_cache(512)
def _read(text: str) -> tuple[Expression, _Parser]:
    if len(text) > MAX_LENGTH:
        raise UnreadableLocator(f"an expression may have {MAX_LENGTH:,} characters; this one has {len(text):,}")
    tokens, place = [], 0
    while place < len(text):
        found = TOKEN.match(text, place)
        if found is None:
            raise UnreadableLocator(f"unexpected {text[place]!r} at character {place + 1}")
        if found.lastgroup is not None:
            tokens.append(Token(found.lastgroup, found[0]))
        place = found.end()
    parser = _Parser([*tokens, Token("end", "")])
    try:
        expression = parser.expression()
    except RecursionError:
        raise UnreadableLocator("the expression is nested too deeply") from None
    parser.accept(";")
    if parser.token.kind != "end":
        raise UnreadableLocator(f"unexpected {parser.token.text!r}")
    return expression, parser


class _Parser:
    """Recursive descent; each method reads one kind of expression and returns it as a function."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens, self.place = tokens, 0
        self.names, self.arguments, self.members = set[str](), set[str](), set[str]()  # that occur
        self.selectors = set[str]()  # given as texts

    @property
    def token(self) -> Token:
        return self.tokens[self.place]

    def accept(self, *signs: str) -> str | None:
        """Read one of these signs if it comes next."""
        if self.token.kind == "sign" and self.token.text in signs:
            self.place += 1
            return self.tokens[self.place - 1].text
        return None

    def expect(self, sign: str) -> None:
        if self.accept(sign) is None:
            raise UnreadableLocator(f"expected {sign!r}, found {self.token.text or 'the end'!r}")

    def name(self) -> str:
        if self.token.kind != "name":
            raise UnreadableLocator(f"expected a name, found {self.token.text or 'the end'!r}")
        self.place += 1
        return self.tokens[self.place - 1].text

    def expression(self) -> Expression:
        """An arrow function, or `test ? yes : no`, or what is stronger than that."""
        start = self.place
        try:
            parameters = self.parameters()
        except UnreadableLocator:
            self.place = start
        else:
            return self.function(parameters)
        test = self.operation()
        if not self.accept("?"):
            return test
        yes = self.expression()
        self.expect(":")
        no = self.expression()
        return lambda names: yes(names) if is_true(test(names)) else no(names)

    def parameters(self) -> list[str]:
        """The names before an arrow, and the arrow."""
        names: list[str] = []
        if not self.accept("("):
            names.append(self.name())
        else:
            while not self.accept(")"):
                names.append(self.name())
                if not self.accept(","):
                    self.expect(")")
                    break
        self.expect("=>")
        self.arguments.update(names)
        return names

    def function(self, parameters: list[str]) -> Expression:
        """The body of an arrow function: an expression, or `{ return x; }`."""
        if self.accept("{"):
            if self.name() != "return":
                raise UnreadableLocator("the body of a function must be one return")
            body = self.expression()
            self.accept(";")
            self.expect("}")
        else:
            body = self.expression()

        def close(names: Names) -> Callable[..., Any]:
            def run(*arguments: Any) -> Any:
                names[BUDGET].spend(len(names) + len(parameters))
                return body({**names, **dict(zip(parameters, arguments, strict=False))})

            return run

        return close

    def operation(self, strength: int = 0) -> Expression:
        """Values joined by operators of this strength or more."""
        if strength < len(OPERATORS):
            left = self.operation(strength + 1)
            while sign := self.accept(*OPERATORS[strength]):
                left = _joined(sign, left, self.operation(strength + 1))
            return left
        if self.accept("!"):
            operand = self.operation(strength)
            return lambda names: names[BUDGET].spend(STEP) or not is_true(operand(names))
        return self.chain()

    def chain(self) -> Expression:
        """A value with what hangs on it: a.b?.c[d](e)"""
        value, selecting = self.primary(), False
        while sign := self.accept(".", "?.", "[", "("):
            optional = sign == "?."
            if optional:
                sign = self.accept("[", "(") or "."
            if sign == "(":
                if selecting and self.token.kind == "string":
                    self.selectors.add(_unquoted(self.token.text))
                value = _called(value, self.values(")"))
            elif sign == "[":
                value = _member(value, self.expression(), optional)
                self.expect("]")
            else:
                name = self.name()
                self.members.add(name)
                selecting = name in SELECTING
                value = _member(value, _constant(name), optional)

        def run(names: Names) -> Any:
            try:
                return value(names)
            except _EndOfChain:
                return UNDEFINED

        return run

    def primary(self) -> Expression:
        token = self.token
        if self.accept("("):
            inner = self.expression()
            self.expect(")")
            return inner
        if self.accept("["):
            return self.values("]")
        self.place += 1
        if token.kind == "string":
            return _constant(_unquoted(token.text))
        if token.kind == "number":
            return _constant(float(token.text) if "." in token.text or len(token.text) > 15 else int(token.text))
        if token.kind != "name":
            raise UnreadableLocator(f"unexpected {token.text or 'end'!r}")
        if token.text in CONSTANTS:
            return _constant(CONSTANTS[token.text])
        self.names.add(token.text)

        def look_up(names: Names) -> Any:
            names[BUDGET].spend(STEP)
            if token.text not in names:
                raise UnreadableLocator(f"the name {token.text[:50]!r} is not known without a browser")
            return names[token.text]

        return look_up

    def values(self, end: str) -> Expression:
        """Values up to a bracket; `...x` stands for all values of x."""
        items: list[tuple[bool, Expression]] = []
        while not self.accept(end):
            spread = self.accept("...") is not None
            items.append((spread, self.expression()))
            if not self.accept(","):
                self.expect(end)
                break

        def gather(names: Names) -> list[Any]:
            values = []
            for spread, item in items:
                value = item(names)
                if spread and not isinstance(value, (list, tuple, str)):
                    raise LocatorError("only a list can be spread")
                names[BUDGET].spend(STEP + (len(value) if spread else 0))
                values.extend(value if spread else [value])
            return values

        return gather


# ---------------------------------------------------------------------- what expressions do


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", lambda sign: ESCAPES.get(sign[1], sign[1]), text[1:-1], flags=re.DOTALL)


def _constant(value: Any) -> Expression:
    return lambda _: value


def _called(function: Expression, arguments: Expression) -> Expression:
    return lambda names: call(function(names), arguments(names), names[BUDGET])


def _member(value: Expression, key: Expression, optional: bool) -> Expression:
    def read(names: Names) -> Any:
        owner = value(names)
        if optional and is_nullish(owner):
            raise _EndOfChain
        names[BUDGET].spend(STEP)
        return get(owner, key(names), names[BUDGET])

    return read


def _joined(sign: str, left: Expression, right: Expression) -> Expression:
    def run(names: Names) -> Any:
        first, budget = left(names), names[BUDGET]
        budget.spend(STEP + (len(first) if isinstance(first, str) else 0))
        if sign in ("&&", "||", "??"):  # the second value is looked at only if it counts
            counts = is_nullish(first) if sign == "??" else is_true(first) == (sign == "&&")
            return right(names) if counts else first
        return add(sign, first, right(names), budget) if sign in ("+", "-") else truth(sign, first, right(names))

    return run
