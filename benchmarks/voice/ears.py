"""How well speech is detected and recognised: ``python -m benchmarks.voice.ears``, no server.

Every recording goes through voice activity detection, endpointing and the embedded recogniser as
fast as the machine can, as the pipeline would chain them, the language model's opinion of each
pause included: word errors by kind, with and without the guard against speech outside the domain;
what the guard lets through; early and late ends of turns; turns begun by noise; and what it costs.
Results go to benchmarks/results/ears.json.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import soundfile

from benchmarks.report import Program, percentiles, share, shipped_checkpoint
from benchmarks.voice.corpus import PAUSES_MS, SHARED, Utterance, by_kind, needed, with_pauses
from benchmarks.voice.pauses import Opinion, model_opinion
from voice.audio import Framer
from voice.config import Config, EndpointingConfig, SphinxConfig, load_agent, load_config
from voice.demo.virtual_audio import room_tone
from voice.hearing.asr.sphinx import SphinxRecognizer
from voice.hearing.end_of_turn import Cues
from voice.hearing.endpointing import Endpointer
from voice.hearing.vad import make_vad
from voice.prove.words import errors, words
from voice.types import (
    SAMPLE_RATE_HZ,
    AudioFrame,
    Pause,
    Samples,
    SpeechResumed,
    SpeechStarted,
    Transcript,
    TurnEnded,
    ms_of_samples,
)

LEAD_S, TAIL_S = 0.5, 2.0
ENGINES = ("webrtc", "silero")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Heard:
    """What detection and recognition made of one utterance.

    Attributes:
        texts: Final transcript of each turn, unguarded.
        sure: Their confidences.
        cut_early: Whether a turn ended before the speech did.
        late_ms: From the end of speech to the decision of the last turn; None when it was cut
            early.
        finish_ms: What each final decode took.
        opinion_ms: What each opinion of the language model took, on an idle machine.
        busy_s: What everything took.
        seconds: How much audio went in.
    """

    texts: tuple[str, ...]
    sure: tuple[float, ...]
    cut_early: bool
    late_ms: float | None
    finish_ms: tuple[float, ...]
    opinion_ms: tuple[float, ...]
    busy_s: float
    seconds: float


class Listener:
    """Chains the parts over whole recordings."""

    def __init__(self, engine: str, config: Config, opinion: Opinion) -> None:
        self._opinion = opinion
        self._vad = make_vad(config.vad.model_copy(update={"engine": engine}))
        self._endpointing: EndpointingConfig = config.endpointing
        unguarded = SphinxConfig(cache_dir=config.asr.sphinx.cache_dir, min_confidence=0)
        self._recognizers = {
            agent: SphinxRecognizer(unguarded, load_agent(agent))
            for agent in ("assistant", "coffee")
        }

    def turns_in(self, audio: Samples) -> int:
        """Turns that a recording without a user in it begins."""
        self._vad.reset()
        endpointer = Endpointer(self._endpointing)
        return sum(
            isinstance(event, SpeechStarted)
            for frame in Framer().push(audio)
            for event in endpointer.accept(frame, self._vad.probability(frame), Cues())
        )

    def hear(self, utterance: Utterance) -> Heard:
        """Hear one utterance between two stretches of a quiet room."""
        lead, tail = (room_tone(seconds, SAMPLE_RATE_HZ) for seconds in (LEAD_S, TAIL_S))
        audio = np.concatenate([lead, utterance.samples, tail])
        began = time.perf_counter()
        spent: dict[str, list[float]] = {"finish": [], "opinion": []}
        finals, decisions = self._listen(utterance.agent, audio, spent)
        end = len(lead) + utterance.end
        early = any(decided < end for decided in decisions)
        late = None if early or not decisions else ms_of_samples(decisions[-1] - end)
        return Heard(
            tuple(final.text for final in finals),
            tuple(final.confidence for final in finals),
            early,
            late,
            tuple(spent["finish"]),
            tuple(spent["opinion"]),
            time.perf_counter() - began,
            len(audio) / SAMPLE_RATE_HZ,
        )

    def _listen(
        self, agent: str, audio: Samples, spent: dict[str, list[float]]
    ) -> tuple[list[Transcript], list[int]]:
        self._vad.reset()
        endpointer = Endpointer(self._endpointing)
        finals: list[Transcript] = []
        decisions: list[int] = []
        before: list[AudioFrame] = []
        stream, cues = None, Cues()
        for frame in Framer().push(audio):
            before.append(frame)
            if stream is not None:
                stream.accept(frame)
            for event in endpointer.accept(frame, self._vad.probability(frame), cues):
                if isinstance(event, SpeechStarted):
                    stream, cues = self._recognizers[agent].open(event.turn_id), Cues()
                    first = event.start_sample - endpointer.pre_roll_samples
                    for earlier in before:
                        if earlier.start_sample >= first:
                            stream.accept(earlier)
                elif isinstance(event, Pause) and stream is not None:
                    final = _timed(spent["finish"], stream.finish)
                    cues = self._cues(agent, final, spent)
                elif isinstance(event, SpeechResumed):
                    cues = Cues()
                elif isinstance(event, TurnEnded) and stream is not None:
                    finals.append(stream.finish())
                    decisions.append(event.decided_sample)
                    stream, cues = None, Cues()
        return finals, decisions

    def _cues(self, agent: str, final: Transcript, spent: dict[str, list[float]]) -> Cues:
        if not final.text:
            return Cues()
        end_of_message = _timed(spent["opinion"], lambda: self._opinion(agent, final.text))
        return Cues(final.text, end_of_message)


def _timed(spent: list[float], work: Callable[[], T]) -> T:
    began = time.perf_counter()
    done = work()
    spent.append((time.perf_counter() - began) * 1000)
    return done


def figures_of(listener: Listener, utterances: Iterable[Utterance], guard: float) -> dict[str, Any]:
    """Figures of one kind of utterance."""
    said = list(utterances)
    heard = [listener.hear(utterance) for utterance in said]
    texts = [" ".join(item.texts) for item in heard]
    kept = [
        " ".join(t for t, sure in zip(item.texts, item.sure, strict=True) if sure >= guard)
        for item in heard
    ]
    slots = [
        (value.strip(), text)
        for utterance, text in zip(said, kept, strict=True)
        for value in utterance.slots.values()
    ]
    return {
        "utterances": len(said),
        "word_error_rate": _word_errors(said, kept),
        "word_error_rate_without_guard": _word_errors(said, texts),
        "slots_heard": share(sum(value in text for value, text in slots), len(slots)),
        "accepted": share(sum(bool(text) for text in kept), len(said)),
        "cut_early": share(sum(item.cut_early for item in heard), len(said)),
        "end_of_turn_delay_ms": percentiles([i.late_ms for i in heard if i.late_ms is not None]),
        "finish_ms": percentiles([ms for item in heard for ms in item.finish_ms], 1),
        "opinion_ms": percentiles([ms for item in heard for ms in item.opinion_ms], 1),
        "real_time_factor": round(
            sum(item.busy_s for item in heard) / sum(item.seconds for item in heard), 3
        ),
    }


def _word_errors(said: list[Utterance], texts: list[str]) -> dict[str, float | int | None]:
    pairs = [(words(u.text), words(text)) for u, text in zip(said, texts, strict=True) if u.text]
    wrong = sum(errors(reference, found) for reference, found in pairs)
    return share(wrong, sum(len(reference) for reference, _ in pairs))


def with_paused() -> dict[str, list[Utterance]]:
    """All that is said, by kind; the demo's lines and commands once more with a pause in them."""
    kinds = by_kind()
    for paused in with_pauses(kinds["demo"] + kinds.get("command", []), PAUSES_MS):
        kinds.setdefault(f"pause of {paused.pause_ms} ms", []).append(paused)
    return kinds


