"""All regular expressions of the packages, and texts that make one of them slow.

A pattern is found where it is compiled or used, in the syntax tree of its module, and, where it is
put together in a loop, in the module itself. The texts come from the pattern's own parse tree: what
one of its repetitions takes, many times over, behind what leads there and before what it cannot
take. A backtracking matcher that needs more than linear time for any text needs it for such a one,
nearly always.
"""

from __future__ import annotations

import ast
import importlib
import re
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from heapq import nlargest
from operator import itemgetter
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any

from voice.tools.registry import Readable

_USES = ("match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer")
_ANCHORED = ("match", "fullmatch")
_UNKNOWN = "unknown"
"""Stands for what is known at run time alone, in a pattern that is put together there."""


@dataclass(frozen=True, slots=True)
class Found:
    """A pattern.

    Attributes:
        where: Module and line, or the module's name for it.
        uses: Methods that it is used by; empty where that is not known.
    """

    where: str
    pattern: re.Pattern[str]
    uses: frozenset[str] = frozenset()


def patterns_of(root: Path, package: str) -> tuple[list[Found], list[str]]:
    """All patterns of a package, each once, and the places where one is made of anything."""
    found: dict[tuple[str, int], Found] = {}
    unknown: list[str] = []
    for path in sorted((root / package).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if not re.search(r"^import re$", text, re.MULTILINE):
            continue
        name = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        tree, module = ast.parse(text), _imported(name)
        values = vars(module) if module else {}
        uses = _uses(tree)
        for label, one in _held(values, name):
            _add(found, Found(label, one, uses.get(label.rpartition(".")[2], frozenset())))
        known = _Names(tree, values)
        for call in ast.walk(tree):
            if not isinstance(call, ast.Call) or not (use := _of_re(call)):
                continue
            made = [*known.patterns(call, use)]
            if not made:
                unknown.append(f"{name}: {ast.unparse(call.args[0])}")
            for one in made:
                if use != "compile":
                    _add(found, Found(f"{name}:{call.lineno}", one, frozenset({use})))
                elif (one.pattern, one.flags) not in found:
                    _add(found, Found(f"{name}:{call.lineno}", one))
    return list(found.values()), sorted(set(unknown))


def _add(found: dict[tuple[str, int], Found], one: Found) -> None:
    if isinstance(one.pattern.pattern, str):
        key = one.pattern.pattern, one.pattern.flags
        before = found.setdefault(key, one)
        both = before.uses | one.uses if before.uses and one.uses else frozenset()
        found[key] = Found(before.where, one.pattern, both)


def _imported(name: str) -> ModuleType | None:
    if name.endswith("__main__"):
        return None
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:  # of an extra that is not installed
        return None


def _held(values: Mapping[str, Any], module: str) -> Iterator[tuple[str, re.Pattern[str]]]:
    """Patterns among a module's values, those inside of its tables, hints and closures too."""
    for name, value in values.items():
        waiting = [value]
        while waiting:
            one = waiting.pop()
            if isinstance(one, re.Pattern):
                yield f"{module}.{name}", one
            elif isinstance(one, tuple | list | set | frozenset) and len(one) < 10_000:
                waiting += one
            elif isinstance(one, dict) and not name.startswith("__"):
                waiting += one.values()
            elif isinstance(one, Readable):
                waiting += filter(None, (one.read, one.hardly, one.outright, one.unasked))
            else:
                waiting += getattr(one, "__metadata__", ())
                waiting += (cell.cell_contents for cell in getattr(one, "__closure__", ()) or ())


def _uses(tree: ast.AST) -> dict[str, frozenset[str]]:
    """By a name of the module, the methods it is used by; not known where it is used otherwise."""
    uses: dict[str, set[str]] = {}
    inside: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            inside.add(id(node.value))
            if node.attr in _USES:
                uses.setdefault(node.value.id, set()).add(node.attr)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in inside:
            uses.pop(node.id, None)
    return {name: frozenset(found) for name, found in uses.items()}


def _of_re(call: ast.Call) -> str:
    """The function of ``re`` that is called; empty for none."""
    function = call.func
    of_re = isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name)
    if of_re and function.value.id == "re" and function.attr in ("compile", *_USES):
        return str(function.attr)
    return ""


