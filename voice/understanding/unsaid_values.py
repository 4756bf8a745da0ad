"""Finds required values that nobody said, which a small model fills with whatever there is.

"Cancel the booking for Miller" says no number, and "book a bike for nine" no name; such a value is
asked for. Values with a reader (`Reading`) and fixed choices are not checked here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from voice.tools.registry import ToolError
from voice.tools.spoken_numbers import NUMBER, digits
from voice.tools.spoken_results import is_plural, key_words
from voice.types import Message, Role, ToolCall, ToolSpec
from voice.understanding.english import word_set

_NUMBERS = ("integer", "number")
_COMPUTED = word_set("total sum difference average mean overall remaining result")
"""Words in parameter names whose numbers are computed and need not be said."""
_IDENTIFYING = word_set("id number no code")
_INEXACT = re.compile(r"\b(?:half|halfway|quarter|third|full|fully|max|maximum|min|minimum)\b")
"""Words that stand for a number which is not known here."""
_AMOUNTS = {
    **dict.fromkeys(("no", "none", "nothing"), 0),
    **dict.fromkeys(("a", "an", "another", "once", "single"), 1),
    **dict.fromkeys(("couple", "pair", "both", "twice", "double"), 2),
}
_ASKING_ITSELF = word_set("when where who")
_JOINING = word_set("at by for from in on to with")


def unsaid(call: ToolCall, spec: ToolSpec, messages: Sequence[Message]) -> str:
    """The question for the first required value of a call that nobody said.

    A number counts as said if it is in the newest message, in what tools or the agent have said, or
    in a user message since the last call: the nine of an earlier "tomorrow at nine" is no booking
    number. So does a number that an earlier call had under the same name. A text counts as not said
    if it is only the verb of the tool's name or the value of another argument, or known only from
    an earlier call under another name.

    Returns:
        A question; empty if all values were said.
    """
    # The value of a look-up is the user's own question; "What is the query?" would make no sense.
    required = () if spec.looks_up else spec.required
    taken: set[str] = set()
    for name in required:
        value = call.arguments.get(name)
        if value is None:
            continue
        text = str(value).casefold()
        if name in spec.free_texts:
            deed = spec.name.partition("_")[0]
            if text in {*taken, deed} or _is_of_another(text, name, messages):
                return _question(name)
        elif (
            name not in spec.readings
            and _is_any_number(spec.properties.get(name, {}))
            and not _is_said(abs(Decimal(text)), name, messages)
        ):
            return _question(name, several=is_plural(key_words(name)))
        taken.add(text)
    return ""


def _is_any_number(schema: Mapping[str, Any]) -> bool:
    return schema.get("type") in _NUMBERS and {"enum", "const"}.isdisjoint(schema)


def _is_of_another(text: str, name: str, messages: Sequence[Message]) -> bool:
    """Whether a text is known only as another argument of an earlier call."""
    newest = next((one for one in reversed(messages) if one.role is Role.USER), None)
    if newest is None or text in newest.content.casefold():
        return False
    had = [pair for one in messages for call in one.tool_calls for pair in call.arguments.items()]
    names = {key for key, value in had if str(value).casefold() == text}
    return bool(names) and name not in names


def _is_said(number: Decimal, name: str, messages: Sequence[Message]) -> bool:
    words = {*key_words(name).split()}
    if not _COMPUTED.isdisjoint(words):
        return True
    asked = max((at for at, one in enumerate(messages) if one.role is Role.USER), default=0)
    newest = messages[asked].content if messages else ""
    amounts = {Decimal(_AMOUNTS[one]) for one in re.findall(r"\w+", newest) if one in _AMOUNTS}
    if (
        _INEXACT.search(newest)
        or number in _numbers(newest)
        or (number in amounts and _IDENTIFYING.isdisjoint(words))
    ):
        return True
    before = [one for one in messages[:asked] if one.role is not Role.SYSTEM]
    done = max((at for at, one in enumerate(before) if one.tool_calls), default=-1)
    told = _numbers(*(one.content for one in before if one.role is not Role.USER))
    said = _numbers(*(one.content for one in before[done + 1 :]))
    calls = (call for one in before for call in one.tool_calls)
    again = _numbers(*(str(call.arguments.get(name, "")) for call in calls))
    return number in told | said | again


def _numbers(*texts: str) -> set[Decimal]:
    return {Decimal(one) for text in texts for one in re.findall(NUMBER, _figures(text))}


def _figures(text: str) -> str:
    try:
        return f"{digits(text)} {digits(text, ordinals=True)}"
    except ToolError:
        return text


def _question(name: str, several: bool = False) -> str:
    words = key_words(name)
    if words in _ASKING_ITSELF:
        return f"{words.capitalize()}?"
    if words in _JOINING:
        return f"{words.capitalize()} what?"
    return f"How many {words}?" if several else f"What is the {words}?"
