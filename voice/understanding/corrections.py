"""Short corrections after a call: "no, fifteen", "sugar, not honey", "not small, sorry, medium".

The call is made again with one argument replaced. Which one is never guessed: either it contains
the words that are taken back, or the new value is a number and only one argument has a number. By
their names, ``change_timer`` changes what ``set_timer`` made, and ``remove_from_list`` takes back
what ``add_to_list`` did. A question may also continue the one before: "and in Paris?" asks the same
about another place. Everything else is left to the model. English only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from voice.tools.spoken_dates import is_day, is_moment
from voice.tools.spoken_results import spoken_result
from voice.types import Message, Role, ToolCall, ToolSpec
from voice.understanding.amendments import amended, reading_of
from voice.understanding.english import (
    HESITATING,
    TAKING_BACK,
    UNITS,
    VERBS,
    as_read,
    asks,
    plain,
    word_set,
)
from voice.understanding.missed_requests import spellings
from voice.understanding.opposites import ENDING, asks_to_end
from voice.understanding.repairs import kind_of, repaired
from voice.understanding.tool_sentences import closing_question

_CORRECTING = (
    rf"{TAKING_BACK}|wait|actually|i said|i wanted|make it|put it (?:at|on|to)"
    r"|that's (?:wrong|not right|not what i said)"
)
_LEAD = (
    rf"(?:(?:{_CORRECTING}|{HESITATING}|and|but|i'll have|i'd like|i want|i need|it's|it is|it was"
    r"|ok|okay|so|just|with|have|use|put|for|at|about|around|roughly)\b ?)*"
)
_TAIL = r"(?: (?:now|please|sorry|after all|instead|actually|though|then|i said|i meant))*"
_SAID = re.compile(rf"{_LEAD}(?P<value>.+?){_TAIL}")
_DENIED = re.compile(rf"{_LEAD}(?:not|did you say|you said) (?:the |an? )?(?P<rest>.+)")
_NOT_SO = re.compile(
    rf"{_LEAD}(?:(?P<thing>[\w' ]+?)(?: (?:was|is|were|are)n't|(?:'s| (?:was|is|were|are)) not)"
    r"|(?:(?:keep|leave|make) (?:it|that|them) )?(?:(?:but|just) )*not)"
    rf" (?:(?:supposed|meant) to be )?(?P<what>\w+){_TAIL}"
)
"""Says what a thing was not to be: "the tea wasn't decaf", "keep it, just not decaf"."""
_LENGTH = re.compile(r"\b(?:second|minute|hour|day)s?\b")
_CLOCK = re.compile(r"noon|midnight|past|o'clock|:")
_KEEPING = re.compile(
    r"(?:(?:no|oh|wait|stop|sorry|actually|please|don't|hang on|hold on|on second thoughts?) )*"
    r"(?:keep|leave) (?:it|that|them|(?:the|my) [\w' ]{1,20}?)(?: (?:as it is|in|on|then|please))*"
)
"""Asks to keep a thing, and for nothing else."""
MAKING = frozenset(("set", "add", "order", "create", "book"))
"""Verbs that begin the names of tools which make something."""
_REFUSING = re.compile(
    r"(?:(?:no|nope|oh|wait|stop|sorry|actually|please|but|ok|okay|hang on|hold on) )*"
    r"(?:(?:don't|do not|(?:i|we) (?:don't|do not|didn't|did not) (?:actually |really )?"
    r"(?:want|need|mean|ask)(?: for)?(?: (?:you )?to)?)(?: (?P<what>.+?))??"
    r"|(?P<pointed>(?:cancel|forget|never ?mind|reverse|scratch|undo) (?:that|it|this|them)"
    r"|take (?:that|it|this|them) back))"
    r"(?: (?:please|sorry|then|now|after all|at all|any ?more))*"
)
"""Does not want something, and says nothing else."""
_OF_ANYTHING = word_set("it that this them those the a an my me do doing for to")
"""Words of a refusal that name nothing."""
_NO = re.compile(
    rf"(?:(?:{HESITATING})\W+)*"
    r"(?:no[,.;:!]|(?:no\W+)?(?:nope|sorry|rather|i (?:said|meant|mean))\b)",
    re.IGNORECASE,
)
"""Begins a message that says what was meant instead; "no mocha" may mean that none is."""
_MORE = re.compile(r",(?! (?:please|thanks|sorry|i (?:said|meant|mean))\b)", re.IGNORECASE)
_DENYING = re.compile(r"n't\b|\b(?:no|not|without|never|off|out|only|just|leave|keep)\b")
_LONGEST = 12
"""Most words of a short correction; the new value has at most `_LONGEST_VALUE`."""
_LONGEST_VALUE = 4
_TELLING = frozenset(("it", "it's", "is", "are", "was", "want", "wants", "that's", "ones"))
_POINTING = re.compile(
    r"\b(until|till|to|on|before|after) (?:then|that day)\b|\b(the day (?:after|before))(?=\W*$)",
    re.IGNORECASE,
)
_ONE_MORE = re.compile(
    r"(?:(?:and|also|plus|ok|okay|yes|then|please|set|make) )*(?:another )?one (?:more )?"
    r"(?:also |too )?(?:for|at|on) (?P<when>.+)"
)
_RECKONS = re.compile(
    r"\b(?:add|plus|minus|subtract|take|times|multiply|multiplied|divide|divided|split|share|half"
    r"|double|round|rounded|squared|percent|tip)\b.*\b(?:that|this|it)\b(?! \d)"
    r"|\b(?:that|this|it)\b (?:plus|minus|times|divided|squared|rounded|split|up|down)\b",
    re.IGNORECASE,
)
"""Calculates on with the last result: "and add twenty to that"."""
_POINTING_AT = re.compile(r"\b(?:that|this|it|there|the same)\b", re.IGNORECASE)
_ALSO = re.compile(r" (?:too|as well|also|please)\b")
_ENDING_IT = re.compile(r"\b(cancel|stop|delete|remove) (?:it|that)(?=\W*$)", re.IGNORECASE)
_GOES_ON = re.compile(
    r"(?:(?:ok|okay|so|right|well|thanks|hm+|oh)\W+)*(?:(?:and )?(?:what|how) about"
    r"|and(?= (?:in|on|at|till|until|to|for|from|by|into|as|next|this|today|tomorrow)\b|.*\?\s*$"
    r"| (?-i:[A-Z][a-z])[\w'-]*(?: [\w'-]+){0,2}\W*$))"
    r" (?P<rest>.+)",
    re.IGNORECASE,
)


def followed(messages: Sequence[Message], tools: Mapping[str, ToolSpec]) -> ToolCall | None:
    """The call that the last message asks to repeat with another value, else None.

    Only a read-only call of the turn before can be repeated, and only if the message does not name
    another tool's thing.
    """
    *before, last = messages
    going_on = _GOES_ON.match(as_read(last.content)) if last.role is Role.USER else None
    words = re.findall(r"[\w']+", going_on["rest"].lower()) if going_on else []
    asked = _asked(before)
    calls = [call for message in before[asked:] for call in message.tool_calls]
    if not words or len(words) > _LONGEST or words[0] in VERBS or not calls:
        return None
    if going_on and asks(going_on["rest"]):
        # "And what's it doing in Gdansk?" is a complete question.
        return None
    spec = tools.get(calls[-1].name)
    if spec is None or not (spec.read_only and spec.properties):
        return None
    own = {*spec.name.split("_")}
    things = {part for name in tools for part in name.split("_")[1:]} - own - {"to", "from"}
    named = {form for word in words for form in (word, word.removesuffix("s"))}
    return None if things & named or {c.name for c in calls} != {spec.name} else calls[-1]


def with_the_rest(call: ToolCall, before: ToolCall, tool: ToolSpec) -> ToolCall:
    """The call with the other values of the call before it: "and in Paris?" is about the same day.

    A call of another tool stays as it is. If a required value differs, only required values are
    taken over: another light is not in the room that was named before.
    """
    if call.name != before.name:
        return call
    required = {*tool.required}
    same = all(call.arguments.get(name) == before.arguments.get(name) for name in required)
    kept = {n: one for n, one in before.arguments.items() if same or n in required}
    return replace(call, arguments={**kept, **call.arguments})


def pointed_out(message: str, messages: Sequence[Message]) -> str:
    """The message with words that refer back replaced: "how many days until then", "cancel it".

    They refer to the newest day given to a call, the number that was worked out last, or the newest
    thing that was made.
    """
    calls = [call for one in reversed(messages) for call in reversed(one.tool_calls)]
    parts = [part for call in calls if len(part := call.name.split("_")) == 2]
    one_more = _ONE_MORE.fullmatch(plain(message))
    thing = next((thing for verb, thing in parts if verb in ("set", "change")), "")
    if one_more and thing and is_moment(when := _ALSO.sub("", one_more["when"])):
        return f"set {'an' if thing[0] in 'aeiou' else 'a'} {thing} for {when}"
    if _POINTING.search(message):
        values = (str(value) for call in calls for value in call.arguments.values())
        day = next(filter(is_day, values), "")
        return _POINTING.sub(rf"\1\2 {day}", message) if day else message
    if number := _worked_out(messages) if _RECKONS.search(message) else "":
        return _POINTING_AT.sub(number, message, count=1)
    thing = next((thing for verb, thing in parts if verb in MAKING), "")
    return _ENDING_IT.sub(rf"\1 the {thing}", message) if thing else message


def _worked_out(messages: Sequence[Message]) -> str:
    """The bare number that the newest result of a tool comes to: "… is 84."; else empty."""
    told = next((one.content for one in reversed(messages) if one.role is Role.TOOL), "")
    found = re.fullmatch(r"(?:(?!\. ).)+ is (-?[\d.]+)\.", told)
    return found[1] if found else ""


def on_the_same(call: ToolCall, tool: ToolSpec, messages: Sequence[Message]) -> ToolCall:
    """The call, on the list of the turn before if the user names none: "add a torch".

    That goes for an optional argument with the name that ends the tool's own. A read-only call
    takes it over only if the message refers to it: "what's still on it".
    """
    thing = call.name.rpartition("_")[2]
    optional = tool.properties.keys() - {*tool.required, *call.arguments}
    asked = [at for at, one in enumerate(messages) if one.role is Role.USER][-2:]
    if not asked:
        return call
    calls = [one for message in messages[asked[0] :] for one in message.tool_calls]
    same = calls[-1].arguments.get(thing) if calls and calls[-1].name.endswith(thing) else None
    open_ = tool.read_only and not _POINTING_AT.search(messages[asked[-1]].content)
    if open_ or thing not in optional or not same:
        return call
    return replace(call, arguments={**call.arguments, thing: same})


def corrected(
    message: str, before: Sequence[Message], tools: Mapping[str, ToolSpec]
) -> tuple[ToolCall, ...]:
    """The calls that carry out a correction, with the ids of the calls they correct.

    Empty if the message is no plain correction; the model then gets it.

    Args:
        message: What was said; a correction says nothing else.
        before: The dialogue as the model sees it, up to the message.
        tools: The tools that run here, by name.
    """
    words = re.sub(r"[^\w':\s]", " ", message.lower().replace("’", "'")).split()
    if len(words) > _LONGEST:
        return ()
    for new, old in _readings(" ".join(words)):
        made = list(_made(before if old else before[_last_done(before, tools) :], tools))
        if calls := _again(made if old else made[:1], tools, new, old):
            return calls
    return _instead(message, before, tools) or _less(" ".join(words), before, tools)


def _less(
    words: str, before: Sequence[Message], tools: Mapping[str, ToolSpec]
) -> tuple[ToolCall, ...]:
    """The calls that take a value off the newest thing with it: "the tea wasn't decaf"."""
    if (found := _NOT_SO.fullmatch(words)) is None:
        return ()
    what, named = found["what"], word_set(_thing(found["thing"] or "")) - _OF_ANYTHING
    for call in _made(before, tools):
        has = {n: plain(str(value)) for n, value in call.arguments.items()}
        change = tools.get(f"change_{call.name.partition('_')[2]}")
        name = next((n for n, v in has.items() if what in v.split()), "")
        if not name or change is None or not named <= word_set(" ".join(has.values())):
            continue
        if name not in change.required:
            kept = {n: call.arguments[n] for n in change.required if n in call.arguments}
            off = _readable(f"no {what}", name, change)
            return (_with(call, change.name, {**kept, name: off}),) if off else ()
        without = " ".join(word for word in has[name].split() if word != what)
        making = without and call.name.partition("_")[0] in MAKING
        return _changed(call, name, without, tools) if making else ()
    return ()


def restated(message: str, call: ToolCall, tools: Mapping[str, ToolSpec]) -> ToolCall | None:
    """A call that was only asked about, with the value that replaces another: "hot, not iced"."""
    for new, old in _readings(plain(message)):
        fitting = _fitting(call, tools, new, old) if old else {}
        if len(fitting) == 1:
            return _with(call, call.name, {**call.arguments, **fitting})
    return None


def _instead(
    message: str, before: Sequence[Message], tools: Mapping[str, ToolSpec]
) -> tuple[ToolCall, ...]:
    """The calls for another value of the only thing just made: "no, the road bike".

    Empty if the message may answer a question.
    """
    turn = before[_last_done(before, tools) :]
    # Whatever was taken back is not meant.
    made = [one for one in _made(turn, tools) if one.name.partition("_")[0] not in ENDING]
    no = _NO.match(message)
    # "Bears, gummy bears" is more than a value.
    if len(made) != 1 or no is None or _MORE.search(message, no.end()):
        return ()
    (call,) = made
    said = (one.content for one in reversed(turn) if one.role is Role.AGENT and one.content)
    told = next(said, "")
    if closing_question(told) not in ("", tools[call.name].asks_next):
        return ()
    asked = f"{turn[0].content} {told}"
    new = amended(message, call, tools[call.name], asked, alone=True)
    changed = [n for n, one in new.arguments.items() if one != call.arguments.get(n)] if new else []
    if new is None or len(changed) != 1 or changed[0] not in call.arguments:
        return ()
    return _changed(call, changed[0], new.arguments[changed[0]], tools)


def corrects_one_of_several(
    message: str, before: Sequence[Message], tools: Mapping[str, ToolSpec]
) -> bool:
    """Whether a message says what was meant instead of one of several things just made.

    "No, the road bike" then leaves open in place of which. Arguments as of `corrected`.
    """
    turn = before[_last_done(before, tools) :]
    made = [one for one in _made(turn, tools) if one.name.partition("_")[0] in MAKING]
    no = _NO.match(message)
    if no is None or len(made) < 2 or asks_to_end(message):
        return False
    said = (one.content for one in reversed(turn) if one.role is Role.AGENT and one.content)
    told = next(said, "").rstrip()
    asked = told.endswith("?") and not told.endswith(tools[made[0].name].asks_next or "\n")
    return not asked and not _DENYING.search(plain(message[no.end() :]))


def taken_back(
    denied: Sequence[ToolCall], before: Sequence[Message], tools: Mapping[str, ToolSpec]
) -> tuple[ToolCall, ...]:
    """The calls that take back what was made before and is not wanted any more.

    ``denied`` are calls for things that the message names only to say that they are not wanted.
    """
    named = {call.name: _thing(str(next(iter(call.arguments.values()), ""))) for call in denied}
    return tuple(
        undo
        for made in _made(before, tools)
        if made.name in named and (thing := named[made.name].casefold().removesuffix("s"))
        if made.name.partition("_")[0] in MAKING
        if thing in str(next(iter(made.arguments.values()), "")).casefold()
        if (undo := _undoing(made, tools))
    )[:1]


def given_up(messages: Sequence[Message], tools: Mapping[str, ToolSpec]) -> ToolCall | None:
    """The call that a correction took back for another, which has failed; None if there is none."""
    asked, failed = _asked(messages), failed_ones(messages)
    turn = [call for one in messages[asked:] for call in one.tool_calls]
    # Of a reply that was not heard, the same call would count as made already.
    heard = asked and messages[asked - 1].role is Role.AGENT and messages[asked - 1].content
    if not heard or [call.call_id in failed for call in turn] != [False, True]:
        return None
    gone, new = turn
    for made in _made(messages[:asked], tools):
        undo = _undoing(made, tools) if made.name == new.name else None
        if undo and (undo.name, undo.arguments) == (gone.name, gone.arguments):
            return made
    return None


def ended(
    message: str, before: Sequence[Message], tools: Mapping[str, ToolSpec]
) -> tuple[ToolCall, ...]:
    """For "no wait, leave it": the call that has just ended something, and the one that made it.

    Empty if the message does not ask to keep a thing, or nothing has just been ended, and without
    the second call if that is not in the dialogue. "Don't cancel it" asks to keep it as well.
    """
    asked, keeps = _asked(before), _KEEPING.fullmatch(plain(message))
    done = _made(before[asked:], tools) if keeps else _refused(message, before, tools)
    ends = [call for call in done if tools[call.name].undoes]
    if len(ends) != 1:
        return ()
    (end,) = ends
    for made in _made(before[:asked], tools):
        undo = _undoing(made, tools) if made.name.partition("_")[0] in MAKING else None
        if undo and undo.name == end.name and end.arguments.items() <= undo.arguments.items():
            return end, made
    return (end,)


def unwanted(
    message: str, before: Sequence[Message], tools: Mapping[str, ToolSpec]
) -> tuple[ToolCall, ...] | None:
    """For "no, don't book it": the calls that take back what was just done.

    None if the message does not refuse that, and empty if no tool takes it back. Arguments as of
    `corrected`.
    """
    refused = list(_refused(message, before, tools))
    if not refused:
        return None
    undos = (_undoing(one, tools) for one in refused if one.name.partition("_")[0] in MAKING)
    return tuple(filter(None, undos))


def _refused(
    message: str, before: Sequence[Message], tools: Mapping[str, ToolSpec]
) -> Iterator[ToolCall]:
    """Calls of the newest turn with changes that a message does not want, the newest first.

    Its words point at such a call, or are words of the call, of its tool or of its result.
    """
    found = _REFUSING.fullmatch(plain(message))
    if found is None:
        return
    said = word_set(found["what"] or "") - _OF_ANYTHING
    # Something else may have been said since, if the words name what was done.
    turn = before[_last_done(before, tools) if said else _asked(before) :]
    for call in _made(turn, tools):
        result = next((one.content for one in turn if one.call_id == call.call_id), "")
        about = (call.name.replace("_", " "), tools[call.name].description, result)
        own = word_set(plain(" ".join((*about, *map(str, call.arguments.values())))))
        making = MAKING if call.name.partition("_")[0] in MAKING else frozenset[str]()
        # "Cancel it" behind a call that ends something asks for the same again.
        again = bool(found["pointed"]) and tools[call.name].undoes
        if said <= own | making and not again:
            yield call


def told_last(messages: Sequence[Message], tools: Mapping[str, ToolSpec]) -> str:
    """The results of the newest turn that changed something, as sentences; empty for none."""
    made = {call.call_id for call in _made(messages, tools)}
    told: list[str] = []
    for one in reversed(messages):
        if one.role is Role.TOOL and one.call_id in made:
            told.append(spoken_result(one.content))
        elif one.role is Role.USER and told:
            break
    return " ".join(reversed(told))


def _asked(messages: Sequence[Message]) -> int:
    """Index of the user's last message."""
    return max((at for at, one in enumerate(messages) if one.role is Role.USER), default=0)


