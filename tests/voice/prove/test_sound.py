"""How a caller sounds, with a voice of this machine."""

import numpy as np
import pytest

from voice.demo.client import RATE_HZ
from voice.errors import ConfigError
from voice.prove.scenario import Behaviour
from voice.prove.sound import SPEECH_DBFS, Speaker, level

ESPEAK = "espeak:en-us"


def speaker(**behaviour) -> Speaker:
    return Speaker(Behaviour(voice=ESPEAK, **behaviour), seed=1)


def dbfs(samples) -> float:
    return 20 * np.log10(level(samples) / 32768)


def silences_s(samples, least_s: float = 0.2) -> list[float]:
    """Lengths of the stretches of nothing, the shorter ones left out."""
    loud = np.flatnonzero(np.abs(samples.astype(int)) > 1)
    gaps = np.diff(loud) / RATE_HZ
    return [float(gap) for gap in gaps if gap > least_s]


def test_every_line_is_equally_loud_and_its_speech_is_known_to_the_sample():
    for text in ("set a timer", "what is twelve times seven"):
        said = speaker().say(text)
        assert dbfs(said.samples[said.start : said.end]) == pytest.approx(SPEECH_DBFS, abs=0.2)
        assert said.text == text
        # The voice may fade out, not always alike.
        assert len(said.samples) - said.end <= RATE_HZ // 20


def test_a_pause_is_as_long_as_it_is_written_and_a_spelled_word_has_gaps():
    [pause_s] = silences_s(speaker().say("five five [pause 700] one two").samples)
    assert pause_s == pytest.approx(0.7, abs=0.1)
    assert len(silences_s(speaker().say("[spell Ann]").samples, 0.15)) == 2


def test_hesitation_is_where_the_seed_says_and_not_in_short_lines():
    hesitating = speaker(hesitation_ms=600)
    said = hesitating.say("what is on my shopping list")
    assert max(silences_s(said.samples)) == pytest.approx(0.6, abs=0.1)
    assert np.array_equal(said.samples, hesitating.say("what is on my shopping list").samples)
    assert silences_s(hesitating.say("yes please").samples) == []


def test_a_line_of_silence_has_no_speech():
    said = speaker().say("[pause 500]")
    assert (said.text, said.end, len(said.samples)) == ("", 0, RATE_HZ // 2)
    said = speaker().say("…")
    assert (said.text, said.end, len(said.samples)) == ("…", 0, 0)


def test_noise_is_so_much_below_the_speech():
    for noise, snr_db in (("pink", 10), ("babble", 20)):
        background = speaker(noise=noise, noise_db=snr_db).background()
        assert dbfs(background) == pytest.approx(SPEECH_DBFS - snr_db, abs=0.5)


def test_a_telephone_carries_its_band_and_echo_goes_on_behind_the_words():
    over_a_line = speaker(telephone=True).say("yes please").samples
    power = np.abs(np.fft.rfft(over_a_line)) ** 2
    hz = np.fft.rfftfreq(len(over_a_line), 1 / RATE_HZ)
    assert power[(hz < 250) | (hz > 3600)].sum() < 0.02 * power.sum()
    echoing = speaker(reverb_s=0.5).say("yes please")
    assert len(echoing.samples) - echoing.end > 0.4 * RATE_HZ


def test_a_recording_is_played_in_place_of_the_words(tmp_path):
    soundfile = pytest.importorskip("soundfile")
    file = tmp_path / "yes.wav"
    tone = 8000 * np.sin(np.arange(8000) / 5)
    soundfile.write(file, tone.astype(np.int16), 16_000)
    said = Speaker(Behaviour(voice=ESPEAK), 1, {"yes": str(file)}).say("yes")
    assert (said.end - said.start) / RATE_HZ == pytest.approx(0.5, abs=0.03)


def test_what_is_not_there_is_told():
    with pytest.raises(ConfigError, match=r"expected one of .*espeak:en-us.* or flite:NAME"):
        Speaker(Behaviour(voice="hibari:nobody")).say("hello")
    with pytest.raises(ConfigError, match=r"nowhere\.wav: no sound"):
        Speaker(Behaviour(noise="nowhere.wav")).background()
