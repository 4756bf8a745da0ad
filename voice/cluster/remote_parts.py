"""Model, recogniser and voice in other processes, behind the interfaces of local ones.

Failures of a part, or of its process, are raised as the errors that a local part would raise.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ray.exceptions import RayError
from ray.serve.exceptions import RayServeException
from ray.serve.handle import DeploymentHandle

from voice.config import AgentConfig, AsrConfig, LlmConfig, TtsConfig, WhisperConfig
from voice.errors import ModelError, VoiceError
from voice.hearing.asr import Recognizer
from voice.hearing.asr.domain import ANYTHING, Domain
from voice.hearing.asr.transcribed import Transcribed, Word
from voice.hearing.asr.whisper import Decoded, WhisperStream
from voice.llm.base import ModelEvent, Prompt
from voice.llm.embedded import ToolLimits, check_callable
from voice.session.resources import Loaders
from voice.speech.tts import Synthesizer, Voices
from voice.types import Samples, Segment, SpeechChunk, ToolSpec

_WAITING_THREADS = 32
"""Threads of an ingress that wait for decodes, and as many that wait for synthesis."""


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What has to be known of a model before the first prompt."""

    name: str
    limits: ToolLimits


@dataclass(frozen=True, slots=True)
class EarsFacts:
    """What has to be known of a recogniser before the first word."""

    config: WhisperConfig
    languages: tuple[str, ...]
    translates: bool
    decode_s: float


@dataclass(frozen=True, slots=True)
class VoiceFacts:
    """A voice's own name, and the rate of its audio."""

    name: str
    sample_rate_hz: int


class RemoteModel:
    """The language model in a replica; see `ReplyModel`."""

    def __init__(self, handle: DeploymentHandle) -> None:
        facts: ModelFacts = _answer(handle.facts)
        self.name = facts.name
        self._limits = facts.limits
        self._answer = handle.options(stream=True).answer
        self._end_of_message = handle.end_of_message

    async def answer(self, prompt: Prompt) -> AsyncGenerator[ModelEvent, None]:
        """See `ReplyModel.answer`."""
        events = self._answer.remote(_portable(prompt))
        try:
            with _errors("the language model"):
                async for event in events:
                    yield event
        finally:
            events.cancel()

    async def end_of_message(self, prompt: Prompt) -> float | None:
        """See `ReplyModel.end_of_message`."""
        try:
            found: float | None = await self._end_of_message.remote(_portable(prompt))
        except (RayError, RayServeException):
            return None
        return found

    def check_tools(self, tools: Sequence[ToolSpec], path: str) -> None:
        """See `ReplyModel.check_tools`."""
        check_callable(tools, path, self._limits)

    def warm_up(self, prompt: Prompt) -> None:
        """Do nothing: every replica has warmed up for the configured agents."""

    async def close(self) -> None:
        """Do nothing: the replicas serve others too."""


class RemoteRecognizer:
    """The recogniser in a replica, which decodes audio that is kept here; see `Recognizer`."""

    name = "whisper"
    tells_times = True

    def __init__(self, handle: DeploymentHandle) -> None:
        facts: EarsFacts = _answer(handle.facts)
        self.config = facts.config
        self.languages = facts.languages
        self.translates = facts.translates
        self.decode_s = facts.decode_s
        self._handle = handle

    def timed_s(self) -> float:
        """How long a replica took to decode a second of silence when it was loaded."""
        return self.decode_s

    def open(self, turn_id: int, domain: Domain = ANYTHING) -> WhisperStream[Domain]:
        """See `Recognizer.open`."""
        return WhisperStream(self, turn_id, domain, domain.language)

    def decode(
        self,
        audio: Samples,
        beam_size: int,
        repair: Domain | None = None,
        language: str = "",
        translate: bool = False,
        times: bool = False,
    ) -> Decoded:
        """See `WhisperRecognizer.decode`; ``repair`` is the domain to repair with.

        Word times that are not asked for now need another decode if they are wanted later.
        """
        asked = audio, beam_size, repair, language, translate
        with _errors("the recogniser"):
            decoded: Decoded = _answer(self._handle.decode, *asked, times)
        return decoded if times else replace(decoded, find_words=partial(self._words, *asked))

    def _words(
        self, audio: Samples, beams: int, repair: Domain | None, language: str, translate: bool
    ) -> tuple[Word, ...]:
        return self.decode(audio, beams, repair, language, translate, times=True).find_words()

    def transcribe(self, audio: Samples, language: str = "", times: bool = False) -> Transcribed:
        """See `Recognizer.transcribe`."""
        found = self.decode(audio, self.config.beam_size, None, language, times=times)
        return found.transcribed(times)

    def translate(self, audio: Samples, language: str = "") -> Transcribed:
        """See `Recognizer.translate`."""
        found = self.decode(audio, self.config.beam_size, None, language, translate=True)
        return replace(found.transcribed(), language="en")


