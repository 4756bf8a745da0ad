"""Splits a message into its requests: "turn off the lights and set a timer" is two.

Some requests are answered without the model, and a small model drops some if there are several. So
a message is cut after "and" and the like, before a verb that begins another request, and its
requests are answered one after the other. Words of a request that no call has carried are asked
about again in the same way. Only sure cuts are made: in doubt the model sees the whole message.
English only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from types import MappingProxyType

from voice.dialogue.history import History
from voice.types import Message, Reading, Role, ToolCall, ToolSpec
from voice.understanding.corrections import pointed_out
from voice.understanding.english import (
    GRAMMAR,
    LONGEST_MESSAGE,
    NUMBERS,
    VERBS,
    as_read,
    asks,
    bare,
    is_courteous,
    may_ask,
    plain,
    without_article,
    written_out,
)
from voice.understanding.remarks import clauses_told
from voice.understanding.repairs import repaired
from voice.understanding.separate_items import told_apart
from voice.understanding.slot_values import clauses

NO_TOOLS: Mapping[str, ToolSpec] = MappingProxyType({})
MOST = 4
"""Most requests in one message; the rest of the message belongs to the last one."""

_LONGEST = 80
"""Words; a longer message is not split."""
_RECENT = 8
"""How many entries of the dialogue, this message included, words such as "then" may refer to."""
_SHORT = 6
"""Most words of an answer to "what shall I turn off?"."""
_NO_THING = re.compile(r"^(?:\W*(?:oh|no|yes|um|uh|well|just|sorry|i mean)\b)*\W*", re.IGNORECASE)
_JOINT = re.compile(r"[,.;!?]*\s+(?:(?:and|then|also|plus),?\s+)+|[,.;!?]+\s+", re.IGNORECASE)
_BEGINS = re.compile(rf"(?:remember that|{'|'.join(VERBS)}) (?!(?:it|them|that|ones?)\b)\S")
"""The beginning of a request about another thing than the request before it."""
_WISHES = re.compile(
    r"(?:[\w']+ ){1,4}?(?:needs?|wants?|would like)\b"
    r"(?! (?:to )?(?:ask|check|find out|hear|know)\b)"
)
"""The beginning of a request that says who needs something: "my dog needs his drops"."""
_FREE_TEXT = re.compile(
    r"\b(?:remind|reminders?|remember|note|message|search|look|to ?do|says?|said"
    r"|don't (?:let me )?forget)\b"
)
"""What follows such a word may be free text, verbs included: "remind me to feed the cat and …"."""
_OF_ONE_THING = re.compile(
    r"\b(?:remember|note)(?: down)?(?: that)? (?:[\w']+ ){1,4}?(?:\w+'s|is|isn't|was|has)\b"
)
"""A fact about a single thing; no bare verb goes on with it: "my bike is in the shed and …"."""
_OF_A_FACT = re.compile(r"(?:are|can|could|did|do|does|have|will|would)\b(?! (?:i|you|we)\b)")
"""May go on with a fact about a single thing: "my son is six and can swim"."""
_OUTRIGHT = re.compile(
    r"(?:remind|tell|wake|give|show|read) (?:me|out)\b|(?:set|start|add) (?:a|an|the|my)\b"
    r"|what(?:'s| is)\b|how (?:long|much|many|is)\b|cancel (?:the|my)\b|list (?:the|my|all)\b"
)
"""Beginnings of requests to the agent that are hardly ever part of a free text."""
_TO_BE_DONE = re.compile(
    r"\b(?P<verb>(?:turn|switch|shut)(?= (?:[\w']+ ){0,4}?(?:on|off|out|down|up)\b)"
    r"|(?:put|take|bring)(?= (?:(?:everything|all|it|them|that|the) )*(?:on|off|back)\b))"
    r" (?:[\w']+ )*?(?P<way>on|off|out|down|up|back)\b"
    r"|\b(?P<alone>cancel|change|clear|close|delete|lock|move|open|remove|start|stop|unlock)\b"
)
_ASKING_BESIDE = re.compile(
    r"(?P<lead>(?:(?:hold on|hang on|wait|um+|uh+|err?|erm|oh|well|and|but)\W+)*)"
    r"(?:what|which|how) "
    r"(?:\w+ ){0,2}(?:do|have|can|is|are|does) (?:you|i|we|it|that|there|the)\b"
)
"""A question beside an order: ", err, what sizes do you have?"."""
_NO_REQUEST = re.compile(
    r"(?<!check )(?<!see )(?<!out )\bif\b|\b(?:when|because|after|before|while|until|unless|said)\b"
    r"|(?:go ahead|favou?r)$"
)


@dataclass(frozen=True, slots=True)
class Request:
    """A part of a message.

    Attributes:
        again: If these are words that no call has carried, and so are asked about again: names of
            the tools that were called the first time.
    """

    text: str
    again: frozenset[str] = frozenset()

    def served_by(self, call: ToolCall, tools: Mapping[str, ToolSpec]) -> bool:
        """Whether a call fits this request.

        For words that were left out, only tools that were called before count, and only with
        values from these words: asked about "just in case", a model would find something to do.
        """
        if not self.again:
            return True
        required = tools[call.name].required if call.name in tools else ()
        said = f" {_plain(self.text)} "
        values = (_plain(str(call.arguments.get(name, ""))) for name in required)
        return call.name in self.again and bool(required) and all(f" {v} " in said for v in values)


@dataclass(frozen=True, slots=True)
class Requests:
    """The requests of the user's last message, and how far the agent has come with them.

    Attributes:
        item_id: Entry of the message, the last one if it has several.
        first: The request that the model sees in place of the message.
        left: Requests that have not been started.
        later: Requests started after the first, each with the id of the entry it follows.
        joined: The message's other entries, if the user went on with it at once.
    """

    item_id: str
    first: Request
    left: tuple[Request, ...]
    later: tuple[tuple[Request, str | None], ...] = ()
    joined: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        dialogue: History,
        whole: bool,
        tools: Mapping[str, ToolSpec] = NO_TOOLS,
        to_what: str = "",
        called: Callable[[str], object] = lambda words: None,
    ) -> Requests | None:
        """The requests of the user's last message, self-repairs applied.

        None if the dialogue does not end with a user message. Empty entries, such as a cough's, do
        not count.

        Args:
            dialogue: Ends with the message.
            whole: Whether the message is kept as one request.
            tools: By name; they tell which words name a thing.
            to_what: The action the agent asked about, such as "turn off" in "what shall I turn
                off?"; an answer that only names a thing is prefixed with it.
            called: The call that words make by patterns, without the model; None for none.
        """
        entries = [one for one in dialogue if one.message.content.strip() or one.message.tool_calls]
        if not entries or entries[-1].message.role is not Role.USER:
            return None
        *joined, last = (one.item_id for one in next(dialogue.said()))
        said = " ".join(one.message.content for one in entries[-1 - len(joined) :])
        read = as_read(said)
        if len(said) > LONGEST_MESSAGE or len(re.findall(r"[^\s,;]+", read)) > _LONGEST:
            # Too long for one spoken message, and slow to parse.
            return cls(last, Request(said), (), joined=tuple(joined))
        meant = repaired(written_out(read))
        said_plainly = {word.partition("'")[0] for word in plain(meant).split()}
        answers = VERBS.isdisjoint(said_plainly) and len(meant.split()) <= _SHORT
        if to_what and answers and said_plainly - GRAMMAR:
            meant = f"{to_what} {_NO_THING.sub('', meant)}"
        before = [entry.message for entry in entries[-_RECENT : -1 - len(joined)]]
        parts = (part for one in requests(meant) for part in beside_a_call(one, called))
        apart = (pointed_out(one, before) for one in ((meant,) if whole else parts))
        is_thing = partial(_is_thing, tools)
        first, *left = (Request(part) for one in apart for part in told_apart(one, is_thing))
        return cls(last, first, tuple(left), joined=tuple(joined))

    def behind_a_yes(self) -> Requests:
        """The same requests after a "yes", which the message takes for granted."""
        return replace(self, first=Request("yes"), left=(self.first, *self.left))

    def once_more(self) -> Requests:
        """The same requests, begun anew with the current one; the others are not seen any more."""
        left = (self.current, *self.left)
        return replace(self, first=Request(""), left=left, later=())

    @property
    def current(self) -> Request:
        """The request that is being answered."""
        return self.later[-1][0] if self.later else self.first

    def leaving_out(self, parts: Iterable[str], called: Iterable[str]) -> Requests:
        """Add the parts of the current request that its calls (``called``) do not carry.

        A part that begins with a verb is a new request, unless it may be the end of a free text.
        """
        again = frozenset(called)
        text = _FREE_TEXT.search(_plain(as_read(self.current.text)))
        asked = (
            Request(p, frozenset() if _BEGINS.match(_plain(p)) and not text else again)
            for p in parts
        )
        return replace(self, left=(*asked, *self.left))

    def go_on(self, last_id: str | None) -> Requests:
        """Start the next request after entry ``last_id``; it replaces one that made no calls."""
        kept = tuple(one for one in self.later if one[1] != last_id)
        return replace(self, later=(*kept, (self.left[0], last_id)), left=self.left[1:])

    def seen(self, dialogue: History) -> History:
        """The dialogue with the requests started so far in place of the message."""
        seen = dialogue.copy()
        known = {entry.item_id for entry in seen}
        texts = {**dict.fromkeys(self.joined, ""), self.item_id: self.first.text}
        for item_id in known.intersection(texts):
            seen.say(item_id, texts[item_id])
        for number, (request, behind) in enumerate(self.later):
            place = behind if behind in known else None
            seen.add(f"{self.item_id}/{number}", Message(Role.USER, request.text), place)
        return seen


def beside_a_call(request: str, called: Callable[[str], object]) -> Iterator[str]:
    """Split a request between words that make its call by patterns and words that want more.

    The patterns would answer all of it, and the rest would be lost.
    """
    call = called(request)
    for joint in _JOINT.finditer(request) if call else ():
        sides = request[: joint.start()], request[joint.end() :]
        others = [one for one in sides if called(one) != call]
        if len(others) == 1 and _wants(others[0]):
            yield sides[0]
            yield from beside_a_call(sides[1], called)
            return
    yield request


def parted(message: str) -> list[str]:
    """The clauses of a message's requests: "put it on hold and tell me the hours" has two."""
    return [clause for one in requests(message) for clause in clauses(one)]


