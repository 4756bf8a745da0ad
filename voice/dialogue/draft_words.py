"""Which words of an unfinished turn are worth a draft, and which drafts answer the final words.

A draft is the reply that would follow if the turn ended with the words heard so far. No I/O, no
clock; `voice.session.preemptive_generation` makes the drafts.
"""

from __future__ import annotations

from dataclasses import replace

from voice.hearing.completeness import Completeness, reads_complete
from voice.llm.base import Prompt
from voice.types import Role
from voice.understanding.english import normalised


class DraftWords:
    """Picks the transcripts of one turn that are worth a draft.

    While the user speaks, a transcript counts once it is stable: it begins with all the words of
    the transcript before it, whatever their case and punctuation, and does not break off in the
    middle of a phrase. At a pause every transcript counts. The same words do not count twice,
    except that words counted during speech count once more at a pause: they are then likelier to be
    the whole turn.

    Args:
        least: Fewest words with which a transcript counts while the user speaks; 0 turns drafts
            off.
    """

    def __init__(self, least: int) -> None:
        self._least = least
        self._before: list[str] = []
        self._drafted = ""
        self._at_pause = False

    def take(self, text: str, paused: bool, watched: bool = False) -> str:
        """Take the newest transcript; returns the words to draft a reply to, or an empty string.

        If the client watches drafts (``watched``), words that break off count as well.
        """
        words = normalised(text).split()
        before, self._before = self._before, words
        stable = bool(before) and words[: len(before)] == before and len(words) >= self._least
        if not self._least or not words or not (paused or stable):
            return ""
        breaks_off = reads_complete(text) is Completeness.INCOMPLETE
        if breaks_off and not (paused or watched):
            return ""
        bare = " ".join(words)
        if bare == self._drafted and (self._at_pause or not paused):
            return ""
        self._drafted, self._at_pause = bare, paused
        return text.strip()


def same_question(first: Prompt, second: Prompt) -> bool:
    """Whether two prompts differ at most in the case and punctuation of the user's words."""
    return first == second or _bare(first) == _bare(second)


def _bare(prompt: Prompt) -> Prompt:
    messages = tuple(
        replace(message, content=normalised(message.content))
        if message.role is Role.USER
        else message
        for message in prompt.messages
    )
    return replace(prompt, messages=messages)
