"""What the user says to the conversation itself: "say that again", "slower please", "speak up".

Such messages are answered here, without the model, so that they work the same with every model and
agent. A message that says anything else is not one.
"""

from __future__ import annotations

import re
from dataclasses import replace

from voice.dialogue.history import History
from voice.inputs import SessionOptions
from voice.types import Role
from voice.understanding.english import bare

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
_NORMALLY = _any(rf"{_SPEAK}(?:normally|at normal speed|like before|as before)")


def controlled(dialogue: History, options: SessionOptions) -> tuple[str, SessionOptions] | None:
    """The answer to the user's last message, and the options from then on.

    None if it is not addressed to the conversation itself.
    """
    meant = _meant(dialogue.newest_said)
    if meant is _REPEAT:
        return _last_reply(dialogue) or NOTHING_SAID, options
    if meant is _ASKED:
        before = dialogue.user_texts(MOST_LOOKED_AT)[1:]
        asked = next((text for text in before if _meant(text) is None), "")
        return f"You said: {asked}" if asked else NOTHING_ASKED, options
    if meant in (_SLOWER, _FASTER):
        return _spoken_at(options, options.speed * _SPEED_STEP ** (1 if meant is _FASTER else -1))
    if meant in (_LOUDER, _QUIETER):
        factor = _LOUDNESS_STEP ** (1 if meant is _LOUDER else -1)
        return _as_loud(options, options.loudness * factor)
    if meant is _NORMALLY:
        return "Okay, as before.", replace(options, speed=1.0, loudness=1.0)
    return None


def _meant(text: str) -> re.Pattern[str] | None:
    """The pattern that a message fits; None if it is for the model."""
    words = bare(text, _BESIDE)
    kinds = (_REPEAT, _ASKED, _SLOWER, _FASTER, _LOUDER, _QUIETER, _NORMALLY)
    for kind in kinds:
        if words and kind.fullmatch(words):
            return kind
    return next((kind for beginning, kind in _AT_ONCE if beginning.match(words)), None)


def _spoken_at(options: SessionOptions, speed: float) -> tuple[str, SessionOptions]:
    slower = speed < options.speed
    within = min(max(round(speed, 3), _SLOWEST), _FASTEST)
    if within == options.speed:
        return f"I cannot speak any {'slower' if slower else 'faster'}.", options
    return f"Okay, I speak {'slower' if slower else 'faster'} now.", replace(options, speed=within)


def _as_loud(options: SessionOptions, loudness: float) -> tuple[str, SessionOptions]:
    quieter = loudness < options.loudness
    within = min(max(round(loudness, 3), _QUIETEST), _LOUDEST)
    if within == options.loudness:
        return f"I cannot speak any {'quieter' if quieter else 'louder'}.", options
    changed = replace(options, loudness=within)
    return f"Okay, I speak {'quieter' if quieter else 'louder'} now.", changed


def _last_reply(dialogue: History) -> str:
    said = [entry.message for entry in dialogue if entry.message.role is Role.AGENT]
    return next((message.content for message in reversed(said) if message.content.strip()), "")
