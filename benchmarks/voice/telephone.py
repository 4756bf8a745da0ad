"""How well the recogniser hears over a telephone: ``python -m benchmarks.voice.telephone``.

Every recording is heard twice: wide-band as it is, and as a telephone carries it: 8 kHz, 300 to
3400 Hz, G.711 mu-law, resampled back as the product does, and by the voice activity detector that
the configuration has for either. The rest is as in `benchmarks.voice.ears`.

Results: benchmarks/results/telephone.json.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.report import Program
from benchmarks.voice.corpus import Utterance, by_kind
from benchmarks.voice.ears import Listener, figures_of
from benchmarks.voice.pauses import model_opinion
from voice.audio import StreamResampler
from voice.config import Config, load_config
from voice.prove.sound import LINE_HZ, carried
from voice.types import SAMPLE_RATE_HZ

KEPT = ("utterances", "word_error_rate", "slots_heard", "accepted", "cut_early")


def over_a_line(utterance: Utterance) -> Utterance:
    """An utterance as it reaches the recogniser over a telephone."""
    line = carried(utterance.samples, SAMPLE_RATE_HZ)
    resampler = StreamResampler(LINE_HZ, SAMPLE_RATE_HZ)
    heard = np.concatenate([resampler.push(line), resampler.flush()])
    return replace(utterance, samples=heard[: len(utterance.samples)])


def detectors(config: Config) -> dict[str, str]:
    """The voice activity detector of either channel."""
    return {"wide_band": config.vad.engine, "telephone": config.vad.telephone}


def compared(
    listeners: Mapping[str, Listener], utterances: list[Utterance], guard: float
) -> dict[str, Any]:
    """Figures of one kind, wide-band and over a telephone, each heard by its own listener."""
    channels = {
        "wide_band": utterances,
        "telephone": [over_a_line(utterance) for utterance in utterances],
    }
    found = {}
    for channel, said in channels.items():
        figures = figures_of(listeners[channel], said, guard)
        found[channel] = {name: figures[name] for name in KEPT}
    return found


def main() -> None:
    """Measure and write the results."""
    program = Program("benchmarks.voice.telephone", __doc__, "config")
    options = program.parse_args()
    config = load_config(options.config)
    guard = config.asr.sphinx.min_confidence
    chosen, opinion = detectors(config), model_opinion()
    listeners = {channel: Listener(vad, config, opinion) for channel, vad in chosen.items()}
    kinds = {}
    for kind, utterances in by_kind().items():
        kinds[kind] = compared(listeners, utterances, guard)
        for channel, figures in kinds[kind].items():
            print(
                f"{kind:10} {channel:10} words wrong {figures['word_error_rate']['rate']}"
                f" slots heard {figures['slots_heard']['rate']}"
                f" accepted {figures['accepted']['rate']} cut early {figures['cut_early']['rate']}",
                flush=True,
            )
    told = {"vad": chosen, "min_confidence": guard, "kinds": kinds}
    program.write(told)


if __name__ == "__main__":
    main()
