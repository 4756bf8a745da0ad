"""Pauses as a session meets them, with all cues: what endpointing is measured on.

Each recording is heard once, by detector and recogniser chained as in the pipeline, but the turn
never ends. The cues at every pause are kept, so that any rule for the end of a turn can be tried on
the same pauses within milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.voice.corpus import Utterance
from voice.audio import Framer
from voice.config import AsrConfig, EndpointingConfig, VadConfig, load_agent, load_config
from voice.demo.virtual_audio import room_tone
from voice.hearing.asr import Recognizers
from voice.hearing.asr.domain import Domain
from voice.hearing.end_of_turn import Cues
from voice.hearing.endpointing import Endpointer
from voice.hearing.vad import make_vad
from voice.types import (
    FRAME_SAMPLES,
    SAMPLE_RATE_HZ,
    AudioFrame,
    Pause,
    Samples,
    SpeechResumed,
    SpeechStarted,
    Transcript,
    ms_of_samples,
)

LEAD_S, TAIL_S = 0.5, 3.0
NEVER_MS = 60_000

Opinion = Callable[[str, str], float]
"""Agent and text → the model's probability that the user's message ends there."""


@dataclass(frozen=True, slots=True)
class Met:
    """A pause in a recording.

    Attributes:
        gap_ms: How long it lasted; None if no speech followed.
        lag_ms: From the true end of speech to where the detector put it; 0 for an inner pause.
        cues: What was known at the pause.
    """

    gap_ms: float | None
    lag_ms: float
    cues: Cues


@dataclass(frozen=True, slots=True)
class Traced:
    """A recording and its pauses."""

    name: str
    kind: str
    pauses: tuple[Met, ...]


def model_opinion() -> Opinion:
    """The shipped model's probability that a first message ends, under an agent's prompt."""
    from dlm.engine.engine import Engine
    from dlm.language.messages import Tool, Turn
    from voice.tools import Toolbox

    config = load_config(None, ['tools.database=":memory:"'])
    toolbox, engine = Toolbox(config.tools, config.turn), Engine.load()

    def opinion(agent: str, text: str) -> float:
        told = load_agent(agent)
        specs = toolbox.specs(told.tools)
        tools = [Tool(spec.name, spec.description, spec.parameters) for spec in specs]
        return engine.end_of_message([Turn("system", told.instructions), Turn("user", text)], tools)

    return opinion


class Tracer:
    """Hears recordings without ever ending a turn.

    Args:
        opinion: The model's opinion on whether a message ends.
        asr: The recogniser's configuration.
    """

    def __init__(self, opinion: Opinion, asr: AsrConfig) -> None:
        self._opinion = opinion
        self._vad = make_vad(VadConfig(engine="silero"))
        loaded = Recognizers()
        agents = {name: load_agent(name) for name in ("assistant", "coffee")}
        self._recognizers = {name: loaded.of(asr, told)[0] for name, told in agents.items()}
        self._domains = {name: Domain.of(told) for name, told in agents.items()}

    def trace(self, said: Utterance) -> Traced:
        """Hear one recording between two stretches of a quiet room."""
        lead, tail = (room_tone(seconds, SAMPLE_RATE_HZ) for seconds in (LEAD_S, TAIL_S))
        audio = np.concatenate([lead, said.samples, tail])
        end = len(lead) + said.end
        heard, resumed = self._hear(audio, said.agent, end)
        pauses = []
        for at, final in heard:
            inner = at in resumed
            if not inner and pauses and pauses[-1].gap_ms is None:
                break
            end_of_message = self._opinion(said.agent, final.text) if final.text else None
            cues = Cues(final.text, end_of_message)
            gap_ms = ms_of_samples(resumed[at] - at) if inner else None
            pauses.append(Met(gap_ms, 0.0 if inner else ms_of_samples(at - end), cues))
        kind = f"{said.kind}, pause" if said.pause_ms else said.kind
        return Traced(said.name, kind, tuple(pauses))

    def _hear(
        self, audio: Samples, agent: str, end: int
    ) -> tuple[list[tuple[int, Transcript]], dict[int, int]]:
        """Detect and recognise.

        Args:
            audio: (T,) int16 at 16 kHz.

        Returns:
            Each pause's position with the transcript up to it, and, for pauses within the speech,
            the position of the pause → where speech went on.
        """
        self._vad.reset()
        endpointer = Endpointer(EndpointingConfig(longest_turn_s=60), silence_ms=NEVER_MS)
        before: list[AudioFrame] = []
        held: list[AudioFrame] = []
        stream, paused = None, False
        heard: list[tuple[int, Transcript]] = []
        resumed: dict[int, int] = {}
        for frame in Framer().push(audio):
            before.append(frame)
            events = endpointer.accept(frame, self._vad.probability(frame), Cues())
            if stream is not None:
                held.append(frame)
                if not paused and endpointer.silence_samples <= FRAME_SAMPLES:
                    for earlier in held:
                        stream.accept(earlier)
                    held.clear()
            for event in events:
                match event:
                    case SpeechStarted(turn_id, start):
                        stream = self._recognizers[agent].open(turn_id, self._domains[agent])
                        for earlier in before:
                            if earlier.start_sample >= start - endpointer.pre_roll_samples:
                                stream.accept(earlier)
                    case Pause(_, at) if stream is not None:
                        paused = True
                        heard.append((at, stream.finish()))
                    case SpeechResumed(_, start) if stream is not None:
                        paused = False
                        for earlier in held:
                            stream.accept(earlier)
                        held.clear()
                        if start < end:
                            resumed[heard[-1][0]] = start
        return heard, resumed


def dead_air_ms(traced: Traced, wait: Callable[[Cues], float]) -> float | None:
    """From the end of speech to the decision; None when the turn was cut off before that.

    Args:
        traced: The recording.
        wait: The rule: the silence, in milliseconds, that it requires for some cues.
    """
    for pause in traced.pauses:
        needed_ms = wait(pause.cues)
        if pause.gap_ms is None:
            return needed_ms + pause.lag_ms
        if needed_ms <= pause.gap_ms:
            return None
    return None
