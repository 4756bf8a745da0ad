"""Make voice/demo/recordings/*.flac with flite: ``python -m benchmarks.voice.make_recordings``.

Needs the ``flite`` command with its voices (Debian: flite) and the dev dependencies.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import soundfile

from voice.demo.recordings import CONVERSATIONS
from voice.prove.sound import flite
from voice.types import SAMPLE_RATE_HZ, Samples, samples_of_ms

VOICES = {"assistant": "slt", "coffee": "rms"}
# flite's own guess at this word rhymes with "flat".
SPELLED = {"latte": "lottay"}
SILENT_BELOW = 200
MARGIN_MS = 30
PEAK = 16_000


def main() -> None:
    """Write every line of every conversation."""
    directory = Path(__file__).resolve().parents[2] / "voice" / "demo" / "recordings"
    for agent, lines in CONVERSATIONS.items():
        for line in lines:
            text = " ".join(SPELLED.get(word, word) for word in line.text.split())
            samples = trimmed(flite(text, VOICES[agent]))
            file = directory / f"{line.name}.flac"
            soundfile.write(file, samples, SAMPLE_RATE_HZ, subtype="PCM_16")
            print(f"{file.name}: {len(samples) / SAMPLE_RATE_HZ:.2f} s, {file.stat().st_size} B")


def trimmed(samples: Samples) -> Samples:
    """Cut leading and trailing silence and bring the loudest sample to `PEAK`."""
    loud = np.flatnonzero(np.abs(samples.astype(np.int32)) > SILENT_BELOW)
    margin = samples_of_ms(MARGIN_MS)
    kept = samples[max(0, loud[0] - margin) : loud[-1] + margin]
    scale = PEAK / np.abs(kept.astype(np.int32)).max()
    scaled: Samples = np.round(kept * scale).astype(np.int16)
    return scaled


if __name__ == "__main__":
    main()
