"""What a request named but no call carries: "add eggs, wine and bread" with calls for two of them.

Arguments are spans of the user's words. So words after the first argument that are in no argument,
and are neither the tool's words nor grammar, have been left out. Knows nothing of what a tool does.
Questions are not checked, since any words may follow them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from num2words import num2words

from voice.tools import phrasing
from voice.tools.spoken_dates import WEEKDAY
from voice.types import Message, Role, ToolCall, ToolSpec
from voice.understanding.english import GRAMMAR, NUMBERS, VERBS, as_read
from voice.understanding.remarks import clauses_told

_JOINTS = frozenset(("and", "or", "but", "then"))
_ARTICLES = frozenset(("the", "a", "an", "some", "of", "also", "please"))
_ASIDE = re.compile(
    r"(?:because|cause|cos|since|so that|though|although|before i forget|while (?:i|we|you)"
    r"|(?:if|when) you|if (?:it's|(?:it|that) isn't|that's|i may)"
    r"|for (?:my|our|his|her|their|a friend)|just|only"
    r"|(?:(?:my|the) )?names?(?: is)?|under)\b"
    r"|(?!(?:.* )?(?:when|if|after|until|unless)\b)(?:.* )?(?:i|i'm|i've|i'd|i'll|it's|he's|she's"
    r"|we're|they're|that's|there's|is|isn't|are|was|were|would|wouldn't)\b"
    r"|(?:my|our|his|her|their) (?:\w+ ){1,3}(?:might|may|says?|said)\b"
)
"""Reasons, statements, for whom it is, and restatements: they ask for nothing."""
_RELATIVE = frozenset(("which", "who", "where"))
_GOING_ON = frozenset(("is", "are", "was", "were", "isn't", "does", "has"))
"""Right after a value of a call these begin a statement about it: "Falk is the name"."""
_COUNTING = NUMBERS | {"a", "an", "another", "some"}
_ORDERING = re.compile(
    r"(?:[\w']+ ){0,4}?(?:(?:can|could|may) (?:i|we) (?:please |just )?(?:get|have|order|take)"
    r"|(?:i|we)(?:'d like|'ll have|'ll take| want| need| would like))(?: to order)? "
)
"""Lead-in of an order; what is asked for follows it."""
_LONGEST = 3
"""Most words of a thing or a detail."""
_ASKING = re.compile(r"(?:can|could|will|would) (?:you|we|i) (?:please )?\w+")
WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
"""A word with parts joined to it: "o'clock", "half-past"."""
AGAIN = re.compile(
    rf",? ((?:(?:every|each) (?:single )?(?:day|morning|evening|night|{WEEKDAY})|daily"
    r"|(?:on |every |each )?(?:weekdays?|work(?:ing)? ?days?|weekends?)))$",
    re.I,
)
"""How a time repeats, at its end."""
_MOST_PARTS = 4


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Parts of a request that no call carries, and the tools called for the other parts."""

    parts: tuple[str, ...] = ()
    called: tuple[str, ...] = ()


