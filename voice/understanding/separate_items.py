"""Several of one kind, each with its own details: "two lattes, one small and one with oat milk".

Each detail is put with its thing, so that every part can stand alone: "one small latte", "one latte
with oat milk". Details of all are repeated in each part; things left over form a part without
details of their own. English only.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from voice.types import ToolCall, ToolSpec

HOW_MANY = "Sorry, how many of each do you want?"

_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBER = rf"(?:{'|'.join(_NUMBERS)})"
_SOME = (
    rf"(?:the )?(?:others?|rest|{_NUMBER})(?: (?:ones?|{_NUMBER}))?(?: of (?:them|those|which))?"
)
_MESSAGE = re.compile(
    rf"(?P<lead>.*?\b|)(?P<count>(?!one\b){_NUMBER}) (?P<thing>[\w' -]+?)"
    r"(?: for (?:the |my |our )?\w+)?(?: (?:please|then|thanks))*"
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
_PLAIN = ("without", "not", "plain", "none", "normal", "regular", "as it comes")
"""Details that mean none of what the others have."""
_OF_SEVERAL = re.compile(r"\b(?:both|all|each|every|same|too|again|also|twice|as well)\b")
_SMALL = re.compile(
    r"^(?:(?:just|should be|must be|needs?|ha(?:s|ve)|is|are|being|to be|made|an?)\b ?)+"
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


def counted_twice(request: str, calls: Sequence[ToolCall], tools: Mapping[str, ToolSpec]) -> bool:
    """Whether calls for the same thing share one number: "three teas, one decaf" is not six.

    Also whether several make a thing that the request does not name: "one black and one white" may
    be two of those that were ordered before.
    """
    said = request.lower()
    counting = [(call, spec) for call in calls if (spec := tools.get(call.name)) and spec.counting]
    numbers = Counter(
        (_thing(call, spec), str(call.arguments[spec.counting]).lower())
        for call, spec in counting
        if spec.counting in call.arguments
    )
    things = Counter(_thing(call, spec) for call, spec in counting)
    return any(
        0 < len(re.findall(rf"\b{re.escape(number)}\b", said)) < times
        for (_, number), times in numbers.items()
    ) or any(
        times > 1 and not any(one in said for one in thing)
        for (name, *thing), times in things.items()
        if not (_OF_SEVERAL.search(said) or name.startswith("change_"))
    )


def with_own_details(
    request: str, calls: Sequence[ToolCall], tools: Mapping[str, ToolSpec]
) -> list[ToolCall]:
    """The calls, without details that another call for the same thing has, if said only once.

    That goes for calls with no details of their own, such as that for the second tea of "a tea with
    lemon and a plain tea", and for details that are denied elsewhere: "a tea with milk and a tea,
    no milk". A change that says nothing new is dropped.
    """
    found: list[ToolCall] = []
    said = request.lower()
    for call in calls:
        if (spec := tools.get(call.name)) and spec.counting:
            own = _details(call, spec)
            twins = [
                _details(one, spec) for one in found if _thing(one, spec) == _thing(call, spec)
            ]
            if call.name.startswith("change_") and own in twins:
                continue
            plain = any(own.keys() - {spec.counting} <= one.keys() for one in twins)
            used = {
                n
                for n, v in own.items()
                if n != spec.counting and (times := sum(one.get(n) == v for one in twins))
                if times >= len(re.findall(rf"(?<!no )(?<!not )\b{re.escape(v)}\b", said))
                if plain or re.search(rf"\bnot? {re.escape(v)}\b", said)
            }
            if not _OF_SEVERAL.search(said):
                kept = {n: v for n, v in call.arguments.items() if n not in used}
                call = replace(call, arguments=kept)
        found.append(call)
    return found


def _details(call: ToolCall, spec: ToolSpec) -> dict[str, str]:
    return {n: str(v).lower() for n, v in call.arguments.items() if n not in spec.required}


def _thing(call: ToolCall, spec: ToolSpec) -> tuple[str, ...]:
    things = (str(call.arguments.get(name, "")).lower() for name in spec.required)
    return call.name, *(one.removesuffix("s") for one in things)


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