class RemoteSynthesizer:
    """A voice in a replica; see `Synthesizer`.

    Raises:
        ModelError: The replica cannot load the voice.
    """

    def __init__(self, handle: DeploymentHandle, name: str = "") -> None:
        with _errors("the voice"):
            facts: VoiceFacts = _answer(handle.facts, name)
        self.name = facts.name
        self.sample_rate_hz = facts.sample_rate_hz
        self._synthesize = handle.options(stream=True).synthesize

    def synthesize(self, segment: Segment, speed: float = 1.0) -> Iterator[SpeechChunk]:
        """See `Synthesizer.synthesize`."""
        chunks = self._synthesize.remote(self.name, segment, speed)
        try:
            with _errors("the voice"):
                yield from chunks
        finally:
            chunks.cancel()


def remote_loaders(
    engine: DeploymentHandle, ears: DeploymentHandle, voice: DeploymentHandle
) -> Loaders:
    """Loaders of parts that wait for those in other processes."""

    def model(config: LlmConfig) -> tuple[RemoteModel, str]:
        remote = RemoteModel(engine)
        return remote, f"language model: {remote.name}, of the cluster"

    def recogniser(
        config: AsrConfig, agent: AgentConfig, loaded: Iterable[Recognizer] = ()
    ) -> tuple[Recognizer, str]:
        remote = RemoteRecognizer(ears)
        return remote, f"whisper {remote.config.model}, of the cluster"

    def synthesizer(config: TtsConfig) -> tuple[RemoteSynthesizer, str]:
        remote = RemoteSynthesizer(voice)
        return remote, f"voice: {remote.name}, of the cluster"

    def voices(config: TtsConfig, own: Synthesizer) -> Voices:
        names: tuple[str, ...] = _answer(voice.names)
        return Voices({name: partial(RemoteSynthesizer, voice, name) for name in names})

    return Loaders(model, recogniser, synthesizer, voices, _WAITING_THREADS, _WAITING_THREADS)


def _portable(prompt: Prompt) -> Prompt:
    """The prompt without anything that only this process can do.

    Values that name existing things, such as a timer, are read from this conversation's own
    entries. The replica's model is asked without them, as a remote model is. The priority is frozen
    at its current value.
    """
    return replace(prompt, tools=tuple(map(_portable_tool, prompt.tools)), priority=prompt.rank)


def _portable_tool(tool: ToolSpec) -> ToolSpec:
    readings = {name: one for name, one in tool.readings.items() if not one.anywhere}
    return replace(tool, readings=readings, confirmation=None, refusal=None, meant=None)


def _answer(method: Any, *arguments: object) -> Any:
    """A replica's answer; blocks, so call it only from threads."""
    return method.remote(*arguments).result()


@contextmanager
def _errors(what: str) -> Iterator[None]:
    """Raise a part's own errors as they are, and failures of its process as `ModelError`."""
    try:
        yield
    except (RayError, RayServeException) as error:
        # Ray's message has the traceback, and with it what was said.
        cause = getattr(error, "cause", None)
        if isinstance(cause, VoiceError):
            raise cause from None
        raise ModelError(f"{what} has failed: {type(error).__name__}") from None
