import math
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from tests.support.patience import PATIENCE_S
from voice.errors import DeviceError
from voice.local.sound_card import SoundCard, list_devices

pytest.importorskip("sounddevice", reason="the extra 'local' is not installed", exc_type=OSError)


def test_a_broken_sound_system_is_told_in_one_line(tmp_path):
    broken = tmp_path / "asound.conf"
    broken.write_text("<confdir:nothing>")
    code = (
        "import sys; from voice.errors import DeviceError\n"
        "from voice.local.sound_card import SoundCard\n"
        "try: SoundCard('', '')\n"
        "except DeviceError as error: sys.exit(str(error))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "ALSA_CONFIG_PATH": str(broken)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert ran.returncode == 1
    assert ran.stderr.startswith("PortAudio does not start: ")
    assert ran.stderr.count("\n") == 1


def test_a_missing_sounddevice_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    with pytest.raises(DeviceError, match=r"-e '\.\[local\]'"):
        list_devices()


def test_a_missing_portaudio_names_the_package(monkeypatch, tmp_path):
    (tmp_path / "sounddevice.py").write_text("raise OSError('PortAudio library not found')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "sounddevice", raising=False)
    with pytest.raises(DeviceError, match="libportaudio2"):
        SoundCard("", "")


class PortAudioError(Exception):
    pass


class Stream:
    """What sounddevice's streams look like from outside; blocks are moved by hand."""

    latency = 0.04
    time = 7.0

    def __init__(self, **settings):
        self.settings = settings
        self.running = False

    def start(self):
        self.running = True

    def close(self):
        self.running = False


class NoDevices:
    """PortAudio on a machine without a sound card."""

    PortAudioError = PortAudioError

    def query_devices(self, device=None, kind=None):
        if kind is None:
            return ()
        if device is not None:
            raise ValueError("No input device matching 'usb'")
        raise PortAudioError("Error querying device -1")


@pytest.mark.parametrize(
    ("action", "told"),
    [
        (list_devices, "there is no sound device on this machine"),
        (lambda: SoundCard("", ""), "there is no microphone; python -m voice.local --list-devices"),
        (lambda: SoundCard("usb", ""), "no microphone matches 'usb'; python -m voice.local --list"),
    ],
)
def test_a_machine_without_devices_is_told_what_is_missing(monkeypatch, action, told):
    monkeypatch.setitem(sys.modules, "sounddevice", NoDevices())
    with pytest.raises(DeviceError, match=told):
        action()


class TwoAlike(NoDevices):
    """Two devices of one name, of which sounddevice then wants a number."""

    def query_devices(self, device=None, kind=None):
        lines = (f"Multiple {kind} devices found for 'usb':", "[4] USB Audio, ALSA", "[6] USB Mic")
        raise ValueError("\n".join(lines))


def test_a_name_of_several_devices_is_told_which(monkeypatch):
    monkeypatch.setitem(sys.modules, "sounddevice", TwoAlike())
    told = r"'usb' matches more than one microphone: \[4\] USB Audio, ALSA; \[6\] USB Mic; python"
    with pytest.raises(DeviceError, match=told):
        SoundCard("usb", "")


@pytest.mark.parametrize("device", ["²", "100000000000000"])
def test_what_looks_like_a_number_and_is_no_device_is_told(device):
    with pytest.raises(DeviceError, match=f"no microphone matches '{device}'"):
        SoundCard(device, "")


class StereoOnlyPortAudio:
    """A sound card that does 48 kHz stereo and nothing else."""

    PortAudioError = PortAudioError

    def __init__(self):
        self.streams = []

    def query_devices(self, device=None, kind=None):
        return {"index": 3, "name": "card", "default_samplerate": 48_000.0}

    def _check(self, device, samplerate, channels, dtype):
        if (samplerate, channels) != (48_000, 2):
            raise PortAudioError("no")

    check_input_settings = check_output_settings = _check

    def _stream(self, **settings):
        self.streams.append(Stream(**settings))
        return self.streams[-1]

    InputStream = OutputStream = _stream


class Times:
    currentTime = 5.0
    outputBufferDacTime = 0.0
    inputBufferAdcTime = 0.0


@pytest.fixture
def portaudio(monkeypatch) -> StereoOnlyPortAudio:
    installed = StereoOnlyPortAudio()
    monkeypatch.setitem(sys.modules, "sounddevice", installed)
    return installed


def flags(*names):
    known = ("input_overflow", "input_underflow", "output_overflow", "output_underflow")
    return SimpleNamespace(**{name: name in names for name in known})


def test_a_card_that_only_does_stereo_at_its_own_rate_is_used_as_it_is(portaudio):
    card = SoundCard("", "3")
    assert card.input_rate_hz == card.queue.rate_hz == 48_000
    heard = []
    with card.running(lambda samples, captured_s: heard.append((samples, captured_s))):
        microphone, loudspeaker = portaudio.streams
        assert microphone.running and loudspeaker.running
        assert microphone.settings["blocksize"] == 960
        block = np.array([[1, 9], [2, 9]], np.int16)
        microphone.settings["callback"](block, 2, Times, flags())
        block[:] = 0
        assert heard[0][0].tolist() == [1, 2]
        # Without an ADC time the moment of its arrival says when a block was captured.
        assert heard[0][1] == 5.0
        card.queue.push("a", np.array([5, 6, 7], np.int16))
        out = np.full((4, 2), 99, np.int16)
        loudspeaker.settings["callback"](out, 4, Times, flags())
        assert out.tolist() == [[5, 5], [6, 6], [7, 7], [0, 0]]
        # Without a DAC time the stream's latency says when a block sounds.
        assert card.queue.silent_from_s(0.0) == pytest.approx(5.04 + 3 / 48_000)
        assert card.now_s == 7.0
    assert not microphone.running and not loudspeaker.running


def test_a_block_that_comes_late_tells_when_it_was_captured(portaudio):
    card = SoundCard("", "")
    captured = []
    with card.running(lambda _, captured_s: captured.append(captured_s)):
        late = SimpleNamespace(currentTime=5.0, inputBufferAdcTime=4.2)
        portaudio.streams[0].settings["callback"](np.zeros((2, 2), np.int16), 2, late, flags())
    assert captured == [4.2]


@pytest.mark.parametrize(
    ("stream", "told", "dropout_s"),
    [
        (0, "input_overflow", 5.0),
        (0, "input_underflow", -math.inf),
        (1, "output_underflow", 5.0),
        (1, "output_overflow", -math.inf),
    ],
)
def test_a_dropout_is_noted(portaudio, stream, told, dropout_s):
    card = SoundCard("", "")
    callback = portaudio.streams[stream].settings["callback"]
    block = np.zeros((2, 2), np.int16)
    callback(block, 2, Times, flags())
    assert card.dropout_s == -math.inf
    callback(block, 2, Times, flags(told))
    assert card.dropout_s == dropout_s


def test_a_card_that_does_nothing_usable_is_refused(monkeypatch, portaudio):
    old = {"index": 0, "name": "old card", "default_samplerate": 11_025.0}
    monkeypatch.setattr(portaudio, "query_devices", lambda *_: old)
    with pytest.raises(DeviceError, match="'old card' takes neither mono nor stereo"):
        SoundCard("", "")


def test_a_device_that_fails_while_it_runs_is_a_device_error(monkeypatch, portaudio):
    card = SoundCard("", "")
    monkeypatch.setattr(portaudio.streams[0], "start", _unplugged)
    with pytest.raises(DeviceError, match="unplugged"), card.running(lambda _: None):
        pass
    assert not portaudio.streams[1].running


def test_a_device_that_stops_by_itself_is_told_and_one_that_is_closed_is_not(portaudio):
    card = SoundCard("", "")
    lost = []
    microphone, loudspeaker = portaudio.streams
    with card.running(lambda *_: None, lost=lambda: lost.append("lost")):
        loudspeaker.settings["finished_callback"]()
        assert lost == ["lost"]
    microphone.settings["finished_callback"]()
    assert lost == ["lost"]


def _unplugged():
    raise PortAudioError("unplugged")
