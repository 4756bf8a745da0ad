"""Whether something said while the agent speaks is meant to interrupt it.

"Mm-hmm" and "right" tell the speaker to go on. The same words are answers when the agent has just
asked something. Single words are hard to recognise: of one or two, what was understood and how they
sounded are added up in log odds. It knows English, and of audio what
`voice.hearing.backchannel_sound` made of it.
"""

from __future__ import annotations

import re

INTERRUPTS_FROM_S = 0.9
"""Sound that is this long is speech, understood or not; shorter and like no word, a cough."""
SHORTEST_S = 0.12
"""No word is shorter: what is understood of such a scrap of one is anything."""
FEW_WORDS = 2
"""As many as a backchannel may be misheard as; the sound of more does not matter."""
UNDERSTOOD, UNDERSTOOD_ELSE = 7.0, -2.0
GUESSED, GUESSED_ELSE = 3.0, 1.0
"""Log odds of words that ask to go on, and of others, that are added to those of their sound. Set
on the tuning half of benchmarks/voice/interruptions.py. Guesses say little: most are wrong."""


def _phrases(text: str) -> frozenset[str]:
    return frozenset(text.split("|"))


_HUMS = _phrases(
    "mm|mhm|mmhm|mm hm|mm hmm|mhmm|mmhmm|hm|hmm|hum|uh|uh huh|uhhuh|um|ah|aha|oh|ooh|wow|huh|er"
)
_AGREEING = _phrases(
    "right|okay|ok|yeah|yes|yep|yup|sure|good|great|nice|cool|fine|exactly|true|really|indeed"
    "|i see|got it|of course|all right|alright|that's right|sounds good|very good|oh okay|oh yeah"
    "|i know|makes sense|perfect"
)

_PARTING = _phrases(
    "bye|goodbye|good bye|good night|see you|see you later|later|take care|thanks|thank you"
)


def is_parting(text: str) -> bool:
    """Whether the words say goodbye, or agree to one, and nothing else."""
    words = _words(text)
    return bool(words) and _is_made_of(words, _HUMS | _AGREEING | _PARTING)


def is_backchannel(text: str, answering: bool = False) -> bool:
    """Whether the words ask the speaker to go on.

    Args:
        text: All that was said; case and punctuation do not matter.
        answering: Whether the agent has asked something: then only hums ask it to go on.

    Returns:
        False for empty text as well.
    """
    words = _words(text)
    return bool(words) and _is_made_of(words, _HUMS if answering else _HUMS | _AGREEING)


def interrupts(
    text: str,
    seconds: float,
    answering: bool = False,
    guess: str = "",
    go_on: float | None = None,
) -> bool:
    """Whether a sound made while the agent speaks is meant to stop it.

    Args:
        text: What was understood of it.
        seconds: How long the speech in it was.
        answering: See `is_backchannel`.
        guess: What it may have been, where nothing was understood. A "right" with noise around it
            is guessed to be "not right", so one word that asks to go on is enough there.
        go_on: Log odds, by its sound, that it asks to go on; None where nobody can tell. An answer
            sounds like it too, so it says nothing where the agent has asked.
    """
    if seconds < SHORTEST_S:
        return False
    words, guessed = _words(text), _words(guess)
    if go_on is not None and not answering and (words or guessed) and len(words) <= FEW_WORDS:
        return go_on + _by_words(words, guessed) < 0
    if words:
        return not is_backchannel(text, answering)
    if seconds >= INTERRUPTS_FROM_S:
        return True
    return bool(guessed) and not _any_asks_to_go_on(guessed, answering)


def _by_words(words: list[str], guessed: list[str]) -> float:
    """Log odds, by the words, that they ask to go on."""
    if words:
        return UNDERSTOOD if _is_made_of(words, _HUMS | _AGREEING) else UNDERSTOOD_ELSE
    return GUESSED if _any_asks_to_go_on(guessed) else GUESSED_ELSE


def _any_asks_to_go_on(words: list[str], answering: bool = False) -> bool:
    return any(is_backchannel(word, answering) for word in words)


def _words(text: str) -> list[str]:
    return re.findall(r"[\w']+", text.lower().replace("’", "'").replace("-", " "))


def _is_made_of(words: list[str], phrases: frozenset[str]) -> bool:
    """Whether words are one or more phrases, "okay right", of at most three words each."""
    if not words:
        return True
    return any(
        " ".join(words[:size]) in phrases and _is_made_of(words[size:], phrases)
        for size in range(1, min(3, len(words)) + 1)
    )
