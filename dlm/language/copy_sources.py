"""The texts that string arguments are copied from: the user's last messages, and the last calls.

Callers of the engine pass them as `dlm.engine.request.Request.copy_sources`. It knows nothing of
tokens, nor of tools' schemas.
"""

from __future__ import annotations

from collections.abc import Sequence

from dlm.language.messages import Turn

USER_MESSAGES = 3
"""Number of the user's last messages whose words may be arguments."""


def sources(turns: Sequence[Turn]) -> tuple[str, ...]:
    """The texts that string arguments of the next answer to a dialogue may be spans of.

    These are the user's last messages, oldest first; then the string arguments of the last message
    that called tools, because a change like "make it ten" keeps the others, however old their words
    are. Arguments that occur in the messages are left out: words that occur twice may be used for
    two arguments of one call (`dlm.grammar.distinct_spans`).
    """
    messages = [turn.content for turn in turns if turn.role == "user" and turn.content]
    found = messages[-USER_MESSAGES:]
    called = next((turn.calls for turn in reversed(turns) if turn.calls), ())
    for call in called:
        for value in call.arguments.values():
            if isinstance(value, str) and not any(value in text for text in found):
                found.append(value)
    return tuple(found)
