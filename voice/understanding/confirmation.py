"""Calls of an answer that are held back, because the user is asked first.

A required value that cannot be read is asked for. A call that cannot be undone, or that ends the
conversation, has to be confirmed unless the user has plainly asked for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import starmap

from voice.types import ToolCall, ToolSpec
from voice.understanding.amendments import thing_of
from voice.understanding.english import (
    GRAMMAR,
    HESITATING,
    agrees,
    asks,
    disagrees,
    plain,
    says_only_yes,
)
from voice.understanding.farewell import SHALL_I_END, agrees_to_end, says_goodbye, takes_leave
from voice.understanding.opposites import LEFT_ALONE

_IS_THAT_ALL = re.compile(
    r"\b(?:is|was|will) (?:that|this|it)(?: be)? (?:all|everything|it|right|correct)\b"
    r"|\bshall i (?:place|send|confirm|submit) "
)
_ALL_OF_THEM = re.compile(r"\b(?:both|all)\b")
_GOING_ON = re.compile(
    r"(?:and|plus|also) (?!(?:no|not|never|don't|what|how|when|where|who|why|which|is|are|was|does"
    r"|do|did|have you|would you have|would you do)\b)(?!.*\b(?:nothing|none|nobody)\b)"
)
_CHANGES_IT = re.compile(
    r"(?:^|\b(?:then|and|but|actually|oh|sorry|please|can you|could you) )"
    r"(?:make|change|swap) (?:the|them|one|both|all|mine|my|his|her)\b"
    r"|^(?:(?:and|but|oh|so|um|uh|ok|okay|actually) )*(?:with|without"
    r"|(?:(?:really|very|nice and) )?(?:hot|iced)\b(?! (?!please|then|thanks)\w)"
    r"|(?:mine|hers|his|theirs)\b"
    r"|no \w+(?: \w+)? (?:in|on|for) (?:the|mine|hers|his|it|that)\b"
    r"|(?:(?:in|on|for) )?(?:one|two|both|all|each) of (?:them|those|these|the)\b"
    r"|(?:\w+ ){1,3}(?:is|are) for\b|the (?:\w+ ){1,3}(?:should|needs?|is|are|with|without|can)\b)"
)
"""Changes a part of what was asked about. "Make it a tea" is left out: it may replace all of it."""
_REFUSING = re.compile(rf"(?:(?:{HESITATING}|sorry|please) )*(?:no|nope|nah|not)\b")
_REPLACING = re.compile(
    rf"(?:(?:{HESITATING}|sorry|please|then|and|but|ok|okay) )*(?:make (?:it|that)|i meant?)\b"
    r"|.*\b(?:instead|rather)\b"
)
_SURE = (
    r"yes|yeah|yep|yup|aye|sure|of course|exactly|correct|go ahead|go on|sounds good"
    r"|(?:that's|it's) (?:it|right|correct|fine)"
)
_UNSURE = r"ok|okay|fine|alright|all right|perfect|we're good|please|then|thanks"
_YES = (
    rf"(?:(?:{HESITATING}) )*(?!please|then|thanks)(?:(?P<sure>{_SURE})|{_UNSURE})\b"
    rf"(?: (?:{_SURE}|{_UNSURE})\b)*+"
)
_BEGINS_WITH_YES = re.compile(
    rf"{_YES} (?!(?:no|nope|nah|not|never|don't|but|only|just|wait|actually"
    r"|sorry|hang on|hold on|or|if|make|change|swap|forget|cancel|scrap|remove|leave|keep|take"
    r"|without|whatever|how about|what about)\b)(?P<rest>.+)"
)
"""Agrees and goes on. "Ok" before a question, or before a correction, agrees to nothing."""
_NAMED = re.compile(r"(?<!'s )\bname(?:'s| is)\b|\b(?:it's|it is) (?:for|under)\b")
WHAT_ELSE = "Okay. What else would you like?"
_THAT_IS_ALL = "that's all"
_PLACES = {"first": 0, "former": 0, "second": 1, "latter": -1, "third": 2, "last": -1}


@dataclass(frozen=True, slots=True)
class Question:
    """A question that the agent has asked, and what answers to it do.

    Attributes:
        calls: The calls that a "yes" makes; with `options`, one call for each of them.
        options: The words to choose between; empty for a yes-or-no question.
        declined: What is said after a "no".
        to_what: The action in question, such as "turn off", if the answer is to name its object.
        at_parting: Whether it was asked once more when the user said goodbye.
    """

    calls: tuple[ToolCall, ...] = ()
    options: tuple[str, ...] = ()
    declined: str = LEFT_ALONE
    to_what: str = ""
    at_parting: bool = False

    def stays(self, tools: Mapping[str, ToolSpec]) -> bool:
        """Whether it is asked again behind what does not answer it: its tools have words for it."""
        specs = [tools[call.name] for call in self.calls if call.name in tools]
        known = bool(specs) and not self.options and len(specs) == len(self.calls)
        return known and all(one.meant and not one.confirmation for one in specs)

    def mild(self, tools: Mapping[str, ToolSpec]) -> bool:
        """Whether what was asked about can be changed later, and its tools have words for it."""
        return self.stays(tools) and not any(tools[call.name].undoes for call in self.calls)

    def adds(self, tools: Mapping[str, ToolSpec]) -> bool:
        """Whether it is about things to be added, not about changes of things that are there."""
        return self.mild(tools) and not any(c.name.startswith("change_") for c in self.calls)

    def answered(self, message: str, tools: Mapping[str, ToolSpec]) -> tuple[ToolCall, ...] | None:
        """The calls that an answer to the question asks for, an empty tuple for a "no".

        None if the message does not answer the question.
        """
        if (chosen := _chosen(message, self.options)) is not None:
            return (self.calls[chosen],)
        if self.stays(tools) and re.fullmatch(_YES, plain(message)):
            return self.calls
        # What the thing is to replace ("instead of …") is left to the tool.
        yes = re.sub(r"\s(?:instead|rather)\b.*", "", message)
        answers = [_answer(tools[call.name], yes) for call in self.calls]
        if None in answers or not answers:
            return None
        if all(answers) and len(self.options) > 1 and not _ALL_OF_THEM.search(plain(message)):
            return None
        return self.calls if all(answers) else ()

    def refused(
        self, message: str, calls: Sequence[ToolCall], tools: Mapping[str, ToolSpec]
    ) -> tuple[ToolCall, ...]:
        """The calls that a "no" rules out: the one asked about, without new values from the "no".

        None after a question about several calls, which may still be wanted, or a `mild` one.
        """
        said = plain(message)
        if len(self.calls) != 1 or self.mild(tools) or not _REFUSING.match(said):
            return ()
        (asked,) = self.calls

        def is_new(name: str, value: object) -> bool:
            in_message = not isinstance(value, str) or plain(value) in said
            return value != asked.arguments.get(name) and in_message

        alike = (call for call in calls if call.name == asked.name)
        return tuple(call for call in alike if not any(starmap(is_new, call.arguments.items())))

    def passed_over(self, message: str, tools: Mapping[str, ToolSpec]) -> bool:
        """Whether a message says "yes" and goes on, or takes the "yes" for granted.

        Only for things to be added it is taken for granted: "and a tea", "that's all", "with oat
        milk". A message that names them once more is read as a whole instead.
        """
        if not self.stays(tools):
            return False
        said, adds = plain(message), self.adds(tools)
        changers = {f"change_{call.name.partition('_')[2]}" for call in self.calls}
        changes = adds and changers <= tools.keys() and _CHANGES_IT.search(said) is not None
        named = self._names(said, tools)
        if changes and (named or not self._names_another(said, tools)):
            return True
        if yes := _BEGINS_WITH_YES.match(said):
            return not named and (bool(yes["sure"]) or not asks(yes["rest"]))
        # "That's all" and a name count too: with the open calls there is an order to place.
        asked = (one.confirmation for one in tools.values() if not one.ends)
        ends = any(one.plainly(message) for one in asked if one and not one.always)
        ends = ends or (_NAMED.search(said) is not None and not asks(said))
        return adds and (ends or _GOING_ON.match(said) is not None)

    def _names_another(self, said: str, tools: Mapping[str, ToolSpec]) -> bool:
        words = [word for word in said.split() if word not in GRAMMAR]
        spans = {" ".join(words[at : at + n]) for n in (1, 2) for at in range(len(words))}
        specs = (tools[call.name] for call in self.calls)
        readings = (spec.readings[n] for spec in specs for n in spec.required if n in spec.readings)
        return any(reading.read(span) is not None for reading in readings for span in spans)

    def _names(self, said: str, tools: Mapping[str, ToolSpec]) -> bool:
        words = {word.removesuffix("s") for word in said.split()}
        return any(not words.isdisjoint(thing_of(one, tools[one.name])) for one in self.calls)

    @classmethod
    def which(
        cls, call: ToolCall, options: Mapping[str, Sequence[str]], ids: Callable[[str], str]
    ) -> Question:
        """The question which of several values is meant for an argument of a call."""
        given = [(argument, value) for argument, values in options.items() for value in values]
        calls = (
            replace(call, call_id=ids("call"), arguments={**call.arguments, argument: value})
            for argument, value in given
        )
        return cls(tuple(calls), tuple(value for _, value in given))

    @classmethod
    def whether_all(
        cls, question: str, tools: Mapping[str, ToolSpec], call_id: str
    ) -> Question | None:
        """The question "is that all?" of a reply, to which a "yes" means "that's all".

        None for other questions, and if "that's all" would do nothing.
        """
        if not _IS_THAT_ALL.search(plain(question)):
            return None
        name = _asked_for(tools, _THAT_IS_ALL)
        return cls((ToolCall(call_id, name, {}),), declined=WHAT_ELSE) if name else None


@dataclass(frozen=True, slots=True)
class HeldBack:
    """The calls that are made, and the question in place of those held back.

    Attributes:
        made: The calls that are made, in order.
        question: What the user is asked in place of the calls held back.
        unconfirmed: The calls that a "yes" to the question makes.
    """

    made: tuple[ToolCall, ...]
    question: str = ""
    unconfirmed: tuple[ToolCall, ...] = ()


def readable_ones(calls: Sequence[ToolCall], tools: Mapping[str, ToolSpec]) -> HeldBack:
    """The calls whose required values can be read, or the question for a value that cannot.

    A call that its tool answers with a statement ("There is no back door.") rather than a question
    is made beside readable ones, so that the tool says so. No call is made if a readable one undoes
    something that an unreadable one was to replace.
    """
    asked = {call.call_id: _question(call, tools.get(call.name)) for call in calls}
    made = tuple(call for call in calls if not asked[call.call_id])
    undoes = any(call.name in tools and tools[call.name].undoes for call in made)
    if len(made) == len(calls) or (made and not undoes):
        return HeldBack(tuple(c for c in calls if not asked[c.call_id].endswith("?")))
    return HeldBack((), next(filter(None, asked.values())))


def confirmed_ones(
    calls: Sequence[ToolCall], tools: Mapping[str, ToolSpec], message: str
) -> HeldBack:
    """The calls that need no confirmation, or get it in the user's message; others are held back.

    A call that would end the conversation gives way to one that the message plainly asks for:
    "that's all, thanks" places the open order. With a goodbye in the message, calls beside that end
    are not confirmed any more: "for Emil, goodbye".
    """
    specs = [tools[call.name] for call in calls if call.name in tools]
    leaves = any(spec.ends for spec in specs) and takes_leave(message)
    last = {s.name for s in specs if leaves and s.confirmation and not s.confirmation.always}
    if not last:
        calls = _instead_of_the_end(calls, tools, message)
    doubts = ("" if c.name in last else _doubt(c, tools.get(c.name), message) for c in calls)
    asked = dict(zip((call.call_id for call in calls), doubts, strict=True))
    # Whoever asks for something else as well hardly wants to leave, unless they say so.
    calls = [call for call in calls if asked[call.call_id] != SHALL_I_END] or calls
    made = tuple(call for call in calls if not asked[call.call_id])
    held = tuple(call for call in calls if asked[call.call_id])
    questions = dict.fromkeys(asked[call.call_id] for call in held)
    return HeldBack(made, " ".join(questions), held)


def replaces(message: str) -> bool:
    """Whether a message refuses what was asked about, or wants other things in its place."""
    said = plain(message)
    return bool(_REFUSING.match(said) or _REPLACING.match(said))


def _instead_of_the_end(
    calls: Sequence[ToolCall], tools: Mapping[str, ToolSpec], message: str
) -> Sequence[ToolCall]:
    ends = [call for call in calls if call.name in tools and tools[call.name].ends]
    if not ends:
        return calls
    rest = [call for call in calls if call not in ends]
    name = _asked_for(tools, message)
    if not name:
        return calls
    made = any(call.name == name for call in rest)
    return rest if made else [*rest, replace(ends[0], name=name, arguments={})]


def _asked_for(tools: Mapping[str, ToolSpec], message: str) -> str:
    """Name of the tool with a confirmation that a message plainly asks for; empty for none."""
    for spec in tools.values():
        asked = spec.confirmation
        if asked and not asked.always and asked.plainly(message) and asked.question({}):
            return spec.name
    return ""


def _chosen(message: str, options: Sequence[str]) -> int | None:
    """Index of the option that a message names, by its place or by words no other option has."""
    said = set(plain(message).split()) - GRAMMAR
    places = [place for word, place in _PLACES.items() if word in said]
    if len(options) > 1 and len(said) == len(places) == 1 and places[0] < len(options):
        return places[0] % len(options)
    named = [at for at, option in enumerate(options) if said and said <= {*plain(option).split()}]
    return named[0] if len(named) == 1 else None


def _answer(spec: ToolSpec, message: str) -> bool | None:
    if spec.ends:
        return agrees_to_end(message) or None
    # "No" to "anything else?" would plainly ask for the order; to this question it is a no.
    if disagrees(message):
        return False
    asked = spec.confirmation
    return agrees(message) or (asked is not None and asked.plainly(message)) or None


def _question(call: ToolCall, spec: ToolSpec | None) -> str:
    """The question for a required value that cannot be read; empty if all can."""
    if spec is None:
        return ""
    for name in spec.required:
        reading, value = spec.readings.get(name), call.arguments.get(name)
        question = reading.question(value) if reading and isinstance(value, str) else ""
        if question:
            return question
    return ""


def asks_plainly(message: str, spec: ToolSpec) -> bool:
    """Whether a message asks so plainly for what a tool does that it need not be confirmed.

    A bare "yes" asks for nothing: where a question about the call was open, it has answered that.
    """
    asked = spec.confirmation
    if spec.ends:
        return asked.plainly(message) if asked else says_goodbye(message)
    return asked is not None and asked.plainly(message) and not says_only_yes(message)


def _doubt(call: ToolCall, spec: ToolSpec | None, message: str) -> str:
    if spec is None:
        return ""
    asked = spec.confirmation
    if asks_plainly(message, spec) and not (asked and asked.always):
        return ""
    if spec.ends:
        return SHALL_I_END
    return asked.question(call.arguments) if asked else ""
