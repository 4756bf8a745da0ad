"""``python -m voice.demo``: a recorded user converses with a real server, in real time.

Shows each turn with its tool calls and where its time went, writes the conversation as stereo sound
(user left, agent right), and fails when a turn's expected tool was not called.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from voice.config import load_config, secret
from voice.config.command_line import add_options
from voice.demo.client import RATE_HZ, RealtimeClient, at_client_rate
from voice.demo.recordings import CONVERSATIONS, Line, load
from voice.demo.server import as_arguments, serving
from voice.demo.turn_report import Turn, of_type
from voice.demo.virtual_audio import stereo
from voice.errors import VoiceError
from voice.local.terminal import line, tool_line
from voice.speech.audio_files import format_of, write_file
from voice.types import SAMPLE_RATE_HZ, Samples

STAGES = ("asr_final", "end_of_turn", "first_token", "reply_committed", "first_audio")
"""The marks of quicksilver.latency that are shown, in the order of a turn."""
BAR_COLUMNS = 40
BAR_MS = 1000.0
PAUSE_S = 0.4
"""Between the agent's last word and the user's next; people take about as long."""


async def converse(
    url: str, api_key: str | None, lines: Sequence[Line], console: Console
) -> tuple[list[Turn], Samples]:
    """Say the lines one after the other, each after the reply to the previous one.

    Returns:
        A turn for each line, and the conversation as (T, 2) int16 at 24 kHz.

    Raises:
        OSError: The server is not there, or closes the connection too early.
    """
    turns = []
    async with RealtimeClient.open(url, api_key=api_key) as client:
        await client.settled()
        for spoken in of_type(client.events, "response.output_audio_transcript.done"):
            console.print(line("agent", spoken.event["transcript"]))
        for said in lines:
            await asyncio.sleep(PAUSE_S)
            turn = await client.turn(at_client_rate(load(said.name), SAMPLE_RATE_HZ))
            turns.append(turn)
            show(said, turn, console)
        return turns, stereo(client.microphone, client.loudspeaker)


def show(said: Line, turn: Turn, console: Console) -> None:
    """Print a turn: line, transcript, tool calls, reply, and times."""
    shown = [Text(), line("user", turn.transcript or "(not understood)")]
    if turn.transcript != said.text:
        shown.append(line("user", f"said: {said.text}", style="dim italic"))
    shown += [tool_line(use.name, use.arguments, use.result) for use in turn.tools]
    if not called(said, turn):
        shown.append(line("error", f"{said.tool} was not called"))
    shown += [line("agent", turn.reply or f"(no reply: {turn.status})"), waterfall(turn)]
    for text in shown:
        console.print(text, soft_wrap=True)


def called(said: Line, turn: Turn) -> bool:
    """Whether the tool that a line asks for was called."""
    return any(use.name == said.tool for use in turn.tools)


def waterfall(turn: Turn) -> Text:
    """A bar for each stage, from the end of the previous stage; time runs to the right."""
    stages = {name: turn.marks_ms[name] for name in STAGES if name in turn.marks_ms}
    if turn.voice_to_voice_ms is not None:
        stages["audible"] = turn.voice_to_voice_ms
    drawn = Text()
    before_ms = 0.0
    for name, at_ms in stages.items():
        begin, end = _column(min(before_ms, at_ms)), _column(at_ms)
        bar = " " * begin + "█" * max(1, end - begin)
        drawn.append(f"{name:>24}  ", "dim")
        drawn.append(f"{bar:<{BAR_COLUMNS + 1}}", "magenta")
        drawn.append(f"{at_ms:6.0f} ms\n")
        before_ms = at_ms
    drawn.rstrip()
    return drawn


def _column(at_ms: float) -> int:
    return round(min(max(at_ms, 0.0), BAR_MS) / BAR_MS * BAR_COLUMNS)


def timing(turns: Sequence[Turn]) -> str:
    """The median and the longest voice-to-voice time, in words; empty if no reply was heard."""
    times_ms = [t.voice_to_voice_ms for t in turns if t.voice_to_voice_ms is not None]
    if not times_ms:
        return ""
    median = statistics.median(times_ms)
    return f"voice to voice: {median:.0f} ms median, {max(times_ms):.0f} ms longest"


async def demonstrate(options: argparse.Namespace, console: Console) -> int:
    """Run a server and the whole conversation; returns how many turns missed their tool.

    Raises:
        VoiceError: A configuration is wrong, or the server did not start.
        OSError: The server went away, or the file cannot be written.
    """
    lines = CONVERSATIONS[options.agent]
    file = options.out or Path("runs") / f"demo-{options.agent}.wav"
    format_of(file)
    key = secret(load_config(options.config, options.set).server.api_key_env)
    # In memory, so that a demo neither reads nor leaves anything in the user's own lists.
    settings = as_arguments(['tools.database=":memory:"', *options.set])
    passed_on = ["--agent", options.agent, *settings]
    passed_on += ["--config", options.config] if options.config else []
    async with serving(passed_on) as server:
        turns, both = await converse(server.realtime_url, key, lines, console)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_file(file, both, RATE_HZ)
    missed = sum(not called(said, turn) for said, turn in zip(lines, turns, strict=True))
    console.print(f"\n{len(lines) - missed} of {len(lines)} turns called the expected tool")
    if summary := timing(turns):
        console.print(summary)
    console.print(f"the conversation: {file}")
    return missed


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    parser = argparse.ArgumentParser(prog="python -m voice.demo", description=__doc__)
    parser.add_argument("agent", nargs="?", default="assistant", choices=sorted(CONVERSATIONS))
    add_options(parser, "asr.engine=sphinx")
    parser.add_argument(
        "--out", type=Path, help="where it goes, as .wav, .opus, .mp3, .aac or .flac; else in runs/"
    )
    try:
        return 1 if asyncio.run(demonstrate(parser.parse_args(arguments), Console())) else 0
    except (VoiceError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
