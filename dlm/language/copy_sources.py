"""The texts that string arguments are taken from: what the user said, and what was called, last.

Whoever asks the engine for calls binds their string arguments to these
(`dlm.engine.request.Request.said`), in a conversation as in an evaluation. Knows nothing of tokens,
nor of what a tool's schema says.
"""

from __future__ import annotations

from collections.abc import Sequence

from dlm.language.messages import Turn

USER_MESSAGES = 3
"""Messages of the user, the last ones, whose words may be arguments."""


def sources(turns: Sequence[Turn]) -> tuple[str, ...]:
    """What string arguments of the next answer may be spans of.

    Args:
        turns: The dialogue so far, oldest first.

    Returns:
        The user's last messages, oldest first; behind them the string arguments of the last message
        that called tools, which "make it ten" leaves as they were however long ago they were said.
        Those that the messages hold already are left out: words that stand twice may serve two
        arguments of one call (`dlm.grammar.distinct_spans`).
    """
    said = [turn.content for turn in turns if turn.role == "user" and turn.content]
    found = said[-USER_MESSAGES:]
    called = next((turn.calls for turn in reversed(turns) if turn.calls), ())
    for call in called:
        for value in call.arguments.values():
            if isinstance(value, str) and not any(value in text for text in found):
                found.append(value)
    return tuple(found)
