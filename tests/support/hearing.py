"""Ears with a detector and a recogniser whose every answer is known."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any

import numpy as np

from tests.support.patience import PATIENCE_S
from voice.config import EndpointingConfig
from voice.errors import ModelError
from voice.hearing.asr.domain import ANYTHING, Domain
from voice.hearing.audio_input import AudioInput, HearingEvent
from voice.inputs import SessionOptions
from voice.types import (
    SAMPLE_RATE_HZ,
    AudioFrame,
    Samples,
    SpeechLasted,
    Transcript,
)

OPTIONS = SessionOptions()


class LevelVad:
    """Speech is what is loud."""

    def probability(self, frame: AudioFrame) -> float:
        return float(np.abs(frame.samples).max() > 1000)

    def reset(self) -> None:
        pass


class Stream:
    """Understands one word for each second of loud audio."""

    def __init__(self, owner: Recognizer, turn_id: int) -> None:
        self._owner = owner
        self._turn_id = turn_id
        self._loud = 0
        self._told = ""
        self.frames: list[AudioFrame] = []

    def accept(self, frame: AudioFrame) -> None:
        self.frames.append(frame)
        self._loud += bool(np.abs(frame.samples).max() > 1000)

    def interim(self, fell_silent: bool = False) -> Transcript | None:
        if fell_silent:
            self._owner.fell_silent.append(len(self.frames))
        before, self._told = self._told, self._text()
        return self._transcript(final=False) if self._told != before else None

    def finish(self) -> Transcript:
        if self._owner.fail:
            raise ModelError("the recogniser is gone")
        self._owner.finished += 1
        self._owner.let_finish.wait(PATIENCE_S)
        return self._transcript(final=True)

    def _text(self) -> str:
        return " ".join(["word"] * (self._loud // 25))

    def _transcript(self, final: bool) -> Transcript:
        end = self.frames[-1].end_sample
        return Transcript(self._turn_id, self._text(), final, confidence=1.0, end_sample=end)


class Recognizer:
    name = "counting"
    languages = ("en",)

    def __init__(self) -> None:
        self.streams: list[Stream] = []
        self.finished = 0
        self.fell_silent: list[int] = []
        self.fail = False
        self.let_finish = threading.Event()
        self.let_finish.set()

    def open(self, turn_id: int, domain: Domain = ANYTHING) -> Stream:
        self.streams.append(Stream(self, turn_id))
        return self.streams[-1]


class Rig:
    def __init__(self, **optional: Any) -> None:
        self.recognizer = Recognizer()
        self.heard: list[HearingEvent] = []
        self.decoded: list[int] = []
        self.changed = asyncio.Event()
        self.threads = ThreadPoolExecutor(1)
        self.ears = AudioInput(
            self.recognizer,
            LevelVad(),
            EndpointingConfig(),
            self.threads,
            self._tell,
            self.decoded.append,
            **optional,
        )
        self.ears.configure(OPTIONS)

    def _tell(self, event: HearingEvent) -> None:
        self.heard.append(event)
        self.changed.set()

    def hear(self, *pieces: Samples, rate_hz: int = SAMPLE_RATE_HZ) -> None:
        for piece in pieces:
            self.ears.append(piece, rate_hz)

    async def settle(self) -> None:
        """Let the recogniser catch up, and what it says arrive."""
        for _ in range(5):
            await asyncio.get_running_loop().run_in_executor(self.threads, lambda: None)
            await asyncio.sleep(0)

    async def final(self) -> Transcript:
        async with asyncio.timeout(PATIENCE_S):
            while True:
                for event in self.heard:
                    if isinstance(event, Transcript) and event.final:
                        return event
                self.changed.clear()
                await self.changed.wait()

    def kinds(self) -> list[type]:
        told = [event for event in self.heard if not isinstance(event, Transcript | SpeechLasted)]
        return [type(event) for event in told]


@asynccontextmanager
async def hearing(**optional: Any) -> AsyncGenerator[Rig, None]:
    """A rig that listens; `optional` goes to `AudioInput`."""
    rig = Rig(**optional)
    task = asyncio.create_task(rig.ears.run())
    try:
        yield rig
    finally:
        rig.recognizer.let_finish.set()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        rig.threads.shutdown()


def loud(seconds: float, rate_hz: int = SAMPLE_RATE_HZ) -> Samples:
    time = np.arange(round(seconds * rate_hz)) / rate_hz
    return (8000 * np.sin(2 * np.pi * 300 * time)).astype(np.int16)


def silent(seconds: float, rate_hz: int = SAMPLE_RATE_HZ) -> Samples:
    return np.zeros(round(seconds * rate_hz), np.int16)
