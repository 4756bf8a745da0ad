"""How well the agents understand people: ``python -m benchmarks.voice.ears``, no server.

Each recording is heard by a session of its own, with the default detector, recogniser, model and
tools, as fast as the machine can: the audio's clock is the only one, and nothing is ever behind. It
is heard as it was recorded, with recorded noise around it, and as a telephone carries it (8 kHz,
300 to 3400 Hz, G.711 mu-law, with the detector that the configuration has for telephones).
Replies are text, so a user who goes on after the end of a turn is answered twice; a spoken first
reply would have been withdrawn.

A recording is *done* if the tool that it asks for was called, or if the order's arguments have all
that was ordered. Commands of unclear meaning do not count in that. One half of the recordings is
what things were tuned on. Nobody speaks in both halves, and all noisy commands are in the first.

Silence, and recordings of noise in which nobody speaks to the agent, are heard as well: nothing
should come of them. Results go to benchmarks/results/ears.json.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from benchmarks.report import Program, percentiles, share, shipped_checkpoint
from benchmarks.voice import figures as measures
from benchmarks.voice.bystander import AtOnce
from benchmarks.voice.corpus import (
    NO_TOOL,
    SHARED,
    Utterance,
    is_put_aside,
    needed,
    orders_of,
    people,
    read_audio,
    spread,
)
from benchmarks.voice.figures import Said
from benchmarks.voice.noise import KINDS, SNRS_DB, recorded, with_noise
from voice.config import load_config
from voice.demo.server import EMBEDDED
from voice.demo.turn_report import ToolUse, Turn
from voice.demo.virtual_audio import room_tone
from voice.events import (
    FinalTranscript,
    ReplyEnded,
    ReplyStarted,
    ReplyToolCall,
    SessionEnded,
    SessionEvent,
    UserSpeechStarted,
    UserTurnCommitted,
)
from voice.llm.base import Prompt, ReplyModel
from voice.prove.sound import LINE_HZ, carried
from voice.session.resources import Resources
from voice.session.session import Session
from voice.tools import Toolbox
from voice.types import FRAME_SAMPLES, SAMPLE_RATE_HZ, Samples, ms_of_samples

AGENT = "assistant"
HALVES = ("tuning", "held out")
AS_RECORDED, TELEPHONE = "as recorded", "telephone"
CONDITIONS = (AS_RECORDED, TELEPHONE, *(f"{snr_db} dB" for snr_db in SNRS_DB))
LEAD_S, TAIL_S = 0.5, 2.0
MOST_BEHIND_S = 10.0
"""Most seconds, after the tail, for which noise goes on while the detector takes it for speech."""
SILENCE_S = 40
LIMIT_S = 600.0
_PASSES = 12
"""Passes of the event loop that suffice to deliver all that a frame has caused."""


class Waited:
    """A model that notes whether it is being asked for the end of a message; the audio waits."""

    def __init__(self, model: ReplyModel) -> None:
        self._model = model
        self.free = asyncio.Event()
        self.free.set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    async def end_of_message(self, prompt: Prompt) -> float | None:
        """See `ReplyModel`."""
        self.free.clear()
        try:
            return await self._model.end_of_message(prompt)
        finally:
            self.free.set()


class Listener:
    """Collects what one session does with one recording.

    Attributes:
        position: Samples of it that have been heard.
        speaking: Whether somebody speaks, according to the detector.
    """

    def __init__(self) -> None:
        self.position = 0
        self.speaking = False
        self.texts: list[str] = []
        self.calls: list[ToolUse] = []
        self.committed: list[int] = []
        self.replies: dict[str, str] = {}
        self.answered = asyncio.Event()
        self.answered.set()
        self._unfinished: set[str] = set()

    def take(self, event: SessionEvent) -> None:
        """Note an event; never blocks."""
        match event:
            case FinalTranscript(text=text):
                self.texts.append(text.strip())
            case UserSpeechStarted():
                self.speaking = True
            case UserTurnCommitted():
                self.speaking = False
                self.committed.append(self.position)
            case ReplyStarted(reply_id=reply_id):
                self._unfinished.add(reply_id)
                self.answered.clear()
            case ReplyToolCall(call=call):
                self.calls.append(ToolUse(call.name, dict(call.arguments), ""))
            case ReplyEnded(reply_id=reply_id, text=text):
                self._unfinished.discard(reply_id)
                self.replies[reply_id] = text
                if not self._unfinished:
                    self.answered.set()
            case SessionEnded():
                self.answered.set()

    def turn(self, end: int) -> Turn:
        """The turn that came of the recording, whose speech ends at a position."""
        early = sum(position < end for position in self.committed)
        late_ms = ms_of_samples(self.committed[-1] - end) if self.committed and not early else None
        return Turn(
            transcript=" ".join(filter(None, self.texts)),
            tools=tuple(self.calls),
            reply=" ".join(self.replies.values()),
            status="completed" if self.replies else "none",
            marks_ms={} if late_ms is None else {"end_of_turn": late_ms},
            voice_to_voice_ms=None,
            after_commit_ms=None,
            commits=len(self.committed),
            early_commits=early,
        )


async def hear(resources: Resources, utterance: Utterance, telephone: bool = False) -> Said:
    """Say one recording to a session, between two stretches of a quiet room or of its noise."""
    toolbox, model = Toolbox(resources.config.tools, resources.config.turn), Waited(resources.model)
    session = Session(
        replace(
            resources,
            toolbox=toolbox,
            model=model,
            recognition_threads=cast(Any, AtOnce()),
        ),
        replace(resources.options(), speak=False),
    )
    listener = Listener()
    running = asyncio.create_task(session.run(listener.take))
    rate_hz = LINE_HZ if telephone else SAMPLE_RATE_HZ
    audio, end = surrounded(utterance)
    if telephone:
        audio = carried(audio, SAMPLE_RATE_HZ)
    step = FRAME_SAMPLES * rate_hz // SAMPLE_RATE_HZ
    whole = len(audio) - round(MOST_BEHIND_S * rate_hz)
    try:
        async with asyncio.timeout(LIMIT_S):
            for first in range(0, len(audio), step):
                session.append_audio(audio[first : first + step], rate_hz)
                listener.position = (first + step) * SAMPLE_RATE_HZ // rate_hz
                for _ in range(_PASSES):
                    await asyncio.sleep(0)
                await model.free.wait()
                if first >= whole and not listener.speaking:
                    break
            await listener.answered.wait()
    finally:
        session.close()
        await running
        await toolbox.close()
    return Said(utterance, listener.turn(end))


def surrounded(utterance: Utterance) -> tuple[Samples, int]:
    """An utterance with the room before and after it and its noise, and where its speech ends."""
    lead, tail = (
        room_tone(seconds, SAMPLE_RATE_HZ) for seconds in (LEAD_S, TAIL_S + MOST_BEHIND_S)
    )
    audio = np.concatenate([lead, utterance.samples, tail]).astype(np.int32)
    if utterance.around is not None:
        audio += np.resize(utterance.around, len(audio))
    return np.clip(audio, -32768, 32767).astype(np.int16), len(lead) + utterance.end


def recordings(half: str, most: int | None) -> list[Utterance]:
    """Recordings of people in one half, at most ``most`` of each kind."""
    own = [u for u in (*people(), *orders_of("orders.jsonl", "orders-more.jsonl"))
           if is_put_aside(u.name) == (half == HALVES[1])]  # fmt: skip
    kinds = dict.fromkeys(u.kind for u in own)
    return [u for kind in kinds for u in spread([u for u in own if u.kind == kind], most)]


def under(condition: str, said: Sequence[Utterance]) -> list[Utterance]:
    """Recordings under a condition; noise is added only to those that were said close by."""
    if condition in (AS_RECORDED, TELEPHONE):
        return list(said)
    near = [u for u in said if u.kind in ("command", "order")]
    noises = [recorded(kind) for kind in KINDS]
    return with_noise(near, noises, [int(condition.split()[0])])


def done(said: Said) -> bool | None:
    """Whether the tool was called, or all was ordered; None where that is not known."""
    if said.utterance.slots:
        return bool(measures.order_slots([said])["orders_all_right"]["count"])
    called = {use.name for use in said.turn.tools}
    return said.utterance.tool in called if said.utterance.tool else None


def summary(said: Sequence[Said]) -> dict[str, Any]:
    """The figures of some recordings."""
    known = [verdict for one in said if (verdict := done(one)) is not None]
    late_ms = [one.turn.marks_ms["end_of_turn"] for one in said if one.turn.marks_ms]
    told = {
        "recordings": len(said),
        "understood": share(sum(bool(one.turn.transcript) for one in said), len(said)),
        "word_errors": measures.recognition(said),
        "done": share(sum(known), len(known)),
        "called_unasked": measures.tools(said)["called_unasked"],
        "cut_off": measures.cutoffs(said),
        "dead_air_ms": percentiles(late_ms),
    }
    orders = [one for one in said if one.utterance.slots]
    return told | ({"slots": measures.order_slots(orders)["slots_right"]} if orders else {})


def by_kind(said: Sequence[Said]) -> dict[str, Any]:
    """The figures of each kind, and of commands and orders together, which were said close by."""
    kinds = {kind: [s for s in said if s.utterance.kind == kind]
             for kind in dict.fromkeys(s.utterance.kind for s in said)}  # fmt: skip
    near = [s for s in said if s.utterance.kind in ("command", "order")]
    return {**{kind: summary(group) for kind, group in kinds.items()}, "close by": summary(near)}


async def all_heard(
    resources: dict[str, Resources], condition: str, said: Sequence[Utterance], show: bool
) -> list[Said]:
    """Say recordings one after the other under a condition."""
    heard = []
    for utterance in under(condition, said):
        one = await hear(resources[utterance.agent], utterance, condition == TELEPHONE)
        heard.append(one)
        if show and done(one) is not True:
            print(json.dumps(measures.row(one) | {"slots": utterance.slots}), flush=True)
    return heard


def noises() -> list[Utterance]:
    """Silence, and recordings of noise in which nobody says anything to the agent."""
    found = [("silence", np.zeros(SILENCE_S * SAMPLE_RATE_HZ, np.int16))]
    found += [(file.stem, read_audio(file)) for file in sorted((SHARED / "noise").glob("*.flac"))]
    return [
        Utterance(name, "noise", AGENT, np.zeros_like(noise), 0, "", NO_TOOL, around=noise)
        for name, noise in found
    ]


async def main() -> None:
    """Measure and write the results."""
    program = Program("benchmarks.voice.ears", __doc__, "set", "name")
    program.add_argument("--half", choices=HALVES, action="append", help="only this one")
    program.add_argument("--under", choices=CONDITIONS, action="append", help="only this one")
    program.add_argument("--most", type=int, help="recordings of each kind, as a check")
    program.add_argument("--show", action="store_true", help="print what was not done")
    given = program.parse_args()
    needed(program, SHARED)
    # Without drafting, interim transcripts change nothing and only cost time.
    settings = [*EMBEDDED, "drafting.enabled=false", "asr.whisper.interim_ms=600000", *given.set]
    assistant = Resources.load(load_config(None, settings))
    resources = {AGENT: assistant, "coffee": assistant.for_agent("coffee")}
    figures: dict[str, Any] = {"settings": settings, "checkpoint": shipped_checkpoint()}
    try:
        for half in given.half or HALVES:
            figures[half] = {}
            for condition in given.under or CONDITIONS:
                said = recordings(half, given.most)
                heard = await all_heard(resources, condition, said, given.show)
                figures[half][condition] = by_kind(heard)
                for kind, told in figures[half][condition].items():
                    rates = {name: told[name]["rate"] for name in ("word_errors", "done")}
                    print(half, condition, kind, told["recordings"], rates, flush=True)
        alone = await all_heard(resources, AS_RECORDED, noises()[: given.most], given.show)
        figures["noise alone"] = {s.utterance.name: measures.row(s) for s in alone}
    finally:
        await assistant.close()
    program.write(figures, given.name)


if __name__ == "__main__":
    asyncio.run(main())