def _readings(words: str) -> Iterator[tuple[str, str]]:
    """Pairs of new and old value, likeliest first; the old one is "" for a bare number."""
    splits: list[tuple[str, str]] = []
    if denied := _DENIED.fullmatch(words):
        rest = denied["rest"].split()
        ends = range(len(rest) - 1, 0, -1)
        splits = [(_thing(" ".join(rest[end:])), " ".join(rest[:end])) for end in ends]
    elif " not " in words:
        new, _, old = words.partition(" not ")
        splits = [(_thing(new), _thing(old))]
    elif re.search(rf"\b(?:{_CORRECTING})\b", words) and _is_number(_said(words)):
        yield _said(words), ""
    yield from (split for split in splits if _is_value(split[0]))


def _said(words: str) -> str:
    """The value in some words, without those around it."""
    found = _SAID.fullmatch(words)
    return found["value"] if found else words


def _thing(words: str) -> str:
    return re.sub(r"^(?:the|an?) ", "", _said(words))


def _again(
    made: Sequence[ToolCall], tools: Mapping[str, ToolSpec], new: str, old: str = ""
) -> tuple[ToolCall, ...]:
    """The newest call that the words fit, changed; empty if they fit two of its arguments."""
    for call in made:
        fitting = _fitting(call, tools, new, old)
        if len(fitting) == 1:
            ((name, value),) = fitting.items()
            # "Make it three" for a drink with two shots may mean three drinks.
            sure = old or name in tools[call.name].required
            return _changed(call, name, value, tools) if sure else ()
        if fitting:
            break
    return ()