def left_out(messages: Sequence[Message], tools: Mapping[str, ToolSpec]) -> LeftOut:
    """The parts of the last request that none of the calls after it carries.

    Nothing if all the calls only read. If one failed, its error says more, so only parts that begin
    with a verb, as another request does, are returned.
    """
    request, calls, results = _last_request(messages)
    specs = [tools[call.name] for call in calls if call.name in tools]
    gathered = all(spec.asks_next for spec in specs)
    if not specs or all(spec.read_only for spec in specs):
        return LeftOut()
    failed = any(result.startswith("Error: ") for result in results)
    words = list(WORD.finditer(request))
    folded = [word[0].casefold() for word in words]
    carried_by = carriers(folded, calls)
    told = _known([*(text for spec in specs for text in (spec.name, spec.description)), *results])
    aside = {
        word
        for one, tells in clauses_told(request.casefold())
        if tells
        for word in WORD.findall(one)
    }
    parts = []
    ahead = _ahead(request, words, carried_by, calls)
    for first, last in [*ahead, *_gaps(folded, carried_by, calls)]:
        for start, end in _pieces(folded, first, last):
            named = (word for word in folded[start:end] if not (word in aside or _is_grammar(word)))
            said = " ".join(folded[start:end]).replace("’", "'")
            if gathered and (lead := _ORDERING.match(said)):
                start += len(lead[0].split())
                start += folded[start] in _ARTICLES
                said = " ".join(folded[start:end])
            if _ASKING.fullmatch(said):
                continue
            if gathered and not _names_one(folded, start, end, specs):
                continue
            before = request[words[start - 1].end() : words[start].start()] if start else ""
            goes_on = folded[start] in _RELATIVE or (folded[start] in _GOING_ON and before == " ")
            if before and goes_on and carried_by[start - 1] is not None:
                continue
            if folded[start] not in VERBS and (failed or _ASIDE.match(said)):
                continue
            if any(_stem(word) not in told for word in named) and not _is_denied(
                said, calls, specs
            ):
                parts.append(request[words[start].start() : words[end - 1].end()])
    return LeftOut(tuple(parts[:_MOST_PARTS]), tuple(spec.name for spec in specs))


def _names_one(words: Sequence[str], start: int, end: int, specs: Sequence[ToolSpec]) -> bool:
    """Whether a part of an order asks for a thing or a detail: "milk", "an éclair", "add it".

    Remarks, such as for whom it is or why, do not.
    """
    if words[start] in VERBS or words[start] in NUMBERS or words[max(start - 1, 0)] in _COUNTING:
        return True
    readings = [r for spec in specs for r in spec.readings.values() if not (r.free or r.anywhere)]
    spans = (words[at : at + n] for n in range(1, _LONGEST + 1) for at in range(start, end - n + 1))
    return any(
        one.read(" ".join(span))
        for span in spans
        if not all(word in NUMBERS or _is_grammar(word) for word in span)
        for one in readings
    )


def _is_denied(said: str, calls: Sequence[ToolCall], specs: Sequence[ToolSpec]) -> bool:
    """Whether words deny a value that no call has: "without sugar"."""
    value = re.sub(r"^(?:without|no|instead of|rather than) (?:any |the )?", "", said)
    if value == said or any(value in map(str, call.arguments.values()) for call in calls):
        return False
    readings = (one for spec in specs for one in spec.readings.values() if not one.free)
    return any(not one.anywhere and one.read(value) is not None for one in readings)


def carried(request: str, calls: Sequence[ToolCall], tools: Mapping[str, ToolSpec]) -> float:
    """The share of a request's words that are in the calls or in their tools' declarations.

    Words of grammar and remarks beside the request do not count; 1 if there are no other words.
    """
    given = [value for call in calls for value in call.arguments.values()]
    values = [spelling for value in given for spelling in spellings(value)]
    asked = " ".join(
        one
        for one, tells in clauses_told(request.casefold())
        if not (tells or _ASIDE.match(one)) or any(value.casefold() in one for value in values)
    )
    names = (call.name.replace("_", " ") for call in calls)
    specs = [tools[call.name] for call in calls if call.name in tools]
    known = _known([*values, *names, *(spec.description for spec in specs)])
    everything = [word for word in WORD.findall(request.casefold()) if not _is_grammar(word)]
    said = [word for word in WORD.findall(asked) if not _is_grammar(word)] or everything
    return sum(_stem(word) in known for word in said) / len(said) if said else 1.0


def not_understood(parts: Sequence[str]) -> str:
    """A sentence that names parts which were left out; empty for none."""
    return f"I did not get this: {phrasing.joined(parts)}." if parts else ""


