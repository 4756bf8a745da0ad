"""Guessed pronunciations of words that no dictionary has, by espeak-ng's letter-to-sound rules.

espeak-ng keeps its voice in process globals, and a synthesiser may be using it in this process, so
the rules run in a separate one. That is only needed when a language model is built.
"""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Sequence

_LOG = logging.getLogger(__name__)
_IPA = {
    "eɪ": "EY", "aɪ": "AY", "aʊ": "AW", "oʊ": "OW", "ɔɪ": "OY", "tʃ": "CH", "dʒ": "JH",
    "ɪɹ": "IH R", "ɛɹ": "EH R", "ʊɹ": "UH R", "ɑːɹ": "AA R", "ɔːɹ": "AO R", "oːɹ": "AO R",
    "iə": "IY AH", "aɪɚ": "AY ER", "aɪə": "AY AH", "juː": "Y UW",
    "iː": "IY", "uː": "UW", "ɑː": "AA", "ɔː": "AO", "ɜː": "ER", "i": "IY", "u": "UW", "ɪ": "IH",
    "ɛ": "EH", "æ": "AE", "ʌ": "AH", "ʊ": "UH", "ə": "AH", "ɐ": "AH", "ɚ": "ER", "ɑ": "AA",
    "ɔ": "AO", "a": "AA", "o": "OW", "e": "EY", "ᵻ": "IH",
    "p": "P", "b": "B", "t": "T", "d": "D", "k": "K", "ɡ": "G", "f": "F", "v": "V", "θ": "TH",
    "ð": "DH", "s": "S", "z": "Z", "ʃ": "SH", "ʒ": "ZH", "h": "HH", "m": "M", "n": "N",
    "ŋ": "NG", "l": "L", "ɹ": "R", "r": "R", "j": "Y", "w": "W", "ɾ": "T", "ʔ": "T", "x": "K",
    "n̩": "AH N", "əl": "AH L", "m̩": "AH M",
}  # fmt: skip
_LONGEST = max(map(len, _IPA))
_LONGEST_WAIT_S = 20.0
_IGNORED = "ˈˌː͡ \u0303"


def pronounce(words: Sequence[str]) -> dict[str, str]:
    """Guess how words sound.

    Args:
        words: Lower-case words.

    Returns:
        Word → ARPAbet phones separated by spaces; words that could not be guessed are left out.
    """
    if not words:
        return {}
    run = subprocess.run(
        [sys.executable, "-m", "voice.hearing.asr.espeak_phonemes"],
        input="\n".join(words),
        capture_output=True,
        encoding="utf-8",
        timeout=_LONGEST_WAIT_S,
        check=False,
    )
    if run.returncode:
        _LOG.warning("espeak-ng gave no pronunciations: %s", run.stderr.strip().split("\n")[-1])
        return {}
    guesses = zip(words, run.stdout.split("\n"), strict=False)
    return {word: phones for word, ipa in guesses if (phones := arpabet(ipa))}


def arpabet(ipa: str) -> str:
    """ARPAbet phones of a word in espeak-ng's IPA; "" if a sound is unknown."""
    phones = []
    start = 0
    while start < len(ipa):
        if ipa[start] in _IGNORED:
            start += 1
            continue
        for length in range(_LONGEST, 0, -1):
            piece = ipa[start : start + length]
            if len(piece) == length and piece in _IPA:
                phones.append(_IPA[piece])
                start += length
                break
        else:
            return ""
    return " ".join(phones)


def _main() -> None:
    import ctypes

    import espeakng_loader

    library = ctypes.cdll.LoadLibrary(espeakng_loader.get_library_path())
    retrieve_only, utf8, ipa = 1, 1, 2
    if library.espeak_Initialize(retrieve_only, 0, espeakng_loader.get_data_path().encode(), 0) < 0:
        raise SystemExit("espeak_Initialize failed")
    library.espeak_SetVoiceByName(b"en-us")
    library.espeak_TextToPhonemes.restype = ctypes.c_char_p
    lines = []
    for word in sys.stdin.read().split("\n"):
        text = ctypes.c_char_p(word.encode())
        spoken = library.espeak_TextToPhonemes(ctypes.byref(text), utf8, ipa)
        lines.append((spoken or b"").decode().replace("\n", " "))
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    sys.stdout.write("\n".join(lines))


if __name__ == "__main__":
    _main()
