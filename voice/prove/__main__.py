"""``python -m voice.prove [SCENARIOS…]``: simulated callers, and a scorecard of how they fared.

Each caller holds a whole spoken conversation in real time, with a server that is started for it, or
with any that speaks OpenAI's Realtime API (``--url``). The status is 1 if a conversation failed.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import re
import secrets
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import quote

from voice.config import Config, load_config, secret
from voice.config.command_line import add_options
from voice.demo.server import EMBEDDED, as_arguments, serving
from voice.errors import ConfigError, VoiceError
from voice.prove.call import Recording, hold
from voice.prove.doors import AnyDoor, Door, OurDoor
from voice.prove.figures import FIGURES, against, common, read, scorecard
from voice.prove.judge import judge
from voice.prove.mind import Mind
from voice.prove.page import page
from voice.prove.scenario import Take, load, load_axes, takes
from voice.prove.sound import around, recorded, voiced
from voice.speech.audio_files import RATE_HZ, Encoder

ALL = ("assistant", "coffee", "clinic")
BIT_RATE = 24_000
MIND_KEY = "OPENAI_API_KEY"
"""Environment variable with the key of the server at ``--mind``."""


def wanted(options: argparse.Namespace) -> list[Take]:
    """The conversations that the options ask for, sorted by agent.

    Raises:
        ConfigError: A file is missing or malformed, or no conversation is left.
    """
    axes = load_axes(options.axes) if options.axes else None
    seeds = range(options.seed, options.seed + options.draws)
    found = takes(map(load, options.scenarios or ALL), axes, seeds)
    found = [take for take in found if re.search(options.only, take.id)]
    if options.most and len(found) > options.most:
        found = [found[at * len(found) // options.most] for at in range(options.most)]
    if not found:
        raise ConfigError(f"--only: {options.only!r} leaves no conversation")
    [(often, times)] = Counter(take.id for take in found).most_common(1)
    if times > 1:
        raise ConfigError(f"{often}: got {times} scenarios of this name; expected one")
    return sorted(found, key=lambda take: take.agent)


def audible(found: Sequence[Take]) -> list[Take]:
    """The conversations whose callers can be heard; prints why others are left out.

    Raises:
        ConfigError: No caller's voice is installed and makes a sound, or a recording or the noise
            around a caller cannot be read.
    """
    missing: dict[str, ConfigError] = {}
    for voice in {take.scenario.behaviour.voice for take in found}:
        try:
            if not voiced(voice, "yes", 1.0).size:
                raise ConfigError(f"voice: {voice!r} makes no sound")
        except ConfigError as error:
            missing[voice] = error
    kept = []
    for take in found:
        if why := missing.get(take.scenario.behaviour.voice):
            print(f"left out  {take.id}: {why}", flush=True)
        else:
            kept.append(take)
    if not kept:
        raise next(iter(missing.values()))
    for take in kept:
        try:
            if noise := take.scenario.behaviour.noise:
                around(noise)
            for path in take.scenario.recordings.values():
                recorded(path)
        except ConfigError as error:
            raise ConfigError(f"{take.id}: {error}") from error
    return kept


@asynccontextmanager
async def door_to(
    agent: str, options: argparse.Namespace, config: Config
) -> AsyncGenerator[Door, None]:
    """The server at ``--url``, or one that is started for an agent."""
    name = config.server.api_key_env
    key = secret(name)
    if options.url:
        yield OurDoor(options.url, key) if options.ours else AnyDoor(options.url, config, key)
        return
    # A server with a key lets whoever has it read what is kept for a caller.
    key = key or secrets.token_hex(16)
    arguments = ["--agent", agent, *as_arguments([*EMBEDDED, *options.set])]
    arguments += ["--config", options.config] if options.config else []
    async with serving(arguments, {**os.environ, name: key}) as server:
        yield OurDoor(server.realtime_url, key)


Told = tuple[dict[str, Any], bytes]
"""The judgement of a conversation, and its sound as an Ogg file."""


async def told_of(take: Take, door: Door, options: argparse.Namespace) -> Told:
    """Hold and judge a conversation and keep the outcome, or with ``--resume`` take a kept one."""
    # Of a scenario that has changed since, nothing is kept.
    made = hashlib.sha256(take.scenario.model_dump_json().encode()).hexdigest()[:8]
    kept = options.out / "conversations" / f"{quote(take.id, safe='')}-{made}.json"
    sound = kept.with_suffix(".ogg")
    if options.resume:
        # A kill may have left nothing, or a part of the file.
        with suppress(FileNotFoundError, ValueError):
            return json.loads(kept.read_text(encoding="utf-8")), sound.read_bytes()
    mind = None
    if options.mind:
        mind = Mind(options.mind, options.mind_model, secret(MIND_KEY), take.seed)
    recording = await hold(take, door, mind)
    told = judge(take, recording), await asyncio.to_thread(opus, recording)
    kept.parent.mkdir(parents=True, exist_ok=True)
    sound.write_bytes(told[1])
    kept.write_text(json.dumps(told[0], ensure_ascii=False), encoding="utf-8")
    return told


async def prove(options: argparse.Namespace, config: Config) -> list[Told]:
    """Hold all conversations.

    Raises:
        VoiceError: A server did not start or refuses, or a scenario cannot be spoken.
        OSError: No server can be reached.
    """
    told = []
    free = asyncio.Semaphore(options.at_once)

    async def one(take: Take, door: Door) -> Told:
        async with free:
            judged, sound = await told_of(take, door, options)
        print(f"{'passed' if judged['passed'] else 'FAILED'}  {take.id}", flush=True)
        for wrong in judged["wrong"]:
            print(f"        {wrong}", flush=True)
        return judged, sound

    for agent, group in groupby(audible(wanted(options)), key=lambda take: take.agent):
        try:
            async with door_to(agent, options, config) as door, asyncio.TaskGroup() as tasks:
                held = [tasks.create_task(one(take, door)) for take in group]
        except ExceptionGroup as failed:
            # If the server refuses one call, it refuses all of them.
            raise failed.exceptions[0] from None
        told += [task.result() for task in held]
    return told


def opus(recording: Recording) -> bytes:
    """A conversation as an Ogg file of two channels: the caller's side and the agent's."""
    encoder = Encoder("opus", "stereo", BIT_RATE)
    parts = [encoder.push(recording.sound[at : at + RATE_HZ]) for at in
             range(0, len(recording.sound), RATE_HZ)]  # fmt: skip
    return b"".join([*parts, encoder.finish()])


def write(
    told: Sequence[Told], options: argparse.Namespace, other: Mapping[str, Any] | None
) -> None:
    """Write scorecard.json and scorecard.html, beside another scorecard; print the figures.

    Raises:
        ConfigError: The other scorecard shares no conversation.
        OSError: A file cannot be written.
    """
    made = datetime.now(UTC).isoformat(timespec="seconds")
    card = scorecard(options.url or "python -m voice.serve", made, [judged for judged, _ in told])
    compared = against(card["conversations"], other["conversations"]) if other else []
    sounds = {judged["id"]: sound for judged, sound in told}
    options.out.mkdir(parents=True, exist_ok=True)
    file = options.out / "scorecard.json"
    file.write_text(json.dumps(card, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    html = options.out / "scorecard.html"
    html.write_text(page(card, sounds, other, compared), encoding="utf-8")
    for figure in FIGURES:
        value, low, high = card["figures"][figure.name]
        if value is not None:
            print(f"{figure.name:42} {value:8.1f} {figure.unit:2}  ({low:.1f} to {high:.1f})")
    print(f"{file}\n{html}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m voice.prove", description=__doc__)
    add = parser.add_argument
    add(
        "scenarios", nargs="*", help=f"files, or names in configs/scenarios/; else {', '.join(ALL)}"
    )
    add("--url", help="ws://… of a server that is there; else one is started")
    add(
        "--ours", action="store_true", help="the server at --url is one of ours, with its own tools"
    )
    add("--axes", nargs="?", const="axes", help="vary what a file of axes names, one at a time")
    add("--only", default="", metavar="PATTERN", help="conversations whose name has this in it")
    add("--most", type=int, help="so many of them, evenly spread")
    add("--seed", type=int, default=1, help="of what is drawn")
    add("--draws", type=int, default=1, help="each with so many seeds")
    add(
        "--at-once", type=int, default=1, help="calls at once; their latencies are those of a crowd"
    )
    add("--out", type=Path, default=Path("runs/prove"), help="folder of the scorecard")
    add("--against", type=Path, metavar="JSON", help="another scorecard to stand beside this one")
    add("--resume", action="store_true", help="go on with what lies in that folder")
    add("--list", action="store_true", help="only name the conversations")
    add("--mind", metavar="URL", help="…/v1 of a chat model that says what callers say")
    add("--mind-model", default="gpt-4o-mini", metavar="NAME", help="of the model there")
    add_options(parser, "endpointing.profile=eager")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if min(options.draws, options.at_once, 1 if options.most is None else options.most) < 1:
        parser.error("--draws, --at-once and --most: expected 1 or more")
    if options.url and not re.match(r"wss?://[^/]", options.url):
        parser.error(f"--url: got {options.url!r}; expected ws://… or wss://…")
    if options.mind and not re.match(r"https?://[^/]", options.mind):
        parser.error(f"--mind: got {options.mind!r}; expected http://… or https://…")
    try:
        re.compile(options.only)
    except re.error as error:
        parser.error(f"--only: {error}")
    try:
        if options.list:
            print("\n".join(take.id for take in wanted(options)))
            return 0
        other = read(options.against) if options.against else None
        if other:
            common({take.id for take in wanted(options)}, other["conversations"])
        told = asyncio.run(prove(options, load_config(options.config, options.set)))
        write(told, options, other)
    except (VoiceError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0 if all(judged["passed"] for judged, _ in told) else 1


if __name__ == "__main__":
    sys.exit(main())
