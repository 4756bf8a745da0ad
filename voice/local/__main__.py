"""``python -m voice.local``: talk to the agent through this machine's microphone and loudspeaker.

The conversation runs in this process. Where the echo canceller is installed, it removes the
loudspeaker's sound from the microphone's, and the agent can be interrupted. Without it, and for a
while after a dropout, the microphone is muted while the agent speaks. ``local.echo`` changes this.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable, Sequence

import numpy as np
from rich.console import Console

from voice import events
from voice.callers import LOCAL
from voice.config import Config
from voice.config.command_line import add_options, chosen
from voice.errors import DeviceError, VoiceError, to_install
from voice.local.echo_canceller import SETTLING_S, EchoCanceller, can_cancel
from voice.local.playback_queue import PlaybackQueue
from voice.local.sound_card import Hear, SoundCard, list_devices
from voice.local.terminal import Terminal, line, tool_line
from voice.session.resources import Resources
from voice.session.session import Session
from voice.types import SAMPLE_RATE_HZ, Samples, ToolCall

ECHO_TAIL_S = 0.3
"""How long the loudspeaker's sound lingers in the room and in the microphone's path."""
PLAYED_EVERY_S = 0.1


class LocalConversation:
    """One conversation between a session and a sound card.

    Args:
        session: The session, not yet running.
        queue: The queue from which the loudspeaker plays.
        clock: The loudspeaker's clock, in seconds.
        screen: Shows the conversation.
    """

    def __init__(
        self,
        session: Session,
        queue: PlaybackQueue,
        clock: Callable[[], float],
        screen: Terminal,
    ) -> None:
        self._session = session
        self._queue = queue
        self._clock = clock
        self._screen = screen
        self._listening = False
        self._gone = asyncio.Event()
        self._calls: dict[str, ToolCall] = {}
        self._text = ""
        self._heard_chars = 0

    async def run(self) -> None:
        """Converse until the session has ended and the agent's last words have been heard.

        Raises:
            DeviceError: A device was lost; raised in an exception group.
        """
        async with asyncio.TaskGroup() as group:
            watching = group.create_task(self._watch())
            reporting = group.create_task(self._report_played())
            await self._session.run(self._on)
            await asyncio.sleep(self._queue.silent_from_s(self._clock()) - self._clock())
            reporting.cancel()
            watching.cancel()

    def hear(self, samples: Samples, rate_hz: int, captured_s: float, echo: bool) -> None:
        """Take a block from the microphone; call it on the event loop, however late.

        Args:
            samples: (T,) int16.
            rate_hz: Their sample rate.
            captured_s: When the block was captured, on the clock.
            echo: Whether it contains the agent's voice while the agent is audible. Such a block is
                replaced by silence of the same length, so that time goes on.
        """
        if not self._listening:
            self._listening = True
            self._screen.keep("Listening. Ctrl-C ends the conversation.")
            self._session.greet()
        if echo and captured_s < self._queue.silent_from_s(captured_s) + ECHO_TAIL_S:
            samples = np.zeros_like(samples)
        self._session.append_audio(samples, rate_hz)

    def lost(self) -> None:
        """End the conversation because a device has stopped; call it on the event loop."""
        self._gone.set()

    async def _watch(self) -> None:
        await self._gone.wait()
        raise DeviceError("the sound device has stopped: unplugged, or its sound server has ended")

    async def _report_played(self) -> None:
        while True:
            await asyncio.sleep(PLAYED_EVERY_S)
            if heard := self._queue.heard(self._clock()):
                self._session.played(heard.reply_id, heard.played_ms)

    def _on(self, event: events.SessionEvent) -> None:
        match event:
            case events.AudioStopped():
                if cut := self._queue.flush():
                    self._session.truncate(cut.reply_id, cut.played_ms)
            case events.InterimTranscript(text=text):
                self._screen.change(line("user", text, style="dim"))
            case events.FinalTranscript(text=text):
                self._screen.keep(line("user", text or "(not understood)"))
            case events.ReplyStarted():
                self._text, self._heard_chars = "", 0
            case events.ReplyText(delta=delta):
                self._text += delta
                self._screen.change(line("agent", self._text, style="dim"))
            case events.ReplyAudio():
                self._queue.push(event.reply_id, event.samples)
            case events.ReplyToolCall(call=call):
                self._calls[call.call_id] = call
                self._screen.change(tool_line(call.name, call.arguments))
            case events.ReplyToolResult(result=result):
                call = self._calls.pop(result.call_id)
                self._screen.keep(tool_line(call.name, call.arguments, result.content))
            case events.ReplyHeld():
                self._queue.hold()
            case events.ReplyReleased():
                self._queue.release()
            case events.ReplyHeard(chars=chars):
                self._heard_chars = chars
            case events.ReplyEnded():
                self._show_end(event)
            case events.Failure(stage=stage, message=message):
                self._screen.keep(line("error", f"{stage}: {message}"))
            case _:
                pass

    def _show_end(self, ended: events.ReplyEnded) -> None:
        if ended.status == events.ReplyStatus.CANCELLED:
            heard, unheard = ended.text[: self._heard_chars], ended.text[self._heard_chars :]
            self._screen.keep(line("agent", heard, unheard=unheard))
        elif ended.text:
            self._screen.keep(line("agent", ended.text))


async def converse(config: Config, console: Console) -> None:
    """Hold one conversation.

    Raises:
        VoiceError: A device, a model or a file is missing.
    """
    card = SoundCard(config.local.input_device, config.local.output_device)
    with console.status("Loading"):
        resources = await asyncio.to_thread(Resources.load, config)
    try:
        for sentence in resources.describe():
            console.print(sentence, style="dim")
        canceller = canceller_of(config.local.echo, card)
        session = Session(resources, caller=LOCAL)
        # Somebody who leaves the room does not want the program to end.
        session.update(output_rate_hz=card.queue.rate_hz, holds=True, idle_timeout_s=0.0)
        loop = asyncio.get_running_loop()
        with Terminal(console) as screen:
            conversation = LocalConversation(session, card.queue, lambda: card.now_s, screen)

            def hear(samples: Samples, rate_hz: int, captured_s: float, echo: bool) -> None:
                loop.call_soon_threadsafe(conversation.hear, samples, rate_hz, captured_s, echo)

            def lost() -> None:
                loop.call_soon_threadsafe(conversation.lost)

            cleaned = cleaning(hear, card, canceller, config.local.echo == "headset")
            with card.running(cleaned, canceller.played if canceller else None, lost):
                async with resources.toolbox.running():
                    await conversation.run()
    finally:
        await resources.close()


def cleaning(
    hear: Callable[[Samples, int, float, bool], object],
    card: SoundCard,
    canceller: EchoCanceller | None,
    headset: bool,
) -> Hear:
    """Make the card's callback, which passes blocks on in the form `LocalConversation.hear` takes.

    After a dropout the canceller has lost track of the echo, so blocks are treated as without one.
    """

    def take(samples: Samples, captured_s: float) -> None:
        if canceller is None:
            hear(samples, card.input_rate_hz, captured_s, not headset)
        else:
            samples = canceller.clean(samples)
            lost = captured_s < card.dropout_s + SETTLING_S
            hear(samples, SAMPLE_RATE_HZ, captured_s, lost)

    return take


def canceller_of(echo: str, card: SoundCard) -> EchoCanceller | None:
    """The echo canceller, if it is wanted and possible.

    Raises:
        DeviceError: It is wanted but not installed.
    """
    if echo in ("half_duplex", "headset") or (echo == "auto" and not can_cancel()):
        return None
    if not can_cancel():
        raise DeviceError(f"local.echo = cancel: livekit is not installed: {to_install('local')}")
    return EchoCanceller(card.queue.rate_hz, card.input_rate_hz, card.echo_delay_s * 1000)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    parser = argparse.ArgumentParser(prog="python -m voice.local", description=__doc__)
    parser.add_argument("--list-devices", action="store_true", help="show the sound devices")
    add_options(parser, "local.echo=headset", agent=True)
    options = parser.parse_args(arguments)
    status = 0
    try:
        if options.list_devices:
            print(list_devices())
        else:
            asyncio.run(converse(chosen(options), Console()))
    except* VoiceError as failed:
        for error in failed.exceptions:
            print(f"error: {error}", file=sys.stderr)
        status = 1
    except* KeyboardInterrupt:
        print()
    return status


if __name__ == "__main__":
    sys.exit(main())
