"""Out-of-band responses: a client asks for them, and the dialogue never learns of them.

Each has a dialogue of its own, for the client's tools to be called in; nobody interrupts it, and
several may be under way at once. Part of `voice.dialogue.conversation`: no I/O and no clock.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from voice.dialogue.commands import Command
from voice.dialogue.history import History
from voice.dialogue.reply_loop import Limits, ReplyLoop
from voice.errors import ProtocolError
from voice.inputs import ReplyInput, SessionOptions

MOST = 4


class OutOfBandResponses:
    """The out-of-band responses of one session that are under way.

    Args:
        ids: Makes an id from a prefix, never the same twice.
        limits: Of each reply.
    """

    def __init__(self, ids: Callable[[str], str], limits: Limits) -> None:
        self._ids = ids
        self._limits = limits
        self._agents: dict[str, ReplyLoop] = {}

    def __contains__(self, reply_id: object) -> bool:
        return reply_id in self._agents

    def begin(self, options: SessionOptions) -> tuple[str, list[Command]]:
        """Begin a reply; `ask` is to follow. Of tools it is offered the client's alone.

        Returns:
            Its id, and what is to be done now.

        Raises:
            ProtocolError: `MOST` are under way.
        """
        if len(self._agents) >= MOST:
            raise ProtocolError(
                f"{len(self._agents)} replies outside the conversation are in progress; expected "
                f"at most {MOST} at once",
                "too_many_active_responses",
            )
        agent = ReplyLoop(History(), {}, self._ids, self._limits, out_of_band=True)
        commands = agent.begin(0, replace(options, agent_tools=()))
        assert agent.current is not None
        reply_id = agent.current.reply_id
        self._agents[reply_id] = agent
        return reply_id, commands

    def ask(self, reply_id: str, context: History) -> list[Command]:
        """Ask the model for a reply that was begun.

        Args:
            reply_id: As `begin` gave it.
            context: What the model sees.
        """
        return self._agents[reply_id].ask(context)

    def feed(self, event: ReplyInput) -> list[Command]:
        """Take in what has become of one of these replies."""
        return self._settled(event.reply_id, self._agents[event.reply_id].feed(event))

    def cancel(self, reply_id: str) -> list[Command]:
        """Stop one of these replies, at the client's request."""
        return self._settled(reply_id, self._agents[reply_id].cancel(reply_id))

    def _settled(self, reply_id: str, commands: list[Command]) -> list[Command]:
        if self._agents[reply_id].current is None:
            del self._agents[reply_id]
        return commands
