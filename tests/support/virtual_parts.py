"""A call on virtual time: fakes of each stage, and a user who speaks by a script.

The session, its ears, its mouth and the toolbox are the real ones; what they would load is not. The
user's "speech" is audio in which each word is a constant sample value, so that the fake detector
and the fake recogniser can hear it; how long decoding, a forward and synthesis take is stated.

    def test_something() -> None:
        async def main() -> None:
            async with calling(parts(model=Model(lambda prompt: "Fine, thank you."))) as call:
                await call.say("how are you")
                ended = await call.next(ReplyEnded)

        run(main())
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise, takewhile
from typing import Any, TypeVar

import numpy as np

from tests.support import virtual_tools
from tests.support.embedded import embedded_config
from tests.support.virtual_time import now, spend
from voice.callers import Caller
from voice.config import AgentConfig
from voice.errors import ModelError
from voice.events import ReplyAudio, SessionEvent
from voice.hearing.asr.domain import ANYTHING, Domain
from voice.llm.base import AnswerDone, DraftView, ModelEvent, Prompt, TextPiece
from voice.session.load_monitor import LoadMonitor
from voice.session.resources import RECOGNITION_THREADS, SYNTHESIS_THREADS, Resources
from voice.session.session import Session
from voice.tools import Toolbox
from voice.types import (
    FRAME_MS,
    FRAME_SAMPLES,
    SAMPLE_RATE_HZ,
    AudioFrame,
    FindsWords,
    Role,
    SaidWord,
    Samples,
    Segment,
    SpeechChunk,
    ToolCall,
    ToolSpec,
    Transcript,
)

E = TypeVar("E")

Answer = str | ToolCall | Sequence[ToolCall] | Exception
SILENCE = np.zeros(FRAME_SAMPLES, np.int16)


@dataclass(slots=True)
class Tape:
    """Which word each sample value stands for.

    Attributes:
        words: Value - 1 → the word as an interim transcript has it while it is the last one, and as
            it is understood in the end.
    """

    words: list[tuple[str, str]] = field(default_factory=list)

    def record(self, text: str, word_ms: int = 240, **misheard: str) -> Samples:
        """Audio of a text; ``timer="time"`` is heard as "time" until the next word or the end."""
        values = []
        for word in text.split():
            self.words.append((misheard.get(word, word), word))
            values.append(len(self.words))
        return np.repeat(np.array(values, np.int16), word_ms * SAMPLE_RATE_HZ // 1000)


class Detector:
    """Whatever is not silence is speech."""

    def probability(self, frame: AudioFrame) -> float:
        return float(np.abs(frame.samples).max() > 0)

    def reset(self) -> None:
        pass


class Recognizer:
    """Reads a tape.

    Args:
        tape: What the sample values mean.
        interim_ms: How often an interim transcript comes.
        decode_s: What a final decode takes.
        find: What finds the words, where it is not the tape.
    """

    name = "tape"
    languages = ("en",)

    def __init__(
        self,
        tape: Tape,
        interim_ms: int = 240,
        decode_s: float = 0.05,
        find: FindsWords | None = None,
    ) -> None:
        self.tape = tape
        self.find = find
        self.interim_frames = interim_ms // FRAME_MS
        self.decode_s = decode_s

    def open(self, turn_id: int, domain: Domain = ANYTHING) -> Stream:
        return Stream(self, turn_id)


class Stream:
    """A turn's recognition."""

    def __init__(self, recognizer: Recognizer, turn_id: int) -> None:
        self._recognizer = recognizer
        self._turn_id = turn_id
        # By each value, where it was heard first and last.
        self._values: dict[int, tuple[int, int]] = {}
        self._frames = 0
        self._told = 0
        self._end = 0

    def accept(self, frame: AudioFrame) -> None:
        self._end = frame.end_sample
        for value in dict.fromkeys(int(v) for v in frame.samples if v):
            first, _ = self._values.get(value, (frame.start_sample, 0))
            self._values[value] = first, frame.end_sample
        self._frames += 1

    def interim(self, fell_silent: bool = False) -> Transcript | None:
        if self._frames // self._recognizer.interim_frames == self._told or not self._values:
            return None
        self._told = self._frames // self._recognizer.interim_frames
        words = [self._recognizer.tape.words[value - 1] for value in self._values]
        heard = [*(word for _, word in words[:-1]), words[-1][0]]
        return Transcript(self._turn_id, " ".join(heard), False, 0.8, self._end)

    def finish(self) -> Transcript:
        spend(self._recognizer.decode_s)
        found = self._find_words()
        text = " ".join(word.text for word in found)
        sure = 0.9 if text else 0.0
        find = self._recognizer.find or self._find_words
        return Transcript(self._turn_id, text, True, sure, self._end, find_words=find)

    def _find_words(self) -> tuple[SaidWord, ...]:
        words = self._recognizer.tape.words
        return tuple(SaidWord(words[value - 1][1], *at) for value, at in self._values.items())


