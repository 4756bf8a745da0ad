"""Whisper through faster-whisper, as a stream.

Whisper hears a whole window at once, so interim transcripts come from decoding the growing window
again and again; words count as recognised once two decodes in a row agree on them. Decoding is done
here and not by ``WhisperModel.transcribe``, which always pads to 30 s; here the encoder's context
is as short as the weights allow (`Needs`). Each window is decoded once, at temperature 0, without
the preceding text as a prompt.

Sources: Radford et al. 2022 (thresholds); Macháček et al. 2023, "Turning Whisper into Real-Time
Transcription System" (agreement of successive hypotheses).
"""

from __future__ import annotations

import json
import math
import os
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache, partial
from itertools import takewhile
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from dlm.loading.hub import reach
from voice.config import WhisperConfig
from voice.errors import ModelError
from voice.hearing.asr.domain import ANYTHING, Domain
from voice.hearing.asr.packaged import PACKAGED, read_packaged
from voice.hearing.asr.pronunciation import Pronunciation
from voice.hearing.asr.repair import Repair, Token
from voice.hearing.asr.transcribed import Transcribed, Word
from voice.hearing.asr.turn_audio import TurnAudio
from voice.hearing.asr.word_times import word_times
from voice.hearing.spoken_form import in_figures, spoken_form
from voice.types import SAMPLE_RATE_HZ, AudioFrame, SaidWord, Samples, Transcript, samples_of_ms

