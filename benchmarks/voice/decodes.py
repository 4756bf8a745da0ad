"""What transcripts cost the processor: ``python -m benchmarks.voice.decodes``, no server.

People's recordings are joined and cut into clips of several lengths; each clip is decoded as at the
end of a turn and as for an interim transcript. Whole recordings for both agents are also heard
frame by frame, which tells how much speech lies between two interim transcripts, and their share of
one core. All times are processor time, over all threads.

Silence and recorded noise, cut to the same lengths, are decoded as at the end of a turn, although
no detector would begin a turn there. Words that come of it are invented, except where the noise is
of people talking. Results go to benchmarks/results/decodes.json.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.report import Program, percentiles, share
from benchmarks.voice.corpus import SHARED, Utterance, needed, orders_of, people, spread
from benchmarks.voice.noise import KINDS, recorded
from voice.audio import Framer
from voice.config import AsrConfig, load_agent, load_config
from voice.demo.virtual_audio import speech_span
from voice.finetune.evaluate import repeats
from voice.hearing.asr.domain import Domain
from voice.hearing.asr.repair import Repair
from voice.hearing.asr.whisper import Decoded, WhisperRecognizer, WhisperStream
from voice.types import SAMPLE_RATE_HZ, Samples

LENGTHS_S = (1, 2, 3, 5, 8)
RECORDINGS = 40
SILENCE_S = 40


class Timed:
    """A decoder that notes each decode's length of audio and its processor time, both in s."""

    def __init__(self, recognizer: WhisperRecognizer) -> None:
        self._recognizer = recognizer
        self.config = recognizer.config
        self.made: list[tuple[float, float]] = []

    def decode(
        self,
        audio: Samples,
        beam_size: int,
        repair: Repair | None = None,
        language: str = "",
    ) -> Decoded:
        """See `WhisperRecognizer.decode`."""
        began = time.process_time()
        decoded = self._recognizer.decode(audio, beam_size, repair, language)
        self.made.append((len(audio) / SAMPLE_RATE_HZ, time.process_time() - began))
        return decoded


def decodes(
    recognizer: WhisperRecognizer, said: Sequence[Utterance], repair: Repair
) -> dict[str, Any]:
    """Time decodes of several lengths, as at the end of a turn and as for interim transcripts."""
    speech = np.concatenate([utterance.samples for utterance in said])
    found = {}
    for seconds in LENGTHS_S:
        clips = list(clips_of(speech, seconds))
        for name, beams in (("final", recognizer.config.beam_size), ("interim", 1)):
            decoder = Timed(recognizer)
            for clip in clips[:RECORDINGS]:
                decoder.decode(clip, beams, repair)
            spent = [1000 * spent_s for _, spent_s in decoder.made]
            found[f"{name} of {seconds} s"] = percentiles(spent, 1)
    return found


def clips_of(sound: Samples, seconds: int) -> Iterator[Samples]:
    """A sound cut into clips of one length; the remainder is dropped."""
    length = seconds * SAMPLE_RATE_HZ
    return (sound[at : at + length] for at in range(0, len(sound) - length + 1, length))


def nobody_speaks(
    recognizer: WhisperRecognizer, sounds: Mapping[str, Samples], repair: Repair
) -> dict[str, Any]:
    """Each sound's clips that get words, and those whose words repeat themselves."""
    found = {}
    for name, sound in sounds.items():
        clips = [clip for seconds in LENGTHS_S for clip in clips_of(sound, seconds)]
        beams = recognizer.config.beam_size
        texts = [recognizer.decode(clip, beams, repair).text.split() for clip in clips]
        found[name] = {
            "written": share(sum(map(bool, texts)), len(clips)),
            "repeated": share(sum(repeats((), text) for text in texts), len(clips)),
            "words": sum(map(len, texts)),
        }
    return found


def partials(
    recognizer: WhisperRecognizer, said: Sequence[Utterance], repair: Repair
) -> dict[str, Any]:
    """How much speech lies between two interim transcripts, and their share of one core."""
    apart_ms, spent_s, heard_s = list[float](), 0.0, 0.0
    for utterance in said:
        decoder = Timed(recognizer)
        stream = WhisperStream(decoder, 1, repair)
        begin, _ = speech_span(utterance.samples, SAMPLE_RATE_HZ)
        for frame in Framer().push(utterance.samples[begin : utterance.end]):
            stream.accept(frame)
            stream.interim()
        lengths = [0.0, *(length_s for length_s, _ in decoder.made)]
        apart_ms += [1000 * (after - before) for before, after in pairwise(lengths)]
        spent_s += sum(spent for _, spent in decoder.made)
        heard_s += (utterance.end - begin) / SAMPLE_RATE_HZ
    return {
        "recordings": len(said),
        "seconds": round(heard_s, 1),
        "apart_ms": percentiles(apart_ms),
        "share_of_one_core": round(spent_s / heard_s, 3),
    }


def repair_of(recognizer: WhisperRecognizer, agent: str) -> Repair:
    """The repair that puts an agent's names in place of words that sound like them."""
    repair = recognizer.repair(Domain.of(load_agent(agent)))
    assert repair is not None
    return repair


def main() -> None:
    """Measure and write the results."""
    program = Program("benchmarks.voice.decodes", __doc__, "set", "name")
    given = program.parse_args()
    settings = given.set
    needed(program, SHARED)
    config: AsrConfig = load_config(None, settings).asr
    recognizer = WhisperRecognizer(config.whisper)
    figures: dict[str, Any] = {"settings": settings}
    orders = orders_of("orders.jsonl", "orders-more.jsonl")
    sounds = {"silence": np.zeros(SILENCE_S * SAMPLE_RATE_HZ, np.int16)}
    sounds |= {kind: recorded(kind) for kind in KINDS}
    for agent, said in (("coffee", orders), ("assistant", people())):
        repair = repair_of(recognizer, agent)
        some = spread(said, RECORDINGS)
        figures[agent] = {
            "decode_ms": decodes(recognizer, some, repair),
            "partials": partials(recognizer, some, repair),
            "nobody_speaks": nobody_speaks(recognizer, sounds, repair),
        }
        print(agent, figures[agent], flush=True)
    program.write(figures, given.name)


if __name__ == "__main__":
    main()
