"""Several of one kind, each with its own details: "two lattes, one small and one with oat milk".

Each detail is put with its thing, so that every part can stand alone: "one small latte", "one latte
with oat milk". Details of all are repeated in each part; things left over form a part without
details of their own. English only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBER = rf"(?:{'|'.join(_NUMBERS)})"
_SOME = (
    rf"(?:the )?(?:others?|rest|{_NUMBER})(?: (?:ones?|{_NUMBER}))?(?: of (?:them|those|which))?"
)
_MESSAGE = re.compile(
    rf"(?P<lead>.*?\b|)(?P<count>(?!one\b){_NUMBER}) (?P<thing>[\w' -]+?)"
    rf"(?:[,:;.]? and |[,:;.]? )(?P<parts>{_SOME} .+)",
    re.IGNORECASE,
)
_PART = re.compile(
    r"(?:^|[,;]? and |[,;] |(?<!\bfor)(?<!\bin)(?<!\bat)(?<!\bwith) "
    rf"(?=one|the|{_NUMBER} (?:of|with)))"
    rf"(?P<some>{_SOME})(?= (?!more\b))",
    re.IGNORECASE,
)
_OF_ALL = re.compile(r"[,;]? (?:and )?(?:both|all|each)(?: of them)? (?P<rest>.+)", re.IGNORECASE)
_BEHIND = re.compile(r"(?:with|without|no|in|for|at|to|plus)\b", re.IGNORECASE)
_PLAIN = ("without", "not", "plain", "none", "normal", "regular")
"""Details that mean none of what the others have."""
_SMALL = re.compile(
    r"^(?:(?:should be|is|are|being|to be|made|an?)\b ?)+"
    r"|(?: (?:please|thanks|then|as well))*[\s,.;?]*$",
    re.IGNORECASE,
)


def told_apart(request: str, is_thing: Callable[[str], bool]) -> tuple[str, ...]:
    """The parts of a request for several of one kind; for other requests, the request alone.

    Args:
        request: In the user's words.
        is_thing: Whether words name a thing by themselves: "two lattes, one tea" asks for no tea
            latte.

    >>> told_apart("two lattes, one of them decaf", lambda words: "latte" in words)
    ('one decaf latte', 'one latte')
    """
    said = re.sub(r"(?<!\S)(?:[1-9]|10)(?=\s+[a-z])", lambda m: _NUMBERS[int(m[0]) - 1], request)
    found = _MESSAGE.fullmatch(said.strip())
    if found is None or not is_thing(found["thing"]):
        return (request,)
    rest = _OF_ALL.search(found["parts"])
    common = _detail(rest["rest"]) if rest else ""
    said = found["parts"][: rest.start()] if rest else found["parts"]
    places = [*_PART.finditer(said)]
    ends = [place.start() for place in places[1:]] + [len(said)]
    left = _NUMBERS.index(found["count"].lower()) + 1
    parts: list[str] = []
    sure = bool(common)
    for place, end in zip(places, ends, strict=True):
        detail = _detail(said[place.end() : end])
        plain = detail in _PLAIN
        count = _count(place["some"], left)
        left -= count
        if not detail or left < 0 or (is_thing(detail) and " of " not in place["some"]):
            return (request,)
        parts.append(_whole(count, found["thing"], "" if plain else detail, common))
        sure = sure or bool(_BEHIND.match(detail) or re.search(r"\b(?:of|other)\b", place["some"]))
    if left and not sure:
        return (request,)
    parts += [_whole(left, found["thing"], "", common)] if left else []
    return tuple(_led(found["lead"], parts))


def _count(some: str, left: int) -> int:
    """How many things a part is about: "the other three", or all that are left."""
    numbers = [_NUMBERS.index(word) + 1 for word in some.lower().split() if word in _NUMBERS]
    rest = re.match(r"(?:the )?rest|(?:the )?other(?:s| ones)", some, re.IGNORECASE)
    return left if rest else numbers[-1] if numbers else 1


def _whole(count: int, things: str, detail: str, common: str) -> str:
    """A part in words that can stand alone."""
    name = re.sub(r"(?<=[^s])s$", "", things) if count == 1 else things
    before = [one for one in (detail, common) if one and not _BEHIND.match(one)]
    behind = [one for one in (detail, common) if one and _BEHIND.match(one)]
    return " ".join((_NUMBERS[count - 1], *before, name, *behind))


def _detail(said: str) -> str:
    return _SMALL.sub("", said.strip())


def _led(lead: str, parts: list[str]) -> Iterator[str]:
    """The parts with the words that led up to them, which may be a request of their own."""
    other = re.fullmatch(r"(?P<first>.+\b(?:an?|one|some|the) .+?),? and ", lead, re.IGNORECASE)
    if other:
        yield other["first"]
    yield from (part if other else f"{lead}{part}" for part in parts)
