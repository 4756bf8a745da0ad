"""What the user says to the conversation itself: "say that again", "slower please", "speak up".

Such messages are answered here, without the model, so that they work the same with every model and
agent. A message that says anything else is not one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from voice.dialogue.history import History
from voice.dialogue.reply import Reply
from voice.inputs import SessionOptions
from voice.types import Role, ToolSpec
from voice.understanding.english import agrees, bare

STILL_THERE = "Are you still there?"
GO_AHEAD = "Okay, go ahead."
NOTHING_SAID = "I have not said anything yet."
NOTHING_ASKED = "You have not asked me anything yet."
MOST_LOOKED_AT = 12
"""How many user messages are searched for the last one that was not itself such a message."""

_SPEED_STEP, _SLOWEST, _FASTEST = 1.25, 0.5, 1.5
_LOUDNESS_STEP, _QUIETEST, _LOUDEST = 1.6, 0.2, 2.56

_BESIDE = (
    r"quicksilver|for me|(?:can|could|would|will) you|you(?:'ll)? have to|you're|you are|much"
    r"|(?:a )?(?:little|bit|lot)(?: bit)?"
)
_SPEAK = r"(?:(?:speak|talk|go|say (?:it|that)) )?"
_TOO = r"(?:speaking |talking )?too "


def _any(*phrases: str) -> re.Pattern[str]:
    return re.compile("|".join(phrases))


_REPEAT = _any(
    r"repeat(?: (?:it|that|yourself|what you said|your answer))?(?: (?:again|once more))?",
    r"say (?:(?:it|that|what you said)(?: (?:again|once more))?|again|once more)",
    r"(?:what|again|once more|pardon|pardon me|come again)",
    r"what (?:was that(?: you said)?|(?:\w+ )?did you say)(?: (?:it was|again))*",
    r"what (?:was|is) (?:that|the) \w+ again",
    r"i (?:didn't|did not|couldn't) (?:hear|catch|get|understand) (?:it|that|you)",
)
_ASKED = _any(
    r"what did i (?:ask|say|tell)(?: you| to you)?(?: before| last| for| to do)?",
    r"what was my (?:last )?(?:question|request)",
    r"what was it i (?:asked|said|told)(?: you)?(?: for| to do)?",
    r"what have i (?:asked|said)(?: you)?",
)
_SLOWER = _any(
    rf"{_SPEAK}(?:more )?(?:slower|slowly)", r"slow down", rf"{_TOO}fast", r"not so fast"
)
_FASTER = _any(rf"{_SPEAK}(?:more )?(?:faster|quicker|quickly)", r"speed up", rf"{_TOO}slow(?:ly)?")
_LOUDER = _any(
    rf"{_SPEAK}louder",
    r"speak up",
    rf"{_TOO}(?:quiet|soft)(?:ly)?",
    r"(?:turn (?:it|yourself|the volume|your voice) up|volume up)",
    r"(?:turn up|raise|increase) (?:the|your) (?:volume|voice)",
    r"i can't hear you",
)
_QUIETER = _any(
    rf"{_SPEAK}(?:quieter|softer|lower|more (?:quietly|softly)|less loud|not so loud)",
    rf"{_TOO}loud(?:ly)?",
    r"(?:turn (?:it|yourself|the volume|your voice) down|volume down)",
    r"(?:turn down|lower|reduce) (?:the|your) (?:volume|voice)",
)
_AT_ONCE = (
    (re.compile(r"(?:slow down|(?:speak|talk) (?:more )?slow(?:er|ly)|not so fast)\b"), _SLOWER),
    (re.compile(r"(?:speak up|(?:speak|talk) louder|i can't hear you)\b"), _LOUDER),
    (
        re.compile(r"(?:not (?:so|that) loud|(?:speak|talk) (?:quieter|softer|more quietly))\b"),
        _QUIETER,
    ),
)
"""Beginnings after which the user may say why: "speak up, there is a lorry"."""
_TURN_IT = re.compile(r"turn it (?:up|down)")
"""Behind a call it is the thing that the call was about: the heating, or a lamp."""
_NORMALLY = _any(rf"{_SPEAK}(?:normally|at normal speed|like before|as before)")
_PRESENT = _any(
    r"(?:i'm|i am|we're|we are)(?: still)? (?:here|there|listening)", r"(?:still )?here"
)
_QUESTION = re.compile(r"[^.!?\s][^.!?]*\?\s*$")
_ADJUSTED = _any(
    r"Okay, I speak (?:slower|faster|louder|quieter) now\.",
    r"I cannot speak any (?:slower|faster|louder|quieter)\.",
    r"Okay, as before\.",
)
"""Answers that nobody wants repeated: "slower, please" and "say that again" are one wish."""


def controlled(
    dialogue: History,
    options: SessionOptions,
    cut: Reply | None = None,
    tools: Mapping[str, ToolSpec] = MappingProxyType({}),
) -> tuple[str, SessionOptions] | None:
    """The answer to the user's last message, and the options from then on.

    None if it is not addressed to the conversation itself. If the reply ``cut``, which was stopped
    last, is the one to be repeated, it is repeated in full. ``tools`` are those that run here.
    """
    meant = _meant(dialogue.newest_said)
    if meant is _REPEAT:
        return _last_reply(dialogue, cut) or NOTHING_SAID, options
    if meant is _ASKED:
        before = dialogue.user_texts(MOST_LOOKED_AT)[1:]
        asked = next((text for text in before if _meant(text) is None), "")
        return f"You said: {asked}" if asked else NOTHING_ASKED, options
    if meant in (_SLOWER, _FASTER):
        return _spoken_at(options, options.pace * _SPEED_STEP ** (1 if meant is _FASTER else -1))
    if meant in (_LOUDER, _QUIETER):
        if _TURN_IT.match(bare(dialogue.newest_said, _BESIDE)) and _has_just_acted(dialogue, tools):
            return None
        factor = _LOUDNESS_STEP ** (1 if meant is _LOUDER else -1)
        return _as_loud(options, options.loudness * factor)
    if meant is _NORMALLY:
        return "Okay, as before.", replace(options, pace=1.0, loudness=1.0)
    here = _is_here(dialogue)
    return (here, options) if here else None


def _meant(text: str) -> re.Pattern[str] | None:
    """The pattern that a message fits; None if it is for the model."""
    words = bare(text, _BESIDE)
    kinds = (_REPEAT, _ASKED, _SLOWER, _FASTER, _LOUDER, _QUIETER, _NORMALLY)
    for kind in kinds:
        if words and kind.fullmatch(words):
            return kind
    return next((kind for beginning, kind in _AT_ONCE if beginning.match(words)), None)


def _spoken_at(options: SessionOptions, pace: float) -> tuple[str, SessionOptions]:
    how = "slower" if pace < options.pace else "faster"
    changed = replace(options, pace=min(max(round(pace, 3), _SLOWEST), _FASTEST))
    if changed.spoken_speed == options.spoken_speed:
        return f"I cannot speak any {how}.", options
    return f"Okay, I speak {how} now.", changed


def _as_loud(options: SessionOptions, loudness: float) -> tuple[str, SessionOptions]:
    quieter = loudness < options.loudness
    within = min(max(round(loudness, 3), _QUIETEST), _LOUDEST)
    if within == options.loudness:
        return f"I cannot speak any {'quieter' if quieter else 'louder'}.", options
    changed = replace(options, loudness=within)
    return f"Okay, I speak {'quieter' if quieter else 'louder'} now.", changed


def _has_just_acted(dialogue: History, tools: Mapping[str, ToolSpec]) -> bool:
    """Whether a tool that changes something was called for the user's message before the last."""
    messages = 0
    for message in (entry.message for entry in reversed(list(dialogue))):
        messages += message.role is Role.USER and bool(message.content)
        names = [call.name for call in message.tool_calls]
        if messages == 1 and not all(name in tools and tools[name].read_only for name in names):
            return True
        if messages == 2:
            break
    return False


def _is_here(dialogue: History) -> str:
    """The question before "Are you still there?", for a "yes" that answers only the latter."""
    said = dialogue.newest_said
    replies = [text.strip() for text in dialogue.agent_texts(MOST_LOOKED_AT)]
    asked = bool(replies) and STILL_THERE.startswith(replies[0])
    if not asked or not (agrees(said) or _PRESENT.fullmatch(bare(said))):
        return ""
    before = next((text for text in replies if not STILL_THERE.startswith(text)), "")
    question = _QUESTION.search(before)
    return question.group() if question else GO_AHEAD


def _last_reply(dialogue: History, cut: Reply | None) -> str:
    for entry in reversed(list(dialogue)):
        whole = cut is not None and cut.item_id == entry.item_id
        said = cut.text if cut and whole else entry.message.content
        if entry.message.role is Role.AGENT and said.strip() and not _ADJUSTED.fullmatch(said):
            return said
    return ""
