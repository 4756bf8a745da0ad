"""Required values that nobody said, which a small model fills with whatever there is.

"Cancel the booking for Miller" says no number, and "book a bike for nine" no name; such a value is
asked for. Values that are read (`Reading`) and words to choose from are no matter of it.
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
"""Words in the names of numbers that need not be said."""
_IDENTIFYING = word_set("id number no code")
_INEXACT = re.compile(r"\b(?:half|halfway|quarter|third|full|fully|max|maximum|min|minimum)\b")
"""Of these nobody knows here which number they are."""
_AMOUNTS = {
    **dict.fromkeys(("no", "none", "nothing"), 0),
    **dict.fromkeys(("a", "an", "another", "once", "single"), 1),
    **dict.fromkeys(("couple", "pair", "both", "twice", "double"), 2),
}
_ASKING_ITSELF = word_set("when where who")
_JOINING = word_set("at by for from in on to with")


def unsaid(call: ToolCall, spec: ToolSpec, messages: Sequence[Message]) -> str:
    """What the user is asked for the first required value of a call that nobody said.

    A number is said by the newest message, by what tools and the agent have said, or by one of the
    user's that was said since the last call: the nine of "tomorrow at nine" is not a booking's. One
    that a call before had by the same name may be meant once more. A text is not said by the verb
    of the tool's name, nor by what another argument has, nor by what a call before had by another
    name alone.

    Returns:
        A question; empty where all was said.
    """
    # What somebody wants looked up is a question, and "What is the query?" none of its own.
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
    """Whether a text is known only from what an earlier call had by another name."""
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
