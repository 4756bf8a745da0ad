"""Puts a tool's answer into sentences: plain text stays as it is, JSON is worded by fixed rules.

"temperature" and 18 become "the temperature is 18", true and false "it is open" or "it is not
open", null "there is no tracking number". A long list becomes its length and its first few items:
the fewer, the less room there is. Identifiers, URLs and hashes are left out, unless there is
nothing else. The rules know neither the tool nor what it was asked.
"""

from __future__ import annotations

import html
import json
import re
from calendar import day_name
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from html.parser import HTMLParser
from typing import Any

from voice.tools import phrasing
from voice.tools.spoken_money import with_money

DONE = "Done."
"""Said for an answer that is empty, or says no more than that the call has worked."""
FAILED = "That did not work."
NOTHING = "There is nothing to report."

LONGEST_TEXT = 160
"""Length in characters of the longest text that is said before the plain facts about it."""
_CLAUSES = 4
"""Most facts in one sentence."""

_ERROR = "Error: "
_WRAPPERS = frozenset(("result", "results", "data", "response", "output", "payload", "body"))
_FLAGS = frozenset(("success", "ok", "succeeded", "successful"))
_FINE = frozenset(("ok", "okay", "success", "succeeded", "successful"))
_ERRORS = frozenset(("error", "errors", "exception", "fault"))
_TEXTS = frozenset((
    "message", "msg", "text", "summary", "description", "detail", "details", "answer", "content",
    "note", "speech", "reply", *_WRAPPERS, *_ERRORS,
))  # fmt: skip
"""Keys whose text is said without the key."""
_NAMES = frozenset(("name", "title", "label", "item", "product", "subject"))
"""Keys whose text comes first in a row of a table."""
_HIDDEN = frozenset((
    "id", "ids", "uuid", "guid", "hash", "sha", "etag", "token", "cursor", "url", "urls", "uri",
    "href", "link", "links", "slug", "icon", "image", "images", "thumbnail", "avatar", "checksum",
))  # fmt: skip
_OPAQUE = re.compile(
    r"(?:https?|wss?|ftp|urn|data|mailto):\S+|www\.\S+|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}"
    r"|(?=\S*\d)(?=\S*[a-z])[\da-f]{16,}|(?=\S*\d)(?=\S*[a-zA-Z])[\w+/=-]{24,}",
    re.IGNORECASE,
)
_SHORT = {
    "temp": "temperature", "min": "minimum", "max": "maximum", "avg": "average", "qty": "quantity",
    "desc": "description", "eta": "ETA", "iata": "IATA",
}  # fmt: skip
_UNITS = {
    "km": "kilometers", "cm": "centimeters", "mm": "millimeters", "miles": "miles",
    "kg": "kilograms", "lbs": "pounds", "mph": "miles per hour", "kmh": "kilometers per hour",
    "kph": "kilometers per hour", "ms": "milliseconds", "sec": "seconds", "secs": "seconds",
    "seconds": "seconds", "mins": "minutes", "minutes": "minutes", "hours": "hours", "days": "days",
    "percent": "percent", "pct": "percent", "percentage": "percent", "usd": "US dollars",
    "eur": "euros", "gbp": "pounds", "hpa": "hectopascals", "celsius": "degrees Celsius",
    "fahrenheit": "degrees Fahrenheit",
}  # fmt: skip
_DEGREES = {"c": "degrees Celsius", "f": "degrees Fahrenheit"}
_TEMPERATURE = re.compile(r"temp|feels|dew|heat|high|low|minimum|maximum")
_VERBS = re.compile(r"(?:is|are|was|has|have|can|will|should|must|needs) ")
_ADJECTIVE = re.compile(
    r"(?:\w+(?:ed|able|ible|ing)|active|open|free|full|empty|online|offline|ready|valid|late|paid"
    r"|public|private|safe|sunny|rainy|vegan|vegetarian|new|true|on time|in stock)"
)
_ISO = re.compile(
    r"\d{4}-\d\d(?:-\d\d)?(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"
)
_ISO_DURATION = re.compile(
    r"P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?"
)
_DURATION_UNITS = ("year", "month", "week", "day", "hour", "minute", "second")
_SINCE_EPOCH = re.compile(
    r"\b(?:at|on|time|timestamp|date|dt|created|updated|expires|sunrise|sunset)$"
)
_DIGITS = re.compile(r"\b(?:phone|mobile|fax|zip|postcode|code|pin|number|account)$")
"""Keys whose numbers are strings of digits rather than amounts."""
_EPOCH_S = range(10**9, 4 * 10**9)
_PAGES = frozenset(("next", "prev", "previous"))
_CONSTANT = re.compile(r"[A-Z]+(?:_[A-Z\d]+)+|[a-z]+(?:_[a-z\d]+)+|[a-z]{3,}(?:[A-Z][a-z]+)+")
_STATES = re.compile(r"\b(?:status|state|condition|level|priority|severity|mode|phase)$")
# Attributes have values, lest "a<b and c>d" be taken for a tag.
_TAGGED = re.compile(
    r"<(?:!doctype\b[^<>]*|/?[a-z][a-z\d]*(?:\s(?=[^<>=]*=)[^<>]*)?\s*/?)>", re.IGNORECASE
)
_SILENT = frozenset(("script", "style", "title"))
_BLOCKS = frozenset((
    "p", "div", "h1", "h2", "h3", "h4", "h5", "h6", "li", "tr", "td", "th", "ul", "ol", "table",
    "br", "hr",
))  # fmt: skip
_DECIMAL_COMMA = re.compile(r"(?<![\d.,])(\d+),(\d\d)(?= ?(?:[€$£]|[A-Z]{3}\b|kr\b))")
_THIN = re.compile(r"(?<=\d)[  ](?=\d{3}(?:[.,]\d+)? ?(?:[€$£]|[A-Z]{3}\b|kr\b))")
"""Spaces between the thousands of an amount of money."""