class Model:
    """Answers by a rule; one forward at a time for all calls, four words each.

    Args:
        answer: Prompt → the text, the calls, or what is raised. Equal prompts get equal answers.
        forward_s: What a forward takes.

    Attributes:
        prompts: All that were asked, in order.
        forwards: All that were made, for whatever prompt.
        live: Requests now.
    """

    name = "scripted"

    def __init__(self, answer: Callable[[Prompt], Answer], forward_s: float = 0.02) -> None:
        self._answer = answer
        self._forward_s = forward_s
        self._one = asyncio.Lock()
        self.prompts: list[Prompt] = []
        self.forwards = 0
        self.live = 0
        self.most_live = 0

    async def answer(self, prompt: Prompt) -> AsyncGenerator[ModelEvent, None]:
        self.prompts.append(prompt)
        self.live += 1
        self.most_live = max(self.most_live, self.live)
        try:
            async for event in self._events(prompt):
                yield event
        finally:
            self.live -= 1

    async def _events(self, prompt: Prompt) -> AsyncGenerator[ModelEvent, None]:
        answer = self._answer(prompt)
        if isinstance(answer, ToolCall):
            answer = [answer]
        words = answer.split() if isinstance(answer, str) else ["call"]
        draft = prompt.draft.content.split() if prompt.draft else []
        kept = _kept(words, draft)
        # What stands of a draft is verified in one forward; the rest comes four words at a time.
        starts = [0, *range(kept, len(words), 4)] if kept else [*range(0, len(words), 4)]
        for step, (start, end) in enumerate(pairwise([*starts, len(words)]), 1):
            async with self._one:
                await asyncio.sleep(self._forward_s)
            self.forwards += 1
            if isinstance(answer, Exception):
                raise answer
            yield DraftView(" ".join(words[:end]), step)
            if isinstance(answer, str) and start < end:
                space = " " if start else ""
                yield TextPiece(space + " ".join(words[start:end]))
        assert not isinstance(answer, Exception)
        calls = () if isinstance(answer, str) else tuple(answer)
        yield AnswerDone(calls, False, len(prompt.messages), len(words), len(starts), kept)

    async def end_of_message(self, prompt: Prompt) -> float | None:
        return None

    def check_tools(self, tools: Sequence[ToolSpec], path: str) -> None:
        pass

    def warm_up(self, prompt: Prompt) -> None:
        pass

    async def close(self) -> None:
        pass