def with_own_calls(message: str, called: Callable[[str], str]) -> Iterator[str]:
    """The parts of a message that each make another call, ``called``, with the words around them.

    Only words that ask or wish for something begin a new part.

    >>> def called(words): return next((one for one in ("owe", "open") if one in words), "")
    >>> [*with_own_calls("what do I owe, I lost a book, and tell me when you open", called)]
    ['what do I owe, I lost a book', 'tell me when you open']
    """
    before, said = "", list[str]()
    for clause in parted(message):
        asked = may_ask(clause) or _wants(bare(clause, "and|also|but|so|plus"))
        name = called(clause) if asked else ""
        if name and before not in ("", name):
            yield ", ".join(said)
            said = []
        before, said = name or before, [*said, clause]
    yield ", ".join(said)


def _wants(words: str) -> bool:
    """Whether words ask or wish for something, and are no courtesy, reason or lead-in."""
    said = plain(words)
    begins = _BEGINS.match(said) or _WISHES.match(said)
    tells = is_courteous(words) or all(tells for _, tells in clauses_told(words))
    return bool(begins) and not (tells or GRAMMAR.issuperset(said.split()))


def _is_thing(tools: Mapping[str, ToolSpec], words: str) -> bool:
    """Whether words name a thing that a tool handles, such as a timer or a drink to order."""
    kinds = (name.split("_") for name in tools)
    if {words.split()[-1], words.split()[-1].removesuffix("s")} & {k[-1] for k in kinds if k[1:]}:
        return True
    own = ((spec.name.partition("_")[2], spec.readings) for spec in tools.values())
    return any(
        thing in readings and not readings[thing].anywhere and _reads(readings[thing], words)
        for thing, readings in own
    )