_LONGEST_WINDOW_S = 30.0
_WINDOW_STEP_S = 0.5
_QUIET_MS = 200
"""A long recording is cut in the middle of its quietest part of this length. No piece is then
shorter than a word; Whisper invents words for less."""
_FRAMES_PER_S = 100
_MAX_NEW_TOKENS = 160
_TOKENS_PER_S = 8
"""Faster than anybody speaks; stops a decoder that repeats itself."""
_LEAST_PROBABILITY = 1e-10
_SHARE_OF_TIME = 0.35
"""Interim decodes take at most this share of real time."""
_DECODES_AT_ONCE = 2
"""As many as there are recognition threads in `voice.session.resources`."""
_SURE_OF_LANGUAGE = 0.5
"""A language that is less probable than this is taken to be English."""
_DOMAINS = 16
"""Domains kept in memory; a session whose client declares tools has one of its own."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """The text of some audio.

    Attributes:
        confidence: Mean probability of its tokens, in [0, 1].
        language: Code of its language.
        language_confidence: How sure the language is, in [0, 1]; 1 if it was given.
        find_words: Tells when each word was said. Slow; may be called from any thread; may raise
            `ModelError`.
        tokens: The tokens as they were decoded, before numbers became figures.
    """

    text: str
    confidence: float
    language: str = "en"
    language_confidence: float = 1.0
    find_words: Callable[[], tuple[Word, ...]] = field(default=tuple, compare=False, repr=False)
    tokens: tuple[int, ...] = ()

    def transcribed(self, times: bool = False) -> Transcribed:
        """The same for a recording, with the times of the words if they are wanted."""
        words = self.find_words() if times else ()
        return Transcribed(self.text, self.language, words, self.confidence, self.tokens)


@dataclass(frozen=True, slots=True)
class Needs:
    """What weights need in order not to lose or repeat words.

    Attributes:
        shortest_s: The shortest encoder context; audio fills its beginning.
        silence_s: How much silence has to follow the audio.
        repetition_penalty: Keeps the decoder from repeating a word for ever in a context shorter
            than the weights were trained with.
        longest_s: Longer audio is decoded in pieces.
    """

    shortest_s: float
    silence_s: float
    repetition_penalty: float
    longest_s: float = _LONGEST_WINDOW_S

    def window_s(self, seconds: float) -> float:
        """Length of the encoder's context for this much audio, in seconds."""
        steps = math.ceil(round((seconds + self.silence_s) / _WINDOW_STEP_S, 6))
        return max(seconds, min(_LONGEST_WINDOW_S, max(self.shortest_s, steps * _WINDOW_STEP_S)))

    def pieces(self, audio: Samples) -> list[Samples]:
        """The audio in pieces of at most `longest_s`, cut where it is quietest."""
        longest, quiet = samples_of_ms(self.longest_s * 1000), samples_of_ms(_QUIET_MS)
        found, rest = [], audio
        while len(rest) > longest:
            second_half = rest[longest // 2 : longest].astype(np.float64)
            power = np.convolve(second_half**2, np.ones(quiet), "valid")
            place = longest // 2 + int(power.argmin()) + quiet // 2
            found.append(rest[:place])
            rest = rest[place:]
        return [*found, rest] if len(rest) else found


STOCK = Needs(shortest_s=8.0, silence_s=1.0, repetition_penalty=1.1)
"""Needs of weights that were trained with 30 s; measured with tiny.en (docs/LOG.md)."""
SHORT = Needs(shortest_s=1.0, silence_s=0.2, repetition_penalty=1.0, longest_s=10.0)
"""Needs of weights fine-tuned by `voice.finetune`, which were trained on nothing longer. The
silence tells them that nothing follows; with less they may write a text twice (docs/LOG.md)."""


class WhisperRecognizer:
    """A loaded Whisper model, shared by all sessions.

    Attributes:
        decode_s: Seconds to decode a second of silence, the faster of two runs.

    Raises:
        ModelError: The model cannot be found, loaded or used.
    """

    name = "whisper"
    tells_times = True

    def __init__(self, config: WhisperConfig) -> None:
        self.config = config
        files = read_packaged(config.model) if config.model in PACKAGED else None
        self._model = _load(config, files)
        self._needs = _needs(config, files)
        self._pronunciation = cache(Pronunciation)
        self._repair = lru_cache(_DOMAINS)(self._repair_of)
        try:
            # Some missing files or CUDA libraries are noticed only at the first decode.
            self.decode_s = min(self.timed_s() for _ in range(2))
        except ModelError as error:
            raise ModelError(f"whisper {config.model} cannot be used: {error}") from error

    def timed_s(self) -> float:
        """Seconds that it takes now to decode a second of silence."""
        began = time.perf_counter()
        self.decode(np.zeros(SAMPLE_RATE_HZ, np.int16), beam_size=1)
        return time.perf_counter() - began

    def open(self, turn_id: int, domain: Domain = ANYTHING) -> WhisperStream[Repair]:
        """Begin the recognition of a turn; may be called from any thread.

        Raises:
            ModelError: The dictionary or weights that pronounce the domain's names are missing or
                not the expected ones.
        """
        return WhisperStream(self, turn_id, self.repair(domain), domain.language)

    def transcribe(self, audio: Samples, language: str = "", times: bool = False) -> Transcribed:
        """See `Recognizer.transcribe`."""
        found = self.decode(audio, self.config.beam_size, None, language)
        return found.transcribed(times)

    def translate(self, audio: Samples, language: str = "") -> Transcribed:
        """See `Recognizer.translate`."""
        found = self.decode(audio, self.config.beam_size, None, language, translate=True)
        return replace(found.transcribed(), language="en")

    @property
    def translates(self) -> bool:
        """See `Recognizer`; only multilingual weights can translate."""
        return bool(self._model.model.is_multilingual)

    @property
    def languages(self) -> tuple[str, ...]:
        """See `Recognizer`."""
        return tuple(self._model.supported_languages)

    def repair(self, domain: Domain) -> Repair | None:
        """The repair of a domain's transcripts; slow the first time. Raises what `open` raises."""
        return self._repair(replace(domain, language="")) if domain.names else None

    def _repair_of(self, domain: Domain) -> Repair:
        return Repair(domain, self._pronunciation(), self._is_ordinary)

    def _is_ordinary(self, word: str) -> bool:
        """Whether the word is so common that it is a single token."""
        return len(self._model.hf_tokenizer.encode(f" {word}", add_special_tokens=False)) == 1

    def decode(
        self,
        audio: Samples,
        beam_size: int,
        repair: Repair | None = None,
        language: str = "",
        translate: bool = False,
    ) -> Decoded:
        """Recognise (T,) int16 samples at 16 kHz, in as many pieces as the weights need.

        Args:
            audio: The samples.
            beam_size: 1 is greedy.
            repair: Replaces words by names of the domain that sound like them.
            language: Code of the language; empty takes the configuration's, or detects it.
            translate: Whether to translate the text into English.

        Raises:
            ModelError: CTranslate2 failed, or the model's probabilities are NaN.
        """
        heard: dict[float, Decoded] = {}
        offset_s = 0.0
        with _failures():
            for piece in self._needs.pieces(audio):
                part = self._decode_window(piece, beam_size, repair, language, translate)
                if part.text:
                    heard[offset_s] = part
                offset_s += len(piece) / SAMPLE_RATE_HZ
        if not heard:
            return Decoded("", 0.0)
        longest = max(heard.values(), key=lambda part: len(part.text))
        return Decoded(
            " ".join(part.text for part in heard.values()),
            min(part.confidence for part in heard.values()),
            longest.language,
            longest.language_confidence,
            partial(_words_of, heard),
            tuple(token for part in heard.values() for token in part.tokens),
        )

    def _decode_window(
        self,
        audio: Samples,
        beam_size: int,
        repair: Repair | None,
        language: str,
        translate: bool,
    ) -> Decoded:
        seconds = len(audio) / SAMPLE_RATE_HZ
        encoded = self._model.encode(self._features(audio))
        language, sure = self._language(encoded, language)
        tokenizer = self._tokenizer(language, "translate" if translate else "transcribe")
        prompt = self._model.get_prompt(tokenizer, [], without_timestamps=True)
        room = min(_MAX_NEW_TOKENS, 12 + round(seconds * _TOKENS_PER_S))
        result = self._model.model.generate(
            encoded,
            [prompt],
            beam_size=beam_size,
            num_hypotheses=1 if repair is None else beam_size,
            repetition_penalty=self._needs.repetition_penalty,
            max_length=min(len(prompt) + room, self._model.max_length),
            return_scores=True,
            return_no_speech_prob=True,
            suppress_tokens=self._suppressed(tokenizer),
        )[0]
        tokens = result.sequences_ids[0]
        if math.isnan(result.scores[0]):
            raise ModelError("whisper failed: got words of the probability nan, expected a number")
        # The score is a mean over the tokens without the end token; this one includes it.
        log_probability = result.scores[0] * len(tokens) / (len(tokens) + 1)
        text = tokenizer.decode(tokens).strip()
        if not self._credible(text, log_probability, result.no_speech_prob):
            return Decoded("", 0.0)
        if tokenizer.language_code == "en" or translate:
            if repair is not None:
                wordings = [
                    (tokenizer.decode(found).strip(), score * len(found))
                    for found, score in zip(result.sequences_ids, result.scores, strict=True)
                ]
                judge = partial(self._judge, encoded, tokenizer)
                text = repair(repair.likeliest(wordings), judge)
            text = in_figures(text)
        words = partial(word_times, self._model.model, tokenizer, encoded, text, seconds)
        confidence = math.exp(min(0.0, log_probability))
        return Decoded(text, confidence, language, sure, words, tuple(tokens))

    def _judge(self, encoded: Any, tokenizer: Any, text: str) -> list[Token]:
        """Where each token of a text ends, and its log probability given the sound."""
        tokens = self._model.hf_tokenizer.encode(f" {text}", add_special_tokens=False)
        frames = encoded.shape[1]
        sequence = list(tokenizer.sot_sequence)
        judged = self._model.model.align(encoded, sequence, [tokens.ids], frames)[0]
        return [
            (end - 1, math.log(max(probability, _LEAST_PROBABILITY)))
            for (_, end), probability in zip(tokens.offsets, judged.text_token_probs, strict=True)
        ]

    def _features(self, audio: Samples) -> NDArray[np.float32]:
        """Log-mel features (mels, frames) of the audio, padded to the encoder's context."""
        seconds = self._needs.window_s(len(audio) / SAMPLE_RATE_HZ)
        wanted = round(seconds * SAMPLE_RATE_HZ)
        padded = np.pad(audio.astype(np.float32) / 32768, (0, wanted - len(audio)))
        features: NDArray[np.float32] = self._model.feature_extractor(padded)
        # Even, because the encoder halves the frame rate.
        frames = min(wanted * _FRAMES_PER_S // SAMPLE_RATE_HZ, features.shape[-1]) // 2 * 2
        return np.ascontiguousarray(features[:, :frames])

    def _language(self, encoded: Any, wanted: str) -> tuple[str, float]:
        """The language of a window, and how sure it is; English if in doubt."""
        if not self._model.model.is_multilingual:
            return "en", 1.0
        if wanted or self.config.language:
            return wanted or self.config.language, 1.0
        likely = [(token[2:-2], p) for token, p in self._model.model.detect_language(encoded)[0]]
        if likely[0][1] < _SURE_OF_LANGUAGE:
            return "en", dict(likely)["en"]
        return likely[0]

    def _tokenizer(self, language: str, task: str) -> Any:
        from faster_whisper.tokenizer import Tokenizer

        multilingual = self._model.model.is_multilingual
        return Tokenizer(self._model.hf_tokenizer, multilingual, task=task, language=language)

    def _suppressed(self, tokenizer: Any) -> list[int]:
        from faster_whisper.transcribe import get_suppressed_tokens

        found = get_suppressed_tokens(tokenizer, [-1])
        return [token for token in found if token is not None]

    def _credible(self, text: str, log_probability: float, no_speech: float) -> bool:
        """Whether the text is speech, and not something Whisper made up from silence or noise."""
        config = self.config
        if not text or log_probability < config.log_prob_threshold:
            return False
        unsure = log_probability < config.log_prob_threshold / 2
        if no_speech > config.no_speech_threshold and unsure:
            return False
        data = text.encode()
        return len(data) / len(zlib.compress(data)) <= config.compression_ratio_threshold


_Repairs = TypeVar("_Repairs", contravariant=True)


class Decoder(Protocol[_Repairs]):
    """Decodes for a `WhisperStream`; the type parameter is what `decode` takes as its repair."""

    @property
    def config(self) -> WhisperConfig:
        """Its settings."""
        ...

    def decode(
        self,
        audio: Samples,
        beam_size: int,
        repair: _Repairs | None = None,
        language: str = "",
    ) -> Decoded:
        """See `WhisperRecognizer.decode`."""
        ...


class WhisperStream(Generic[_Repairs]):
    """Recognition of one turn."""

    def __init__(
        self,
        recognizer: Decoder[_Repairs],
        turn_id: int,
        repair: _Repairs | None = None,
        language: str = "",
    ) -> None:
        self._recognizer = recognizer
        self._repair = repair
        self._language = language
        self._turn_id = turn_id
        self._audio = TurnAudio()
        self._next_interim = samples_of_ms(recognizer.config.interim_ms)
        self._hypothesis: list[str] = []
        self._interim_text = ""
        self._final: Decoded | None = None

    def accept(self, frame: AudioFrame) -> None:
        """Take the next frame."""
        self._audio.append(frame)
        self._final = None

    def interim(self, fell_silent: bool = False) -> Transcript | None:
        """Decode what has been accepted, if due; return words that two decodes agree on, if new.

        When speech falls silent a decode is due at once, with the beam size of a final one. If
        nothing more is said it serves as the final decode, and has overlapped the silence that ends
        the turn.

        Raises:
            ModelError: CTranslate2 failed.
        """
        if fell_silent and self._final is None:
            self._final = self._decode(self._recognizer.config.beam_size)
            return self._agree(self._final)
        if self._final is not None or self._audio.length < self._next_interim:
            return None
        return self._agree(self._decode(beam_size=1))

    def finish(self) -> Transcript:
        """Decode what has been accepted, unless already done, and return the final transcript.

        More frames may be accepted afterwards and `finish` called again.

        Raises:
            ModelError: CTranslate2 failed.
        """
        if self._final is None:
            self._final = self._decode(self._recognizer.config.beam_size)
        first = self._audio.end_sample - self._audio.length
        return Transcript(
            self._turn_id,
            _said(self._final),
            True,
            self._final.confidence,
            self._audio.end_sample,
            written=self._final.text,
            language=self._final.language,
            language_confidence=self._final.language_confidence,
            find_words=partial(_said_words, self._final, first),
        )

    def _decode(self, beam_size: int) -> Decoded:
        # The only clock read here: with slow decodes the stream would fall ever further behind.
        started = time.perf_counter()
        decoded = self._recognizer.decode(
            self._audio.samples(), beam_size, self._repair, self._language
        )
        spent_ms = (time.perf_counter() - started) * 1000
        wait_ms = max(self._recognizer.config.interim_ms, spent_ms / _SHARE_OF_TIME)
        self._next_interim = self._audio.length + samples_of_ms(wait_ms)
        return decoded

    def _agree(self, decoded: Decoded) -> Transcript | None:
        words = decoded.text.split()
        text = " ".join(words[: agreed(self._hypothesis, words)])
        self._hypothesis = words
        if not text or text == self._interim_text:
            return None
        self._interim_text = text
        return Transcript(
            self._turn_id,
            _said(replace(decoded, text=text)),
            False,
            decoded.confidence,
            self._audio.end_sample,
            written=text,
        )


def _words_of(heard: Mapping[float, Decoded]) -> tuple[Word, ...]:
    """The words of windows, which are keyed by where they begin, in seconds."""
    with _failures():
        return tuple(w.later(at_s) for at_s, part in heard.items() for w in part.find_words())


def _said_words(decoded: Decoded, first: int) -> tuple[SaidWord, ...]:
    """The words of a turn whose audio begins at sample ``first`` of the session's."""
    return tuple(word.said(first) for word in decoded.find_words())


@contextmanager
def _failures() -> Iterator[None]:
    """Turn an error that CTranslate2 raises into a `ModelError`."""
    try:
        yield
    except RuntimeError as error:
        raise ModelError(f"whisper failed: {error}") from error


def _said(decoded: Decoded) -> str:
    """The spoken form of a text if it is English; other languages are left as written."""
    return spoken_form(decoded.text) if decoded.language == "en" else decoded.text


def agreed(before: Sequence[str], now: Sequence[str]) -> int:
    """How many leading words two hypotheses share, case and punctuation aside."""
    pairs = zip(before, now, strict=False)
    return sum(1 for _ in takewhile(lambda pair: _bare(pair[0]) == _bare(pair[1]), pairs))


def _bare(word: str) -> str:
    return "".join(letter for letter in word.lower() if letter.isalnum())


def _needs(config: WhisperConfig, files: Mapping[str, bytes] | None) -> Needs:
    """The weights' needs, from the `window_s` of their config.json and the configuration."""
    file = Path(config.model).expanduser() / "config.json"
    if files is not None:
        said = json.loads(files["config.json"])
    else:
        said = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    if "window_s" not in said:
        return replace(STOCK, shortest_s=config.window_s or STOCK.shortest_s)
    shortest_s = said["window_s"]
    if not isinstance(shortest_s, int | float) or not 0 < shortest_s <= _LONGEST_WINDOW_S:
        raise ModelError(f"{file}: got window_s {shortest_s!r}; expected 0 < window_s <= 30")
    return replace(SHORT, shortest_s=config.window_s or shortest_s)


def _load(config: WhisperConfig, files: Mapping[str, bytes] | None) -> Any:
    import ctranslate2
    from faster_whisper import WhisperModel
    from threadpoolctl import threadpool_limits

    # numpy computes the features. Its other threads would spin on cores that are needed elsewhere,
    # and make the features cost five times as much.
    threadpool_limits(1, "blas")
    device = config.device
    if device == "auto":
        device = "cuda" if ctranslate2.get_cuda_device_count() else "cpu"
    compute_type = config.compute_type
    if compute_type == "auto":
        compute_type = "float16" if device == "cuda" else "int8"
    # Otherwise faster-whisper would ask the hub for what the folder lacks.
    folder = Path(config.model).expanduser()
    if files is None and folder.is_dir() and not (folder / "tokenizer.json").is_file():
        raise ModelError(f"whisper {config.model} cannot be loaded: it has no tokenizer.json")
    # The threads of a decode wait for one another at every matrix product. With more threads than
    # free cores, a decode of tens of milliseconds may take seconds.
    threads = max(1, min(4, (os.cpu_count() or 1) // _DECODES_AT_ONCE))
    try:
        here = files is not None or folder.is_dir()
        place = str(folder) if here else _from_hub(config.model)
        return WhisperModel(
            place,
            device=device,
            compute_type=compute_type,
            cpu_threads=threads,
            num_workers=_DECODES_AT_ONCE,
            files=files,
        )
    except Exception as error:  # raised by CTranslate2, the tokenizer or the hub's library
        why = str(error)
        if files is None and not folder.is_dir():
            first = why.splitlines()[0] if why else type(error).__name__
            why = (
                f"{first}. It comes from the Hugging Face hub, over the network; tiny.en-short, the"
                " default, comes with the installation"
            )
        raise ModelError(f"whisper {config.model} cannot be loaded on {device}: {why}") from error


def _from_hub(model: str) -> str:
    """The folder of a model in the hub's cache, downloaded if it is not complete there."""
    from faster_whisper import download_model
    from huggingface_hub.errors import LocalEntryNotFoundError

    with suppress(LocalEntryNotFoundError):
        folder = Path(download_model(model, local_files_only=True))
        wanted = ("config.json", "model.bin", "tokenizer.json")
        if all((folder / name).is_file() for name in wanted):
            return str(folder)
    reach()
    return str(download_model(model))
