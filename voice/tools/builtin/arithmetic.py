"""Sums in words or digits: "twelve times seven", "fifteen percent of eighty", "(2 + 3) squared".

A recursive descent parser over a fixed vocabulary; nothing is ever evaluated as code.

    sum     := product (("plus" | "minus") product | "rounded" | "rounded up" | "rounded down")*
    product := signed (("times" | "over" | "modulo") signed)*
    signed  := "minus" signed | power
    power   := postfix ("^" signed)?
    postfix := atom ("squared" | "cubed" | "percent" [("of" | "off") signed])*
    atom    := number | "(" sum ")" | ("square root of" | "cube root of" | "half of" ...) signed
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import (
    ROUND_CEILING,
    ROUND_FLOOR,
    ROUND_HALF_UP,
    Context,
    Decimal,
    DecimalException,
    DivisionByZero,
    InvalidOperation,
    Overflow,
)
from typing import Annotated

from voice.tools import phrasing
from voice.tools.registry import Readable, ToolError, Unreadable, tool
from voice.tools.spoken_numbers import NUMBER, digits

_LARGEST = Decimal(10) ** 15
_LONGEST_CHARS = 300
_NO_SUM = "I could not calculate that."
_CONTEXT = Context(prec=30, traps=[DivisionByZero, InvalidOperation, Overflow])

_REWRITES: tuple[tuple[str, str], ...] = (
    (r"\bthat (?=\d)", ""),
    (r"^(?:what is|what's|how much is|calculate|compute|the result of)\b", ""),
    (r"(?:=|\bequals?|\bis)$", ""),
    (r"^add ([\d.]+ ?(?:%|percent)) to (.+)$", r"\2 plus \1"),
    (r"^(?:add|the sum of) (.+?) (?:and|to|plus) (.+)$", r"\1 plus \2"),
    (r"^subtract (.+?) from (.+)$", r"\2 minus \1"),
    (r"^(?:multiply|the product of) (.+?) (?:by|and|with) (.+)$", r"\1 times \2"),
    (r"^(?:divide|split|share) (.+?) (?:by|between|among) (.+)$", r"\1 divided by \2"),
    (r"^(?:divide|split|share) (.+?) (\d+) ways$", r"\1 divided by \2"),
    (r"^take ([\d.]+) (?:off|from|away from) (.+)$", r"\2 minus \1"),
    (r"^round (.+?)(?: (up|down|off))?$", r"\1 rounded \2"),
    (r"^the difference (?:between|of) (.+?) and (.+)$", r"\1 minus \2"),
    # "Eighty four fifty", "eighty four dollars and fifty cents".
    (r"\b(\d{1,4}) (?:(?:dollars?|pounds?|euros?) (?:and )?)?(\d\d)(?: cents?| pence)?(?![\d.])",
     r"\1.\2"),
)  # fmt: skip
"""Sentences around a sum → the sum; what is read back to the user is rewritten too."""

_WORDS: tuple[tuple[str, str], ...] = (
    (r"(?:raised )?to the (?:power of|power)", "^"),
    (r"(?:raised )?to the (\d+)(?:st|nd|rd|th)(?: power)?", r"^ \1"),
    (r"cube root(?: of)?", "cbrt"),
    (r"(?:square )?root(?: of)?", "sqrt"),
    (r"open(?:ing)? (?:paren(?:thesis|theses)?|brackets?)|\[", "("),
    (r"clos(?:e|ed|ing) (?:paren(?:thesis|theses)?|brackets?)|\]", ")"),
    (r"(?:and )?added to|and then plus", "+"),
    (r"take ?away", "-"),
    (r"multiplied (?:by|with)", "*"),
    (r"divided (?:by|with)|split (?:by|between)", "/"),
    (
        r"(?:percent|%)(?: (?:tip|discount|deposit|interest|commission|vat|gst|(?:sales )?tax))?"
        r" (?:of|on)",
        "pof",
    ),
    (r"(?:percent|%)(?: discount)? off(?: of)?", "poff"),
    (r"rounded up", "ceil"),
    (r"rounded down", "floor"),
    (r"rounded(?: off)?", "nearest"),
    (r"half of|halve", "0.5 *"),
    (r"(0\.\d+) of", r"\1 *"),
    (r"double|twice", "2 *"),
    (r"triple", "3 *"),
)
_TOKENS = {
    "plus": "+", "and": "+", "minus": "-", "less": "-", "negative": "-", "times": "*", "x": "*",
    "by": "*", "over": "/", "modulo": "mod", "percent": "%",
    "×": "*", "÷": "/", "**": "^",
}  # fmt: skip
_IGNORED = {"the", "a", "an", "dollars", "dollar", "euros", "pounds", "people", *"$€£¥₹"}
_ROUNDED = {"ceil": ROUND_CEILING, "floor": ROUND_FLOOR, "nearest": ROUND_HALF_UP}
_Sum = Annotated[str, Readable(lambda said, _: _several(said), refuses=False)]
_TOKEN = re.compile(rf"{NUMBER}|[a-z]+|\*\*|[-+*/^%()×÷]|\S")


@tool(read_only=True)
def calculate(expression: _Sum) -> str:
    """Work out a sum."""
    value = evaluate(expression)
    if abs(value) >= _LARGEST:
        raise ToolError("That number is too large to say.")
    said = _restated(digits(expression, fractions=False))
    return f"{phrasing.sentence(said)} is {phrasing.number(value)}."


def _several(expression: str) -> Decimal:
    """The value of a sum that is more than a single number or percentage."""
    if len([one for one in _tokens(expression[:_LONGEST_CHARS]) if one != "%"]) < 2:
        raise Unreadable("sum", expression, _NO_SUM)
    return evaluate(expression)


def evaluate(expression: str) -> Decimal:
    """The value of a spoken sum.

    Raises:
        Unreadable: It is not a sum.
        ToolError: It divides by zero, or is out of range.
    """
    if len(expression) > _LONGEST_CHARS:
        raise Unreadable("sum", expression, _NO_SUM)
    try:
        return _Parser(_tokens(expression)).value()
    except DivisionByZero as error:
        raise ToolError("I cannot divide by zero.") from error
    except (_NotASum, DecimalException, RecursionError) as error:
        raise Unreadable("sum", expression, _NO_SUM) from error


class _NotASum(Exception):
    """The words are not a sum."""


def _restated(said: str) -> str:
    for pattern, replacement in _REWRITES:
        said = re.sub(pattern, replacement, said).strip()
    return said


def _tokens(expression: str) -> list[str]:
    said = re.sub(
        r"\bto the (second|third)\b(?: power\b|(?! of\b))", _digit_power, expression.lower()
    )
    said = re.sub(r" ?% ?", " % ", _restated(digits(said)))
    for pattern, replacement in _WORDS:
        said = re.sub(rf"(?<!\w)(?:{pattern})(?!\w)", f" {replacement} ", f"{said} ")
    tokens = (_TOKENS.get(token, token) for token in _TOKEN.findall(said))
    return [token for token in tokens if token not in _IGNORED]


def _digit_power(match: re.Match[str]) -> str:
    return f"to the power of {2 if match[1] == 'second' else 3}"


class _Parser:
    """One pass over the tokens of one sum."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0

    def value(self) -> Decimal:
        value = self._sum()
        if self._at != len(self._tokens):
            raise _NotASum
        return value

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self, *tokens: str) -> str | None:
        token = self._peek()
        if token and token in tokens:
            self._at += 1
            return token
        return None

    def _sum(self) -> Decimal:
        value = self._product()
        while operator := self._take("+", "-", *_ROUNDED):
            if operator in _ROUNDED:
                value = value.to_integral_value(_ROUNDED[operator], _CONTEXT)
                continue
            start = self._at
            right = self._product()
            if self._tokens[start + 1 : self._at] == ["%"]:
                # "eighty plus ten percent" adds ten percent of the eighty.
                right = _CONTEXT.multiply(value, right)
            value = _CONTEXT.add(value, right if operator == "+" else -right)
        return value

    def _product(self) -> Decimal:
        value = self._signed()
        apply: dict[str, Callable[[Decimal, Decimal], Decimal]] = {
            "*": _CONTEXT.multiply,
            "/": _divided,
            "mod": _CONTEXT.remainder,
        }
        while operator := self._take(*apply):
            value = apply[operator](value, self._signed())
        return value

    def _signed(self) -> Decimal:
        return -self._signed() if self._take("-") else self._power()

    def _power(self) -> Decimal:
        value = self._postfix()
        return _power(value, self._signed()) if self._take("^") else value

    def _postfix(self) -> Decimal:
        value = self._atom()
        while mark := self._take("squared", "cubed", "%", "pof", "poff"):
            if mark == "squared":
                value = _power(value, Decimal(2))
            elif mark == "cubed":
                value = _power(value, Decimal(3))
            else:
                value = _CONTEXT.divide(value, Decimal(100))
            if mark == "pof":
                value = _CONTEXT.multiply(value, self._signed())
            elif mark == "poff":
                value = _CONTEXT.multiply(1 - value, self._signed())
        return value

    def _atom(self) -> Decimal:
        if self._take("("):
            value = self._sum()
            if not self._take(")"):
                raise _NotASum
            return value
        if self._take("sqrt"):
            return _CONTEXT.sqrt(self._signed())
        if self._take("cbrt"):
            value = self._signed()
            root = _CONTEXT.power(abs(value), Decimal(1) / 3)
            return round(root.copy_sign(value), 12)
        token = self._peek()
        if not re.fullmatch(NUMBER, token):
            raise _NotASum
        self._at += 1
        return Decimal(token)


def _divided(value: Decimal, divisor: Decimal) -> Decimal:
    # Decimal raises another error for 0 / 0.
    if divisor == 0:
        raise DivisionByZero
    return _CONTEXT.divide(value, divisor)


def _power(base: Decimal, exponent: Decimal) -> Decimal:
    # Far outside what can be said, and slow to compute.
    if abs(exponent) > 1000:
        raise Overflow
    if base == 0 and exponent < 0:
        raise DivisionByZero
    return _CONTEXT.power(base, exponent)