def _reads(reading: Reading, words: str) -> bool:
    """Whether a value can be read from the last of the words: "medium lattes"."""
    parts = words.split()
    return any(reading.read(" ".join(parts[at:])) is not None for at in range(len(parts)))


@lru_cache(maxsize=64)
def requests(message: str) -> tuple[str, ...]:
    """Split a message into requests, in its own words.

    >>> requests("Lock the door, and then tell me what's on my list.")
    ('Lock the door', "tell me what's on my list.")
    >>> requests("remind me to lock the door and turn off the lights")
    ('remind me to lock the door and turn off the lights',)
    """
    parts: list[str] = []
    start = 0
    for joint in _JOINT.finditer(message):
        before, behind = _plain(message[start : joint.start()]), _plain(message[joint.end() :])
        # A comma alone is no sign of a new request: it also follows "hello there".
        joined = joint[0].strip(" ,.;!?")
        # "Does clearing it also clear the others?" is one question.
        whole = joined.lower() == "also" and asks(before)
        ordered = _AND_ONE.search(before) or _COUNTING.search(before)
        beside = _ASKING_BESIDE.match(behind) if ordered and not asks(before) else None
        # "Can you tell me, when are you open" is one as well.
        asks_it = _BEGINS.match(before) and not GRAMMAR.issuperset(before.split())
        sure = not whole and bool(joined or beside or asks_it)
        if sure and len(parts) < MOST - 1 and _apart(before, behind):
            parts.append(message[start : joint.start()])
            start = joint.end() + (beside.end("lead") if beside else 0)
    return (*parts, message[start:])