class _Names(ast.NodeTransformer):
    """What is known of a module's expressions: its values, and what its functions name.

    Args:
        tree: Of the module.
        values: By the module's names.
    """

    def __init__(self, tree: ast.AST, values: Mapping[str, Any]) -> None:
        self._values = {"re": re, **values}
        self._assigned: dict[str, list[ast.expr]] = {}
        self._looped: dict[str, list[tuple[int, ast.expr]]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self._assigned.setdefault(node.targets[0].id, []).append(node.value)
            elif isinstance(node, ast.For | ast.comprehension):
                several = isinstance(node.target, ast.Tuple)
                for at, one in enumerate(node.target.elts if several else [node.target]):
                    if isinstance(one, ast.Name):
                        place = at if several else -1
                        self._looped.setdefault(one.id, []).append((place, node.iter))

    def patterns(self, call: ast.Call, use: str) -> Iterator[re.Pattern[str]]:
        """What a call of ``re`` may take; nothing where that is known at run time alone."""
        at = {"compile": 1, "sub": 4, "subn": 4, "split": 3}.get(use, 2)
        given = [*call.args[at : at + 1], *(k.value for k in call.keywords if k.arg == "flags")]
        flags = sum(int(next(self._possible(flag))) for flag in given)
        for pattern in self._possible(call.args[0]):
            # Another function's variable of this name may be anything.
            if isinstance(pattern, str):
                with suppress(re.error):
                    compiled = re.compile(pattern, flags)
                    if not _repeats_unknown(compiled):
                        yield compiled

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        """Put a word where an f-string has what only the function knows."""
        return node if self._value(node.value) else ast.Constant(_UNKNOWN)

    def _possible(self, expression: ast.expr) -> Iterator[Any]:
        if isinstance(expression, ast.IfExp):
            yield from self._possible(expression.body)
            yield from self._possible(expression.orelse)
        elif isinstance(expression, ast.Name) and expression.id not in self._values:
            for value in self._assigned.get(expression.id, ()):
                yield from self._possible(value)
            for at, looped in self._looped.get(expression.id, ()):
                for values in self._value(looped):
                    yield from (one if at < 0 else one[at] for one in values)
        else:
            if isinstance(expression, ast.JoinedStr):
                expression = self.visit(expression)
            yield from self._value(expression)

    def _value(self, expression: ast.expr) -> list[Any]:
        """The value, or nothing."""
        whole = ast.fix_missing_locations(ast.Expression(expression))
        try:
            return [eval(compile(whole, "pattern", "eval"), dict(self._values))]
        except NameError:
            return []


# Texts.

_SIGNS = " \n\ta\u00e4B1_.,-'?!/\":@#*"
_MANY = 32
"""From so many times on a repetition counts as one without end."""
_PICKS = 4
"""Alternatives that are tried of a choice."""


def attacks(pattern: re.Pattern[str]) -> Iterator[Callable[[int], str]]:
    """Texts by their length, roughly."""
    tree = parser.parse(pattern.pattern, pattern.flags)
    signs = "".join(dict.fromkeys(_SIGNS + "".join(_literals(tree))[:12]))
    made: set[tuple[str, str, str]] = set()
    for before, body in _repetitions(tree, ""):
        whole = [_sample(body, pick) for pick in range(_PICKS)]
        taken = [sign for sign in signs if _takes(body, sign, pattern.flags)]
        pumps = {*taken, *whole, *(f"{one} " for one in whole)}
        pumps |= {f"{before}{one}" for one in pumps} | {f"{before} {one}" for one in whole}
        other = next((sign for sign in signs if sign not in taken), "")
        for pump in pumps - {""}:
            for lead in ("", before):
                for last in {"\x00", other}:
                    made.add((lead, pump, last))
    for lead, pump, last in sorted(made):
        yield lambda length, a=lead, b=pump, c=last: a + b * (length // len(b)) + c


def _repeats_unknown(pattern: re.Pattern[str]) -> bool:
    """Whether something is repeated without end that only a function knows."""
    bodies = (body for _, body in _repetitions(parser.parse(pattern.pattern, pattern.flags), ""))
    return any(_UNKNOWN in _sample(body, pick) for body in bodies for pick in range(_PICKS))


def _repetitions(items: Any, before: str) -> Iterator[tuple[str, Any]]:
    """Each repetition without end: what leads there, and what is repeated."""
    for op, value in items:
        if op in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            _, most, body = value
            if most >= _MANY:
                yield before, body
            yield from _repetitions(body, before)
        elif op is codes.BRANCH:
            for one in value[1]:
                yield from _repetitions(one, before)
        elif op is codes.SUBPATTERN:
            yield from _repetitions(value[-1], before)
        elif op is codes.ATOMIC_GROUP:
            yield from _repetitions(value, before)
        elif op in (codes.ASSERT, codes.ASSERT_NOT):
            yield from _repetitions(value[1], before)
        elif op is codes.GROUPREF_EXISTS:
            for one in value[1:]:
                yield from _repetitions(one or (), before)
        before += _sample([(op, value)], 0)


def _sample(items: Any, pick: int) -> str:
    """A text that fits, where nothing around it forbids."""
    return "".join(_sample_of(op, value, pick) for op, value in items)


def _sample_of(op: Any, value: Any, pick: int) -> str:
    if op is codes.LITERAL:
        return chr(value)
    if op in (codes.NOT_LITERAL, codes.ANY, codes.IN):
        signs = [sign for sign in "a1 ,.-B_'" if _fits(op, value, sign)]
        if not signs and op is codes.IN:
            signs = [_first(value)]
        return signs[pick % len(signs)] if signs else ""
    if op in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        return _sample(value[2], pick) * max(1, value[0])
    if op is codes.BRANCH:
        return _sample(value[1][pick % len(value[1])], pick)
    if op is codes.SUBPATTERN:
        return _sample(value[-1], pick)
    if op is codes.ATOMIC_GROUP:
        return _sample(value, pick)
    if op is codes.GROUPREF_EXISTS:
        return _sample(value[1], pick)
    return ""


def _takes(body: Any, sign: str, flags: int) -> bool:
    """Whether a single sign is all of what is repeated."""
    if len(body) != 1:
        return False
    op, value = body[0]
    if op is codes.SUBPATTERN:
        return _takes(value[-1], sign, flags)
    if op is codes.BRANCH:
        return any(_takes(one, sign, flags) for one in value[1])
    if op in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        return _takes(value[2], sign, flags)
    return _fits(op, value, sign)


def _fits(op: Any, value: Any, sign: str) -> bool:
    if op is codes.IN:
        negated = value[0][0] is codes.NEGATE
        return negated != any(_fits(*one, sign) for one in value if one[0] is not codes.NEGATE)
    if op is codes.LITERAL:
        return ord(sign) == value
    if op is codes.NOT_LITERAL:
        return ord(sign) != value
    if op is codes.RANGE:
        return value[0] <= ord(sign) <= value[1]
    if op is codes.CATEGORY:
        name = str(value).removeprefix("CATEGORY_").removeprefix("NOT_")
        kinds = {"SPACE": str.isspace, "DIGIT": str.isdecimal}
        inside = kinds[name](sign) if name in kinds else sign.isalnum() or sign == "_"
        return inside != str(value).startswith("CATEGORY_NOT")
    return op is codes.ANY and sign != "\n"


def _first(inside: Any) -> str:
    op, value = inside[0]
    return chr(value[0] if op is codes.RANGE else value) if isinstance(value, int | tuple) else ""


def _literals(items: Any) -> Iterator[str]:
    """Signs that classes of the pattern name."""
    for op, value in items:
        if op is codes.IN:
            yield from (chr(sign) for kind, sign in value if kind is codes.LITERAL)
        elif op in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            yield from _literals(value[2])
        elif op is codes.BRANCH:
            for one in value[1]:
                yield from _literals(one)
        elif op is codes.SUBPATTERN:
            yield from _literals(value[-1])
        elif op is codes.ATOMIC_GROUP:
            yield from _literals(value)


# How long they take.

_SHORTEST = (18, 60)
"""Characters of a text that takes a pattern milliseconds which is exponential, or to the fourth."""
_SHORT, _WORST = 200, 6
"""Of all texts of so many characters so many are made longer: those that take longest."""
_FAR_TOO_LONG_S = 0.05
"""For so short a one."""
_LENGTHS = (200, 800, 3200)
_LEAST_S = 0.003
_GROWTH = 9.0
"""Between four times the time for four times the text, which is linear, and sixteen times."""
_LONGEST_S = 0.25
_ENDLESS = 100_000
"""Characters of a text that a bound makes shorter."""


def slow_text(found: Found, bounded: Callable[[str], str] | None = None) -> str:
    """A text that takes a pattern more than linear time, told in short; empty where none does.

    Args:
        found: The pattern.
        bounded: Makes any text as it comes before the pattern, if it does not come as it is; the
            pattern may then take a quarter of a second for it.
    """
    spent: list[tuple[float, Callable[[int], str]]] = []
    for text in attacks(found.pattern):
        for length in _SHORTEST:
            if _least_s(found, text(length), _LEAST_S) > _LEAST_S:
                return _told(text, length)
        took_s = _least_s(found, text(_SHORT), _FAR_TOO_LONG_S)
        if took_s > _FAR_TOO_LONG_S:
            return _told(text, _SHORT)
        spent.append((took_s, text))
    for _, text in nlargest(_WORST, spent, key=itemgetter(0)):
        if bounded:
            if _least_s(found, bounded(text(_ENDLESS)), _LONGEST_S) > _LONGEST_S:
                return _told(text, _ENDLESS)
            continue
        for length in _LENGTHS:
            once = _least_s(found, text(length), _LEAST_S)
            if once > _LEAST_S and _least_s(found, text(4 * length), once) > _GROWTH * once:
                return _told(text, length)
    return ""


def _told(text: Callable[[int], str], length: int) -> str:
    return f"{text(24)[:60]!r} of {length} characters"


def _least_s(found: Found, text: str, enough_s: float) -> float:
    """The least time of a few, taken once where that is enough."""
    least_s = _seconds(found, text)
    return least_s if least_s <= enough_s else min(least_s, *(_seconds(found, text) for _ in "12"))


def _seconds(found: Found, text: str) -> float:
    """The processor time that a pattern takes for a text, by the longest of its uses."""
    begun = time.thread_time()
    if found.uses and found.uses <= {*_ANCHORED}:
        for use in found.uses:
            getattr(found.pattern, use)(text)
    else:
        deque(found.pattern.finditer(text), maxlen=0)
    return time.thread_time() - begun
