"""Which words of an unfinished turn are worth a draft, and which drafts answer the final words.

A draft is the reply that would follow, should the turn end with the words heard so far. Without I/O
and without a clock; `voice.session.preemptive_generation` makes the drafts.
"""

from __future__ import annotations

from dataclasses import replace

from voice.hearing.completeness import Completeness, reads_complete
from voice.llm.base import Prompt
from voice.types import Role
from voice.understanding.english import normalised


class DraftWords:
    """Picks the transcripts of one turn that are worth a draft.

    While the user speaks, a transcript counts once it is stable: it has every word of the one
    before it where that had it, alike but for case and punctuation, unless it breaks off in the
    middle of a phrase. At a pause every transcript counts. No words count twice, but those that
    counted while the user spoke count once more at a pause: they are likelier to be all.

    Args:
        least: Words from which on a transcript counts while the user speaks; 0 takes none at all.
    """

    def __init__(self, least: int) -> None:
        self._least = least
        self._before: list[str] = []
        self._drafted = ""
        self._at_pause = False

    def take(self, text: str, paused: bool, watched: bool = False) -> str:
        """Take the newest transcript; returns the words to draft a reply to, or an empty text.

        Where drafts are ``watched``, words that break off count as well.
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
    """Whether an answer to one prompt answers the other: the user's words are the same words."""
    return first == second or _bare(first) == _bare(second)


def _bare(prompt: Prompt) -> Prompt:
    messages = tuple(
        replace(message, content=normalised(message.content))
        if message.role is Role.USER
        else message
        for message in prompt.messages
    )
    return replace(prompt, messages=messages)