_COUNTING = re.compile(
    r"\b(?:another|both|each|more|second|too|again|same|twice|also|couple|few|\d+"
    rf"|{'|'.join(NUMBERS - {'one'})})\b"
)
"""Says that there are several of a thing."""
_AND_ANOTHER = re.compile(r"\band (?:an?|one|some)\b")
_AND_ONE = re.compile(r"\b(?:an?|one|some|the)\b")


def distinct(
    request: str, calls: Sequence[ToolCall], tools: Mapping[str, ToolSpec]
) -> tuple[ToolCall, ...]:
    """Drop calls that repeat another call for the same words: "one latte, black, ta" is one.

    Calls for several things each have words of their own, or the request counts them. A call for a
    value that the request denies is dropped too if its tool has another call: "20 minutes, not 25".
    """
    kept: list[ToolCall] = []
    said = _plain(request)
    meant = [call for call in calls if not _is_denied(said, call)]
    names = {call.name for call in meant}
    for call in calls:
        if call not in meant and call.name in names:
            continue
        twins = (at for at, one in enumerate(kept) if _once(request, one, call, tools))
        at = next(twins, None)
        if at is None:
            kept.append(call)
        elif len(call.arguments) > len(kept[at].arguments):
            kept[at] = call
    return tuple(kept)


def _is_denied(said: str, call: ToolCall) -> bool:
    values = (re.escape(_plain(str(value))) for value in call.arguments.values())
    return any(re.search(rf"\b(?:not|rather than) (?:the |an? )?{one}\b", said) for one in values)


def _once(request: str, one: ToolCall, two: ToolCall, tools: Mapping[str, ToolSpec]) -> bool:
    """Whether two calls stem from the same words, and one has all the values of the other."""
    spec = tools.get(one.name)
    required = spec.required if spec else ()
    if spec is None or one.name != two.name or not (required or not spec.read_only):
        return False
    given = [
        {name: without_article(_plain(str(v))) for name, v in call.arguments.items()}
        for call in (one, two)
    ]
    # "A tea" says no more than "tea", unless the request adds another one.
    if not _AND_ANOTHER.search(_plain(request)):
        given = [{n: v for n, v in of.items() if v not in ("a", "an")} for of in given]
    less, more = sorted(given, key=len)
    if less.items() - more.items():
        return False
    if not required:
        # Without required values there is nothing to tell two calls apart: "confirm, please,
        # Henrietta" places one order.
        return True
    said, thing = _plain(request), less.get(required[0], "")
    before, found, behind = said.partition(thing)
    if not found or re.search(rf"\b{re.escape(thing)}", behind):
        return False
    rest = f"{before} {behind}"
    for value in more.values():
        rest = rest.replace(value, " ")
    return not (_COUNTING.search(rest) or (less != more and _AND_ONE.search(behind)))


def _apart(before: str, behind: str) -> bool:
    """Whether a request ends here and another begins."""
    begins = _BEGINS.match(behind) or _ASKING_BESIDE.match(behind)
    if " " not in before or _NO_REQUEST.search(before) or not begins:
        return False
    fact = _OF_ONE_THING.search(before) and not _OF_A_FACT.match(behind)
    return bool(fact or not _FREE_TEXT.search(before) or _OUTRIGHT.match(behind))


def to_be_done(request: str) -> str:
    """The action that a request asks for, without its object: "turn off"; empty if unclear."""
    found = _TO_BE_DONE.search(plain(request))
    return found["alone"] or f"{found['verb']} {found['way']}" if found else ""


def _plain(text: str) -> str:
    return text.strip().lower().replace("’", "'")