def _fitting(
    call: ToolCall, tools: Mapping[str, ToolSpec], new: str, old: str
) -> dict[str, object]:
    """The arguments that have the old value, with the new one instead."""
    return {
        name: value
        for name, before in call.arguments.items()
        for said in spellings(before)
        if (value := _readable(_replaced(said, new, old), name, tools[call.name]))
    }


def _readable(value: str | None, name: str, tool: ToolSpec) -> object:
    """The value if the tool can read it, else the number in it: "one latte, not two"."""
    reading = tool.readings.get(name)
    typed = None if reading else reading_of(tool.properties.get(name, {}))
    if typed and value is not None:
        return typed.read(value)
    if value is None or reading is None or reading.anywhere or reading.read(value) is not None:
        return value
    number = " ".join(word for word in value.split() if kind_of(word) == "number")
    return number if number and reading.read(number) is not None else None


def _last_done(messages: Sequence[Message], tools: Mapping[str, ToolSpec]) -> int:
    """Index at which the newest turn that changed something begins.

    The end of the messages if none did, or if another thing has been read about since. Failed calls
    do not count.
    """
    failed, told = failed_ones(messages), {""}
    for at in range(len(messages) - 1, -1, -1):
        calls = [one for one in messages[at].tool_calls if one.call_id not in failed]
        things = {call.name.rpartition("_")[2].removesuffix("s") for call in calls}
        if any(call.name in tools and not tools[call.name].read_only for call in calls):
            same = told <= {*things, ""}
            asked = (n for n in range(at, -1, -1) if messages[n].role is Role.USER)
            return next(asked, 0) if same else len(messages)
        told |= things
    return len(messages)