class Voice:
    """200 ms of sound for each word, in one chunk for each half second.

    Args:
        word_s: What the synthesis of a word takes.
        broken: Raised by every segment.
    """

    name = "beeps"
    sample_rate_hz = SAMPLE_RATE_HZ

    def __init__(self, word_s: float = 0.005, broken: ModelError | None = None) -> None:
        self.word_s = word_s
        self.broken = broken
        self.spoken: list[str] = []

    def synthesize(self, segment: Segment, speed: float = 1.0) -> Iterator[SpeechChunk]:
        self.spoken.append(segment.spoken)
        if self.broken is not None:
            raise self.broken
        words = len(segment.spoken.split())
        samples = np.full(words * SAMPLE_RATE_HZ // 5, 8000, np.int16)
        chunks = [samples[at : at + 8000] for at in range(0, len(samples), 8000)] or [samples]
        for index, chunk in enumerate(chunks):
            spend(self.word_s * words / len(chunks))
            yield SpeechChunk(segment, chunk, SAMPLE_RATE_HZ, index == len(chunks) - 1)


class VirtualParts(Resources):
    """The parts of `parts`."""

    def vad(self) -> Detector:  # type: ignore[override]
        return Detector()


def parts(
    model: Model, voice: Voice | None = None, recognizer: Recognizer | None = None, *overrides: str
) -> VirtualParts:
    """Parts that compute nothing, with `tests.support.virtual_tools` for tools.

    Args:
        model: What answers.
        voice: What speaks.
        recognizer: What hears; it has the tape that the user speaks on.
        *overrides: Of the configuration, ``section.key=value``.
    """
    config = embedded_config('tools.modules=["tests.support.virtual_tools"]', *overrides)
    agent = AgentConfig(name="test", instructions="Be brief.", tools=virtual_tools.NAMES)
    virtual_tools.LEDGER.clear()
    return VirtualParts(
        config=config,
        agent=agent,
        recognizer=recognizer or Recognizer(Tape()),
        model=model,
        synthesizer=voice or Voice(),
        toolbox=Toolbox(config.tools, config.turn),
        lines=[],
        recognition_threads=ThreadPoolExecutor(RECOGNITION_THREADS),
        synthesis_threads=ThreadPoolExecutor(SYNTHESIS_THREADS),
        load_monitor=LoadMonitor(now),
    )


class Call:
    """A user on the line.

    Attributes:
        events: (virtual seconds, what the session told).
        turns_said: When the last sample of each utterance was spoken.
        sends: Whether the microphone sends anything.
        collects: Number of frames that the microphone sends at once.
    """

    def __init__(self, session: Session, tape: Tape) -> None:
        self.session = session
        self.events: list[tuple[float, SessionEvent]] = []
        self.turns_said: list[float] = []
        self.sends = True
        self.collects = 1
        self._tape = tape
        self._frames: deque[Samples] = deque()
        self._spoken = asyncio.Event()
        self._changed = asyncio.Event()
        self._taken = 0

    async def say(self, text: str, word_ms: int = 240, **misheard: str) -> None:
        """Speak; returns with the last sample."""
        samples = self._tape.record(text, word_ms, **misheard)
        for start in range(0, len(samples), FRAME_SAMPLES):
            frame = samples[start : start + FRAME_SAMPLES]
            self._frames.append(np.pad(frame, (0, FRAME_SAMPLES - len(frame))))
        self._spoken.clear()
        await self._spoken.wait()
        self.turns_said.append(now())

    async def next(self, kind: type[E], true: Callable[[E], bool] = lambda _: True) -> E:
        """The next event of a kind behind those asked for before."""
        while True:
            for index in range(self._taken, len(self.events)):
                event = self.events[index][1]
                if isinstance(event, kind) and true(event):
                    self._taken = index + 1
                    return event
            self._changed.clear()
            async with asyncio.timeout(120):
                await self._changed.wait()

    def forget(self) -> None:
        """Drop the events so far."""
        self.events.clear()
        self._taken = 0

    def of(self, kind: type[E]) -> list[E]:
        """All events of a kind so far."""
        return [event for _, event in self.events if isinstance(event, kind)]

    def times(self, kind: type[Any], true: Callable[[Any], bool] = lambda _: True) -> list[float]:
        """When events of a kind came."""
        return [at for at, event in self.events if isinstance(event, kind) and true(event)]

    def heard_after(self, turn: int = -1) -> float:
        """Seconds from the end of an utterance to the first sound of the agent's behind it."""
        said = self.turns_said[turn]
        return min(at for at in self.times(ReplyAudio) if at > said) - said

    def history(self) -> list[tuple[str, str]]:
        """Role and content of each message that the model would see."""
        view = self.session._conversation.dialogue.view(100)
        return [(message.role.value, message.content) for message in view]

    def take(self, event: SessionEvent) -> None:
        self.events.append((now(), event))
        self._changed.set()

    async def microphone(self) -> None:
        """A frame every 20 ms, silence where nothing is said."""
        collected: list[Samples] = []
        while True:
            await asyncio.sleep(FRAME_MS / 1000)
            collected.append(self._frames.popleft() if self._frames else SILENCE)
            if len(collected) >= self.collects:
                if self.sends:
                    self.session.append_audio(np.concatenate(collected), SAMPLE_RATE_HZ)
                collected.clear()
            if not self._frames:
                self._spoken.set()


@asynccontextmanager
async def calling(
    loaded: VirtualParts,
    caller: Caller | None = None,
    open_session: Callable[..., Session] = Session,
) -> AsyncGenerator[Call, None]:
    """A call that lasts as long as the block."""
    assert isinstance(loaded.recognizer, Recognizer)
    call = Call(open_session(loaded, caller=caller), loaded.recognizer.tape)
    async with asyncio.TaskGroup() as group:
        group.create_task(call.session.run(call.take))
        microphone = group.create_task(call.microphone())
        await asyncio.sleep(0)
        yield call
        call.session.close()
        microphone.cancel()


def _kept(words: list[str], draft: list[str]) -> int:
    pairs = zip(words, draft, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def last_user(prompt: Prompt) -> str:
    """What the user said last in a prompt."""
    return next(m.content for m in reversed(prompt.messages) if m.role is Role.USER)


def tool_results(prompt: Prompt) -> list[str]:
    """What the tools have answered since the user spoke last."""
    results: list[str] = []
    for message in reversed(prompt.messages):
        if message.role is Role.USER:
            break
        if message.role is Role.TOOL:
            results.insert(0, message.content)
    return results


def call(name: str, **arguments: str) -> ToolCall:
    """A tool call whose id is made of what it calls."""
    return ToolCall(f"{name}{json.dumps(arguments)}", name, arguments)