@dataclass(frozen=True, slots=True)
class _Detail:
    """How much is said.

    Attributes:
        first: Number of items said of a list, unless it has only one more than that.
        inner: The same of a list inside an item.
        hidden: Whether identifiers, URLs and hashes are said.
    """

    first: int
    inner: int
    hidden: bool = False

    @property
    def of_items(self) -> _Detail:
        return replace(self, first=self.inner)

    def holds(self, items: Sequence[Any]) -> bool:
        """Whether all items of a list are said."""
        return len(items) <= self.first + 1


_FIRST_ITEMS = 5
_DETAILS = (
    *(_Detail(_FIRST_ITEMS, inner) for inner in range(_FIRST_ITEMS, 0, -1)),
    *(_Detail(first, 0) for first in range(_FIRST_ITEMS, -1, -1)),
)
"""From the most to the least that is said of lists."""

LONGEST_LIST = _FIRST_ITEMS + 1
"""Number of items of the longest list that is said whole where there is room."""


def spoken_result(content: str, most: int | None = None) -> str:
    """A tool's answer in sentences that can be spoken; never empty.

    Args:
        content: Plain text, JSON or HTML.
        most: Length in characters for which fewer items of lists are said. Texts and facts are
            said whole, so the sentences may still be longer. None says as much as is ever said.

    >>> spoken_result('{"status": "out for delivery", "stops_left": 3, "is_late": false}')
    'The status is out for delivery, the stops left is 3 and it is not late.'
    """
    text = content.strip().removeprefix(_ERROR)
    value = _read(text)
    if isinstance(value, str) and value.strip() and not _TAGGED.search(value):
        # Line breaks and markup of plain text are handled later, as in a model's words.
        return _ended(value)
    try:
        return _worded(value, most)
    except RecursionError:
        # As where JSON is nested too deeply to be read.
        return _ended(text)


def _worded(value: Any, most: int | None) -> str:
    """A value that is no plain text in sentences; see `spoken_result`."""
    for detail in _DETAILS:
        told = list(_sentences(value, detail)) or list(
            _sentences(value, replace(detail, hidden=True))
        )
        said = " ".join(dict.fromkeys(told)) or (DONE if _has_worked(value) else NOTHING)
        if most is None or len(said) <= most:
            break
    return said


def _has_worked(value: Any) -> bool:
    """Whether an answer says no more than that the call has worked: it is empty, or only flags."""
    if isinstance(value, dict):
        return bool(value) and all(_is_flag(key_words(key), flag) for key, flag in value.items())
    return isinstance(value, str) and not value.strip()


def _read(text: str) -> Any:
    """The value of a JSON text, also if it is wrapped in a JSON string; any other text as it is."""
    stripped = text.strip()
    if not stripped.startswith(("{", "[", '"')) and not re.fullmatch(
        r"true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", stripped
    ):
        return text
    try:
        value = json.loads(stripped)
    except (ValueError, RecursionError):
        return text
    return _read(value) if isinstance(value, str) else value


