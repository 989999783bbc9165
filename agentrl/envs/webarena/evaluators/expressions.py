"""JavaScript expressions as tasks use them to look at a page: a tokenizer and a parser, and nothing that runs code.

`parse` turns a text into a function of the names it uses (`document`, the arguments of arrow functions). What the
values are and which methods they have is the business of `values.py` and `nodes.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from agentrl.envs.webarena.evaluators.nodes import get
from agentrl.envs.webarena.evaluators.values import (
    UNDEFINED,
    LocatorError,
    UnreadableLocator,
    add,
    call,
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
CONSTANTS: dict[str, Any] = {"true": True, "false": False, "null": None, "undefined": UNDEFINED}


class _EndOfChain(Exception):
    """`?.` met nothing: the rest of the chain is left out."""


@dataclass(frozen=True)
class Token:
    """A piece of the text; `kind` is number, string, name, sign or end."""

    kind: str
    text: str


@lru_cache(512)
def parse(text: str) -> Expression:
    """The expression as a function; `UnreadableLocator` if it is none, or uses something that is not known here."""
    if len(text) > MAX_LENGTH:
        raise UnreadableLocator(f"an expression may have {MAX_LENGTH:,} characters; this one has {len(text):,}")
    parser = _Parser(_tokens(text))
    try:
        expression = parser.expression()
    except RecursionError:
        raise UnreadableLocator("the expression is nested too deeply") from None
    parser.accept(";")
    if parser.token.kind != "end":
        raise UnreadableLocator(f"unexpected {parser.token.text!r}")
    return expression


def _tokens(text: str) -> list[Token]:
    tokens, place = [], 0
    while place < len(text):
        found = TOKEN.match(text, place)
        if found is None:
            raise UnreadableLocator(f"unexpected {text[place]!r} at character {place + 1}")
        if found.lastgroup is not None:
            tokens.append(Token(found.lastgroup, found[0]))
        place = found.end()
    return [*tokens, Token("end", "")]


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", lambda escape: ESCAPES.get(escape[1], escape[1]), text[1:-1], flags=re.DOTALL)


class _Parser:
    """Recursive descent; each method reads one kind of expression and returns it as a function."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens, self.place = tokens, 0

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

    # ------------------------------------------------------------------ operators, weakest first

    def expression(self) -> Expression:
        parameters = self._arrow_parameters()
        return self._choice() if parameters is None else self._arrow(parameters)

    def _choice(self) -> Expression:
        test = self._either()
        if not self.accept("?"):
            return test
        yes = self.expression()
        self.expect(":")
        no = self.expression()
        return lambda names: yes(names) if is_true(test(names)) else no(names)

    def _either(self) -> Expression:
        left = self._both()
        while sign := self.accept("||", "??"):
            left = _either(sign, left, self._both())
        return left

    def _both(self) -> Expression:
        left = self._comparison()
        while self.accept("&&"):
            left = _both(left, self._comparison())
        return left

    def _comparison(self) -> Expression:
        left = self._sum()
        while sign := self.accept("===", "!==", "==", "!=", "<", ">", "<=", ">="):
            left = _compare(sign, left, self._sum())
        return left

    def _sum(self) -> Expression:
        left = self._unary()
        while sign := self.accept("+", "-"):
            left = _sum(sign, left, self._unary())
        return left

    def _unary(self) -> Expression:
        if self.accept("!"):
            operand = self._unary()
            return lambda names: not is_true(operand(names))
        return self._chain()

    # ------------------------------------------------------------------ chains: a.b?.c[d](e)

    def _chain(self) -> Expression:
        value = self._primary()
        while sign := self.accept(".", "?.", "[", "("):
            value = self._link(value, sign)

        def run(names: Names) -> Any:
            try:
                return value(names)
            except _EndOfChain:
                return UNDEFINED

        return run

    def _link(self, value: Expression, sign: str) -> Expression:
        optional = sign == "?."
        if optional:
            sign = self.accept("[", "(") or "."
        if sign == "(":
            arguments = self._list(")")
            return lambda names: call(value(names), arguments(names))
        key: Expression
        if sign == "[":
            key = self.expression()
            self.expect("]")
        else:
            name = self.name()
            key = lambda _: name  # noqa: E731
        return _member(value, key, optional)

    def _primary(self) -> Expression:
        token = self.token
        if self.accept("("):
            inner = self.expression()
            self.expect(")")
            return inner
        if self.accept("["):
            return self._list("]")
        self.place += 1
        if token.kind == "string":
            text = _unquoted(token.text)
            return lambda _: text
        if token.kind == "number":
            number = float(token.text) if "." in token.text else int(token.text)
            return lambda _: number
        if token.kind == "name":
            return _name(token.text)
        raise UnreadableLocator(f"unexpected {token.text or 'end'!r}")

    def _list(self, end: str) -> Expression:
        """Values up to a bracket; `...x` stands for all values of x."""
        items: list[tuple[bool, Expression]] = []
        while not self.accept(end):
            spread = self.accept("...") is not None
            items.append((spread, self.expression()))
            if not self.accept(","):
                self.expect(end)
                break
        return lambda names: _gathered(items, names)

    # ------------------------------------------------------------------ arrow functions

    def _arrow_parameters(self) -> list[str] | None:
        """The names before an arrow, if an arrow function begins here."""
        start = self.place
        try:
            names = self._parameter_names()
            self.expect("=>")
            return names
        except UnreadableLocator:
            self.place = start
            return None

    def _parameter_names(self) -> list[str]:
        if not self.accept("("):
            return [self.name()]
        names: list[str] = []
        while not self.accept(")"):
            names.append(self.name())
            if not self.accept(","):
                self.expect(")")
                break
        return names

    def _arrow(self, parameters: list[str]) -> Expression:
        if self.accept("{"):  # { return x; }
            if self.name() != "return":
                raise UnreadableLocator("the body of a function must be one return")
            body = self.expression()
            self.accept(";")
            self.expect("}")
        else:
            body = self.expression()

        def make(names: Names) -> Callable[..., Any]:
            return lambda *arguments: body({**names, **dict(zip(parameters, arguments, strict=False))})

        return make