def failed_ones(messages: Sequence[Message]) -> set[str | None]:
    """Ids of the calls that a tool has answered with an error."""
    return {one.call_id for one in messages if one.content.startswith("Error: ")}


def _made(messages: Sequence[Message], tools: Mapping[str, ToolSpec]) -> Iterator[ToolCall]:
    """Calls that have changed something, the newest first."""
    failed = failed_ones(messages)
    for message in reversed(messages):
        for call in reversed(message.tool_calls):
            spec = tools.get(call.name)
            if spec and not spec.read_only and call.call_id not in failed:
                yield call


def _replaced(before: str, new: str, old: str) -> str | None:
    """An argument with a part replaced; None if the part is not in it."""
    if not old:
        return _renumbered(before, new)
    at = re.search(rf"\b{re.escape(old)}\b", before, re.IGNORECASE)
    if at is None:
        return None
    rest = before[at.end() :]
    # "Medium roast, not dark" about a "dark roast" must not give "medium roast roast".
    return before[: at.start()] + new + ("" if rest.strip() and new.endswith(rest) else rest)


def _renumbered(before: str, new: str) -> str | None:
    """An argument with its number or time replaced; None if it has none, or one of another kind."""
    bare = re.sub("^(?:in|at|for) ", "", before.lower())
    if UNITS.intersection(new.split()) and _is_measure(bare):
        return new
    lengths = _LENGTH.findall(bare)
    if len(lengths) > 1 or (lengths and _CLOCK.search(new)):
        return None
    value = repaired(f"{before} no {new}")
    return value if " no " not in value else None