def _sentences(value: Any, detail: _Detail, title: str = "") -> Iterator[str]:
    """A value in sentences; ``title`` names it."""
    if isinstance(value, dict) and not title:
        yield from _of_object(value, detail)
    elif isinstance(value, list) and len(value) == 1 and not title:
        yield from _sentences(_inner(value[0]), detail)
    elif value == []:
        yield f"There are no {title}." if title else NOTHING
    elif isinstance(value, list):
        if said := _many(value, title, detail):
            yield _ended(said)
    elif value is not None and (words := _row(value, detail)):
        yield _ended(f"{title}: {words}" if title else words)


def _of_object(given: Mapping[str, Any], detail: _Detail) -> Iterator[str]:
    """An object in sentences: failure, short texts, plain facts, then all else in its order."""
    fields = _fields(given)
    if any(fields.get(flag) is False for flag in _FLAGS) or any(map(fields.get, _ERRORS)):
        yield FAILED
    fields = {key: value for key, value in fields.items() if not _is_flag(key, value)}
    bare = {key: value for key, value in fields.items() if _speaks_for_itself(key, value)}
    first = {key: value for key, value in bare.items() if not _is_long(value)}
    rest = {key: value for key, value in fields.items() if key not in bare}
    facts = {key: value for key, value in rest.items() if _is_fact(value, detail)}
    for value in first.values():
        yield from _sentences(value, detail)
    clauses = [clause for key, value in facts.items() if (clause := _clause(key, value, detail))]
    for start in range(0, len(clauses), _CLAUSES):
        yield _ended(phrasing.joined(clauses[start : start + _CLAUSES]))
    for key, value in fields.items():
        if key not in first and key not in facts:
            yield from _sentences(value, detail, "" if key in bare else key)