# ---------------------------------------------------------------------- what the operators do


def _name(name: str) -> Expression:
    if name in CONSTANTS:
        return lambda _: CONSTANTS[name]

    def look_up(names: Names) -> Any:
        if name not in names:
            raise UnreadableLocator(f"the name {name[:50]!r} is not known without a browser")
        return names[name]

    return look_up


def _member(value: Expression, key: Expression, optional: bool) -> Expression:
    def read(names: Names) -> Any:
        owner = value(names)
        if optional and is_nullish(owner):
            raise _EndOfChain
        return get(owner, key(names))

    return read


def _either(sign: str, left: Expression, right: Expression) -> Expression:
    def choose(names: Names) -> Any:
        first = left(names)
        keep = is_true(first) if sign == "||" else not is_nullish(first)
        return first if keep else right(names)

    return choose


def _both(left: Expression, right: Expression) -> Expression:
    def choose(names: Names) -> Any:
        first = left(names)
        return right(names) if is_true(first) else first

    return choose


def _compare(sign: str, left: Expression, right: Expression) -> Expression:
    return lambda names: truth(sign, left(names), right(names))


def _sum(sign: str, left: Expression, right: Expression) -> Expression:
    return lambda names: add(sign, left(names), right(names))


def _gathered(items: list[tuple[bool, Expression]], names: Names) -> list[Any]:
    values: list[Any] = []
    for spread, item in items:
        value = item(names)
        if spread and not isinstance(value, (list, tuple, str)):
            raise LocatorError("only a list can be spread")
        values.extend(value if spread else [value])
    return values
