"""The voices of this machine: ``python -m voice.voices [NAME [--text TEXT] --out FILE]``.

Without a name it lists them; with one it writes what that voice says to a file, whose ending names
the format: .wav, .mp3, .opus, .aac or .flac.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from voice.config import load_config
from voice.errors import ConfigError, VoiceError
from voice.speech.audio_files import write_file
from voice.speech.normalization import spoken
from voice.speech.tts import Synthesizer, installed_voices
from voice.types import Segment

SAMPLE = "Hello, this is how I sound. Your table is booked for seven thirty."


def write_sample(voice: Synthesizer, text: str, path: Path) -> None:
    """Write a text, as the voice speaks it, to a file."""
    chunks = voice.synthesize(Segment(0, 0, text, spoken(text)))
    samples = np.concatenate([chunk.samples for chunk in chunks])
    write_file(path, samples, voice.sample_rate_hz)


def run(arguments: Sequence[str] | None = None) -> None:
    """List the voices, or write what one says to a file.

    Raises:
        VoiceError: The configuration is wrong, there is no such voice, or it cannot be loaded.
    """
    parser = argparse.ArgumentParser(prog="python -m voice.voices", description=__doc__)
    parser.add_argument("name", nargs="?", help="a voice, with its engine or without")
    parser.add_argument("--text", help="what it says")
    parser.add_argument("--out", type=Path, help="the file, else voice.wav")
    parser.add_argument("--config", help="TOML file, or the name of one in configs/")
    options = parser.parse_args(arguments)
    if options.name is None and (options.text or options.out):
        parser.error("--text and --out: expected the name of a voice as well")
    voices = installed_voices(load_config(options.config).tts)
    if options.name is None:
        print("\n".join(voices.names))
        return
    voice = voices.of(options.name)
    if voice is None:
        raise ConfigError(f"got {options.name!r}; expected one of {', '.join(voices.names)}")
    out = options.out or Path("voice.wav")
    write_sample(voice, options.text or SAMPLE, out)
    print(f"{voice.name} speaks in {out}")


def main() -> int:
    """Run the command line; returns the exit status."""
    try:
        run()
    except VoiceError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