def _fields(given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an object, with keys in words, and amounts of money with their currency."""
    fields: dict[str, Any] = {}
    for key, value in given.items():
        words = key_words(key)
        # "aB" and "a_b" would have the same words; the second keeps its key.
        fields[key if words in fields else words] = _inner(value)
    return with_money(fields)


def _many(items: Sequence[Any], title: str, detail: _Detail) -> str:
    """A list in words: all of its items, or how many there are and the first few, if any."""
    flat = not any(isinstance(item, dict | list) for item in items)
    shown = items if detail.holds(items) else items[: detail.first]
    rows = [row for item in shown or items[:1] if (row := _row(_inner(item), detail.of_items))]
    if not rows:
        return ""
    said = _listed(rows) if flat else "; ".join(rows)
    if not shown:
        return f"{len(items)} {title or 'items'}"
    if len(shown) < len(items):
        first = f"the first {len(rows)}" if len(rows) > 1 else "the first"
        return f"{len(items)} {title or 'items'}, {first}: {said}"
    if title and (len(items) == 1 or not is_plural(title)):
        return f"{title}: {said}"
    return f"{len(items)} {title or 'items'}: {said}"


def _listed(rows: Sequence[str]) -> str:
    """Items as part of a sentence; single letters are listed as in spelling."""
    spelled = all(len(row) == 1 and row.isalpha() for row in rows)
    return ", ".join(rows) if spelled else phrasing.joined(rows)


def _clause(key: str, value: Any, detail: _Detail) -> str:
    """One fact: "the status is shipped"; empty if it is left out."""
    if isinstance(value, bool):
        return _yes_or_no(key, value)
    if value is None:
        return "" if key in _PAGES else f"there is no {key}"
    if counted := _counted(key, value):
        return counted
    stem, unit = _unit(key) if isinstance(value, int | float) else (key, "")
    words = _row(value, detail) if isinstance(value, list) else _leaf(key, value, detail.hidden)
    verb = "are" if is_plural(stem) else "is"
    return f"{_subject(stem)} {verb} {words}{unit}" if words else ""


def _counted(key: str, value: Any) -> str:
    """A number of things: "6 spots"; empty for anything else."""
    if not isinstance(value, int | float) or not is_plural(key) or _unit(key)[1]:
        return ""
    return f"{_number(value)} {key.removesuffix('s') if value == 1 else key}"


def _yes_or_no(key: str, value: bool) -> str:
    if verb := _VERBS.match(key):
        rest = key[verb.end() :]
        no = "" if value else {"has ": "no ", "have ": "no "}.get(verb[0], "not ")
        return f"it {verb[0]}{no}{rest}"
    if _ADJECTIVE.fullmatch(key):
        return f"it is {'' if value else 'not '}{key}"
    return f"{key}: {'yes' if value else 'no'}"


def _row(value: Any, detail: _Detail) -> str:
    """A value in a few words, as an item of a list: "Bergen, temperature 18"."""
    match value:
        case dict():
            fields = _fields(value)
            named = sorted(fields, key=lambda key: key not in _NAMES)
            return ", ".join(filter(None, (_cell(key, fields[key], detail) for key in named)))
        case list() if detail.holds(value):
            rows = (_row(_inner(item), detail.of_items) for item in value)
            return _listed([row for row in rows if row])
        case list():
            return _many(value, "", detail)
        case None:
            return "nothing"
        case bool():
            return "yes" if value else "no"
        case _:
            return _leaf("", value, detail.hidden)


def _cell(key: str, value: Any, detail: _Detail) -> str:
    if isinstance(value, bool):
        return _yes_or_no(key, value).removeprefix("it is ")
    if value is None or value == []:
        return "" if key in _PAGES else f"no {key}"
    if counted := _counted(key, value):
        return counted
    if isinstance(value, list) and is_plural(key) and not detail.holds(value):
        return _many(value, key, detail)
    stem, unit = _unit(key) if isinstance(value, int | float) else (key, "")
    parts = isinstance(value, dict | list)
    words = _row(value, detail) if parts else _leaf(key, value, detail.hidden)
    named = words.lower().startswith(f"{key.lower()} ")
    bare = named or key in _NAMES or _speaks_for_itself(key, value)
    return words if bare or not words else f"{stem} {words}{unit}"


def _leaf(key: str, value: Any, hidden: bool = False) -> str:
    """A plain value in words; empty for an identifier or a URL, unless ``hidden``."""
    if not hidden and key.split(" ")[-1] in _HIDDEN:
        return ""
    if isinstance(value, int | float):
        if _DIGITS.search(key):
            return str(value)
        return _since_epoch(key, value) or _number(value)
    text = _plain(str(value))
    if not hidden and _OPAQUE.fullmatch(text):
        return ""
    return _moment(text) or _length(text) or _weekday(key, text) or _constant(key, text)


def _inner(value: Any) -> Any:
    """A value without its wrapping: JSON in a string is read, a text block gives its text."""
    if isinstance(value, str) and value.strip()[:1] in ("{", "["):
        return _read(value)
    if isinstance(value, dict) and value.keys() == {"type", "text"} and value["type"] == "text":
        return _read(str(value["text"]))
    return value


def _speaks_for_itself(key: str, value: Any) -> bool:
    """Whether a value is said without its key."""
    return key in _WRAPPERS or key in _ERRORS or (key in _TEXTS and not _is_number(value))


def _is_number(value: Any) -> bool:
    return value is None or isinstance(value, int | float)


def _is_fact(value: Any, detail: _Detail) -> bool:
    """Whether a value fits into one clause among others."""
    if isinstance(value, list):
        flat = not any(isinstance(item, dict | list) for item in value)
        return flat and len(value) > 0 and detail.holds(value)
    sentences = isinstance(value, dict) or re.search(r"[.!?](?:\s|$)", str(value))
    return not sentences and not _is_long(value)


def _is_long(value: Any) -> bool:
    return isinstance(value, str) and len(value) > LONGEST_TEXT


def _is_flag(key: str, value: Any) -> bool:
    """Whether a field says no more than whether the call has worked."""
    if key in _FLAGS:
        return isinstance(value, bool)
    if key in _ERRORS:
        return not value or value is True
    return key in ("status", "result") and isinstance(value, str) and value.lower() in _FINE


def key_words(key: str) -> str:
    """A key in words: "tempMax" → "temperature maximum"."""
    spaced = re.sub(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[_\-.:/@$#]+", " ", key)
    words = [_SHORT.get(word.lower(), word) for word in spaced.split()]
    if len(words) > 1 or key[:1].islower():
        words = [word if word.isupper() else word.lower() for word in words]
    return " ".join(words) or "value"


def _subject(key: str) -> str:
    """A key as a sentence's subject; names and numbers have no article."""
    return key if (key[:1].isupper() and key != "ETA") or key[:1].isdigit() else f"the {key}"


def _unit(key: str) -> tuple[str, str]:
    """A key without its unit, and the unit with a space before it."""
    stem, _, last = key.rpartition(" ")
    unit = _UNITS.get(last) or (_DEGREES.get(last) if _TEMPERATURE.search(stem) else None)
    return (stem, f" {unit}") if stem and unit else (key, "")


def is_plural(key: str) -> bool:
    """Whether a key in words is plural."""
    return re.search(r"(?:[^aious]|ie)s$|[aeo]es$", key) is not None and key[:1].islower()


def _number(value: float) -> str:
    if isinstance(value, float) and not value.is_integer():
        # Without an exponent: "1e-05" could not be said.
        return f"{Decimal(str(value)):f}"
    whole = int(value)
    # Without separators a voice would read the digits one by one.
    return f"{whole:,}" if abs(whole) >= 10_000 else str(whole)


def _moment(text: str) -> str:
    """A date or a time in ISO 8601 as it is said; empty for anything else."""
    if not _ISO.fullmatch(text):
        return ""
    whole_month = len(text) == len("2026-11")
    try:
        when = datetime.fromisoformat(f"{text}-01" if whole_month else text)
    except ValueError:
        return ""
    if whole_month:
        return f"{when:%B} {when.year}"
    day = f"{when:%B} {when.day}, {when.year}"
    zone = " UTC" if text.endswith("Z") else ""
    return day if len(text) == len("2026-11-24") else f"{day} at {phrasing.time(when)}{zone}"


def _since_epoch(key: str, value: float) -> str:
    """A time in seconds or milliseconds since 1970 as it is said; empty for other numbers."""
    seconds = value // 1000 if value >= _EPOCH_S.stop else value
    if not _SINCE_EPOCH.search(key) or not _EPOCH_S.start <= seconds < _EPOCH_S.stop:
        return ""
    return _moment(datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))


