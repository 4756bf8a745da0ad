"""Microphone and loudspeaker through PortAudio.

PortAudio is loaded when a device is first used. Its callbacks run on its own threads, and may be
late when the machine is busy.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np

from voice.errors import DeviceError, to_install
from voice.local.playback_queue import PlaybackQueue
from voice.types import SAMPLE_RATE_HZ, Samples

OUTPUT_RATE_HZ = 24_000
BLOCK_MS = 20
LATENCY_S = 0.05
"""Requested of both devices: enough for callbacks in Python, and short for a conversation."""

Kind = Literal["input", "output"]
Hear = Callable[[Samples, float], None]
"""Takes a (T,) int16 block of the microphone and when it began, on the card's clock."""


def list_devices() -> str:
    """A line per device: number, name, channels; ``>`` marks the default input, ``<`` the output.

    Raises:
        DeviceError: PortAudio is missing, or there is no device at all.
    """
    devices = _portaudio().query_devices()
    if not len(devices):
        raise DeviceError("there is no sound device on this machine")
    return str(devices)


class SoundCard:
    """A microphone and a loudspeaker, opened but not yet running.

    Args:
        input_device: Name, part of a name, or number; empty means the default.
        output_device: Likewise.

    Raises:
        DeviceError: PortAudio or a device is missing, or a device cannot do mono or stereo int16.

    Attributes:
        dropout_s: When the loudspeaker last ran dry or the microphone overflowed, on the card's
            clock; -inf if that has not happened.
    """

    def __init__(self, input_device: str, output_device: str) -> None:
        sounddevice = _portaudio()
        self._failure: type[Exception] = sounddevice.PortAudioError
        self._hear: Hear = _ignore
        self._played: Callable[[Samples], None] = _ignore
        self._lost: Callable[[], None] = _ignore
        self.dropout_s = -math.inf
        microphone = _settings(sounddevice, "input", input_device, SAMPLE_RATE_HZ)
        loudspeaker = _settings(sounddevice, "output", output_device, OUTPUT_RATE_HZ)
        self.input_rate_hz: int = microphone["samplerate"]
        self.queue = PlaybackQueue(loudspeaker["samplerate"])
        block = self.input_rate_hz * BLOCK_MS // 1000
        try:
            self._input = sounddevice.InputStream(
                **microphone, blocksize=block, callback=self._take, finished_callback=self._stop
            )
            self._output = sounddevice.OutputStream(
                **loudspeaker, callback=self._give, finished_callback=self._stop
            )
        except self._failure as error:
            raise DeviceError(f"the sound device cannot be opened: {error}") from error

    @property
    def echo_delay_s(self) -> float:
        """Rough time from handing a sample to the loudspeaker to capturing it."""
        return float(self._output.latency) + float(self._input.latency)

    @contextmanager
    def running(
        self,
        hear: Hear,
        played: Callable[[Samples], None] | None = None,
        lost: Callable[[], None] | None = None,
    ) -> Generator[None, None, None]:
        """Run both devices during a ``with`` block, then close them and drop what is queued.

        Args:
            hear: Called on PortAudio's thread with each block of the microphone.
            played: Called on another PortAudio thread with each block for the loudspeaker.
            lost: Called on one of those threads for each device that stops by itself.

        Raises:
            DeviceError: A device does not start.
        """
        self._hear, self._played, self._lost = hear, played or _ignore, lost or _ignore
        try:
            self._output.start()
            self._input.start()
            yield
        except self._failure as error:
            raise DeviceError(f"the sound device failed: {error}") from error
        finally:
            # Closing a device stops it as well.
            self._lost = _ignore
            self._input.close()
            self._output.close()

    @property
    def now_s(self) -> float:
        """The card's clock, as `PlaybackQueue` needs it."""
        return float(self._output.time)

    def _stop(self) -> None:
        self._lost()

    def _take(self, block: Any, count: int, times: Any, status: Any) -> None:
        del count
        now_s = float(times.currentTime)
        if status.input_overflow:
            self.dropout_s = now_s
        # Some host APIs do not report the ADC time.
        self._hear(block[:, 0].copy(), float(times.inputBufferAdcTime) or now_s)

    def _give(self, block: Any, count: int, times: Any, status: Any) -> None:
        if status.output_underflow:
            self.dropout_s = float(times.currentTime)
        # Some host APIs do not report the DAC time; the stream's latency is then the best estimate.
        delay_s = times.outputBufferDacTime - times.currentTime
        if delay_s <= 0:
            delay_s = float(self._output.latency)
        samples = self.queue.pull(count, times.currentTime + delay_s)
        block[:] = samples[:, np.newaxis]
        self._played(samples)


def _ignore(*arguments: object) -> None:
    del arguments


def _settings(sounddevice: Any, kind: Kind, device: str, wanted_hz: int) -> dict[str, Any]:
    name = int(device) if device.isdecimal() else device or None
    role = "microphone" if kind == "input" else "loudspeaker"
    try:
        with _silenced():
            found = sounddevice.query_devices(name, kind)
    except (sounddevice.PortAudioError, ValueError, OverflowError) as error:
        # If several match, the first line says so, and each other line names one.
        if matches := str(error).splitlines()[1:]:
            asked = f"{device!r} matches more than one {role}: {'; '.join(matches)}"
        else:
            asked = f"no {role} matches {device!r}" if device else f"there is no {role}"
        shown = "python -m voice.local --list-devices shows what there is"
        raise DeviceError(f"{asked}; {shown}") from error
    check = getattr(sounddevice, f"check_{kind}_settings")
    for rate_hz in (wanted_hz, int(found["default_samplerate"])):
        for channels in (1, 2):
            settings = {
                "device": found["index"],
                "samplerate": rate_hz,
                "channels": channels,
                "dtype": "int16",
            }
            try:
                with _silenced():
                    check(**settings)
            except sounddevice.PortAudioError:
                continue
            return {**settings, "latency": LATENCY_S}
    raise DeviceError(f"the {role} {found['name']!r} takes neither mono nor stereo 16-bit audio")


def _portaudio() -> Any:
    try:
        with _silenced():
            import sounddevice
    except ModuleNotFoundError as error:
        raise DeviceError(f"sounddevice is not installed: {to_install('local')}") from error
    except OSError as error:
        raise DeviceError(
            "PortAudio is not installed: apt install libportaudio2 (Debian), brew install portaudio"
        ) from error
    except Exception as error:
        # PortAudioError cannot be named, because the module that defines it failed to load.
        raise DeviceError(f"PortAudio does not start: {error}") from error
    return sounddevice


@contextmanager
def _silenced() -> Generator[None, None, None]:
    """Keep C libraries off standard error: ALSA prints a page for each device it does not find."""
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