def _last_request(
    messages: Sequence[Message],
) -> tuple[str, list[ToolCall], list[str]]:
    """The user's last message, and the calls and results after it."""
    calls: list[ToolCall] = []
    results: list[str] = []
    for message in reversed(messages):
        if message.role is Role.USER:
            return as_read(message.content), calls, results
        calls += message.tool_calls
        if message.role is Role.TOOL:
            results.append(message.content)
    return "", [], []


def carriers(words: Sequence[str], calls: Sequence[ToolCall]) -> list[int | None]:
    """For each word of a request, the index of the call that has it in an argument, or None.

    The argument's own name right after its value belongs to it, like "days" in "two days".
    """
    found: list[int | None] = [None] * len(words)
    for number, call in enumerate(calls):
        for name, value in call.arguments.items():
            own = {form for word in name.split("_") for form in (word, word.removesuffix("s"))}
            for spelling in spellings(value):
                said = [word.casefold() for word in WORD.findall(spelling)]
                for at in range(len(words) - len(said) + 1) if said else ():
                    end = at + len(said)
                    if list(words[at:end]) == said:
                        end += words[end : end + 1] != [] and words[end] in own
                        found[at:end] = [number] * (end - at)
    return found


def spellings(value: object) -> Iterator[str]:
    """The ways a value may have been said: a number in words, a time without its repetition."""
    yield str(value)
    yield AGAIN.sub("", str(value))
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield num2words(value).replace("-", " ")


def _gaps(
    words: Sequence[str], carriers: Sequence[int | None], calls: Sequence[ToolCall]
) -> Iterator[tuple[int, int]]:
    """Runs of words in no argument, after the first word that is in one.

    A run before another tool's argument asks for that tool, except for a request of its own before
    its last "and". A run at the end is skipped if a call without arguments may be what it asks for.
    """
    before = None
    first = 0
    for at, carrier in enumerate(carriers):
        if carrier is None:
            continue
        if before is not None and first < at:
            if calls[before].name == calls[carrier].name:
                yield first, at
            elif words[first] in VERBS:
                yield (
                    first,
                    max((n for n in range(first, at) if words[n] in _JOINTS), default=first),
                )
        before, first = carrier, at + 1
    if before is not None and first < len(carriers) and all(call.arguments for call in calls):
        yield first, len(carriers)


def _ahead(
    request: str,
    words: Sequence[re.Match[str]],
    carriers: Sequence[int | None],
    calls: Sequence[ToolCall],
) -> Iterator[tuple[int, int]]:
    """The words ahead of the first argument, up to the last "and", "then" or comma.

    They are another request; up to a comma only if they begin with a verb.
    """
    start = next((at for at, carrier in enumerate(carriers) if carrier is not None), 0)
    folded = [word[0].casefold() for word in words]
    joint = max((at for at in range(start) if folded[at] in ("and", "then")), default=0)
    commas = (
        at for at in range(1, start) if "," in request[words[at - 1].end() : words[at].start()]
    )
    comma = max(commas, default=0) if folded[:1] and folded[0] in VERBS else 0
    if all(call.arguments for call in calls):
        yield from [(0, joint)] * bool(joint)
        yield from [(0, comma)] * (comma > 0 and "and" not in folded[comma:start])


def _pieces(words: Sequence[str], first: int, last: int) -> Iterator[tuple[int, int]]:
    """The pieces of a run of words between "and"s, without leading articles or final grammar."""
    ends = [at for at in range(first, last) if words[at] in _JOINTS] + [last]
    for end in ends:
        start, first = first, end + 1
        while start < end and words[start] in _ARTICLES:
            start += 1
        while start < end and _is_grammar(words[end - 1]):
            end -= 1
        if start < end:
            yield start, end


def _known(texts: Iterable[str]) -> set[str]:
    return {_stem(word.casefold()) for text in texts for word in WORD.findall(text)}


def _is_grammar(word: str) -> bool:
    return re.split("['’]", word)[0] in GRAMMAR


def _stem(word: str) -> str:
    return re.sub(r"(?:ies|es|s|ed|ing|y|e)$", "", word) if len(word) > 3 else word