def _weekday(key: str, text: str) -> str:
    """An abbreviated day of the week written out; empty for anything else."""
    short = [day[:3] for day in day_name]
    return day_name[short.index(text.title())] if "day" in key and text.title() in short else ""


def _length(text: str) -> str:
    """A duration in ISO 8601 as it is said; empty for anything else."""
    parts = _ISO_DURATION.fullmatch(text)
    if parts is None or not any(parts.groups()):
        return ""
    counts = zip(parts.groups(), _DURATION_UNITS, strict=True)
    return " ".join(phrasing.counted(int(count), unit) for count, unit in counts if count)


def _constant(key: str, text: str) -> str:
    """The name of a constant in words: "OUT_FOR_DELIVERY" → "out for delivery"."""
    if _CONSTANT.fullmatch(text):
        words = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", text)
        # "FSK_12" is a name with its number.
        return words if re.search(r"\b\d", words) else words.lower()
    return text.lower() if text.isupper() and len(text) > 3 and _STATES.search(key) else text


class _Page(HTMLParser):
    """The words of an HTML page: ``lines``, one for each block, and the page's ``title``."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.lines, self.title = [""], ""
        self._silent = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """See `HTMLParser.handle_starttag`."""
        self._silent = tag if tag in _SILENT else self._silent
        self._break_at(tag)

    def handle_endtag(self, tag: str) -> None:
        """See `HTMLParser.handle_endtag`."""
        self._silent = "" if tag == self._silent else self._silent
        self._break_at(tag)

    def handle_data(self, data: str) -> None:
        """See `HTMLParser.handle_data`."""
        if self._silent == "title":
            self.title += data
        elif not self._silent:
            self.lines[-1] += data

    def _break_at(self, tag: str) -> None:
        if tag in _BLOCKS:
            self.lines.append("")


def _plain(text: str) -> str:
    """A text without HTML, in one line."""
    if _TAGGED.search(text):
        text = _words_of_page(text)
    return _DECIMAL_COMMA.sub(r"\1.\2", _THIN.sub("", " ".join(html.unescape(text).split())))


def _words_of_page(text: str) -> str:
    try:
        page = _Page(text)
    # The parser raises this for a declaration that it cannot read.
    except AssertionError:
        return re.sub("<[^<>]*>", " ", text)
    lines = [" ".join(line.split()) for line in page.lines]
    return " ".join(_ended(line) for line in dict.fromkeys(filter(None, lines))) or page.title


def _ended(text: str) -> str:
    """The text as a sentence, with a capital first letter and closing punctuation."""
    text = text.strip()
    return phrasing.sentence(text) if text[-1:] in ".!?…" else f"{phrasing.sentence(text)}."