def noises(listener: Listener) -> dict[str, dict[str, float | int]]:
    """Turns begun per recording of noise."""
    found = {}
    for file in sorted((SHARED / "noise").glob("*.flac")):
        audio, _ = soundfile.read(file, dtype="int16")
        seconds = round(len(audio) / SAMPLE_RATE_HZ, 1)
        found[file.stem] = {"turns": listener.turns_in(np.asarray(audio)), "seconds": seconds}
    return found


def main() -> None:
    """Measure with each detector and write the results."""
    program = Program("benchmarks.voice.ears", __doc__, "config")
    program.add_argument("--vad", choices=ENGINES, action="append", help="only this detector")
    options = program.parse_args()
    needed(program, SHARED)
    config = load_config(options.config)
    guard = config.asr.sphinx.min_confidence
    kinds = with_paused()
    figures: dict[str, Any] = {
        "min_confidence": guard,
        "profile": config.endpointing.profile,
        "checkpoint": shipped_checkpoint(),
    }
    opinion = model_opinion()
    for engine in options.vad or ENGINES:
        listener = Listener(engine, config, opinion)
        measured = {
            kind: figures_of(listener, utterances, guard) for kind, utterances in kinds.items()
        }
        figures[engine] = {"kinds": measured, "noise": noises(listener)}
        for kind, group in measured.items():
            print(
                f"{engine:7} {kind:16} words wrong {group['word_error_rate']['rate']}"
                f" accepted {group['accepted']['rate']} cut early {group['cut_early']['rate']}"
                f" decided after {group['end_of_turn_delay_ms']['p50']} ms"
                f" finish {group['finish_ms']['p95']} ms (p95)"
            )
    program.write(figures)


if __name__ == "__main__":
    main()
