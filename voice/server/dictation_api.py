"""Dictation as a chat-completions model: returns the user's last message as it was meant."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from dlm.engine.request import Event, Failed, Finished, Request, TextDelta, Usage
from dlm.language.messages import Answer
from voice.dictation.editor import edited

LONGEST_WORDS = 2000
"""Of a message: about a quarter of an hour of speech."""
_LONGEST_WORD = 32


class DictationEngine:
    """Edits texts where an engine would generate them."""

    max_requests = 4

    def submit(self, request: Request, emit: Callable[[Event], None]) -> Callable[[], None]:
        """Edit the last message of a request; the events come from another thread.

        Returns:
            A function that cancels the request if it has not begun.

        Raises:
            ValueError: The last message is not the user's, or the request asks for tools or a
                format.
        """
        last = request.turns[-1] if request.turns else None
        if last is None or last.role != "user":
            raise ValueError("messages: expected the user's last, which dictation edits")
        if request.tools or request.format is not None:
            raise ValueError("dictation calls no tools and has no formats")
        running = asyncio.get_running_loop().run_in_executor(None, _edit, last.content, emit)

        def cancel() -> None:
            running.cancel()

        return cancel

    def room(self, request: Request) -> int:
        """How many more words the message could have; below 1 if it is too long."""
        said = request.turns[-1].content if request.turns else ""
        return LONGEST_WORDS + 1 - max(len(said.split()), len(said) // _LONGEST_WORD)


def _edit(said: str, emit: Callable[[Event], None]) -> None:
    try:
        text = edited(said).strip("\n")
    except Exception as error:
        emit(Failed(error))
        return
    if text:
        emit(TextDelta(text))
    usage = Usage(len(said.split()), 0, len(text.split()), 0)
    emit(Finished(Answer(text, ()), "stop", usage))