def _changed(
    call: ToolCall, name: str, value: object, tools: Mapping[str, ToolSpec]
) -> tuple[ToolCall, ...]:
    """The calls that give an argument of a call another value; empty if no tool does that."""
    verb, _, thing = call.name.partition("_")
    after = _with(call, call.name, {**call.arguments, name: value})
    if verb == "change":
        return (after,)
    if verb not in MAKING:
        # A message that was sent cannot be taken back, but it can be sent to whom it is meant for.
        return () if verb in ENDING or tools[call.name].confirmation else (after,)
    change = tools.get(f"change_{thing}")
    if change and (arguments := _of_change(change, thing, call.arguments, name, value)):
        return (_with(call, change.name, arguments),)
    if undo := _undoing(call, tools):
        return undo, after
    return (after,) if verb == "set" else ()


def _undoing(call: ToolCall, tools: Mapping[str, ToolSpec]) -> ToolCall | None:
    """The call that takes back what a call has made; None if no tool does that."""
    thing = call.name.partition("_")[2]
    names = (f"cancel_{thing}", f"remove_{thing}", f"remove_from_{thing.removeprefix('to_')}")
    for undo in (name for name in names if name in tools):
        taken = {n: v for n, v in call.arguments.items() if n in tools[undo].properties}
        if taken.keys() >= {*tools[undo].required}:
            return _with(call, undo, taken)
    return None


def _of_change(
    tool: ToolSpec, thing: str, before: Mapping[str, Any], name: str, value: object
) -> dict[str, Any]:
    """The arguments for a tool that changes a thing; empty if the changed one identifies it."""
    own, required = tool.properties, tool.required
    if name not in own:
        return {}
    if len(required) == 1 and required[0] not in before:
        # An alarm is identified by its time, and moved ``to`` another.
        return {required[0]: value, name: before[name]}
    # "Rice" instead of "pasta" would find another timer to give the same time.
    tells_apart = {thing, name}.isdisjoint(required) and name not in tool.readings
    if (
        tells_apart
        or name == thing
        or name in required[:-1]
        or not set(required) <= {name, *before}
    ):
        return {}
    finds = own if required == (name,) else required
    return {**{one: before[one] for one in finds if one in before}, name: value}


def _with(call: ToolCall, tool: str, arguments: Mapping[str, Any]) -> ToolCall:
    return replace(call, name=tool, arguments=dict(arguments))


def _is_value(text: str) -> bool:
    words = text.split()
    return len(words) <= _LONGEST_VALUE and (VERBS | _TELLING).isdisjoint(words)


def _is_number(text: str) -> bool:
    """Whether a text is a number or time, maybe with a unit; "half and half" is none."""
    numbers = any(kind_of(word) == "number" for word in text.split())
    return numbers and _is_measure(text) and "half and half" not in text


def _is_measure(text: str) -> bool:
    return all(kind_of(word) == "number" or word in UNITS for word in text.lower().split())
