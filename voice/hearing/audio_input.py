"""One session's ears: audio in; endpointing events and transcripts out.

Voice activity and endpointing run on the event loop, frame by frame; the recogniser runs in a
thread, in the order of the audio. The final decode of a turn starts at its first silent frames, so
that it overlaps the silence that decides whether the turn is over; so does what else is asked about
a pause: how the voice sounded before it, and whether the language model expects more.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from voice.audio import Framer, StreamResampler
from voice.config import EndpointingConfig
from voice.errors import ModelError, ProtocolError
from voice.hearing.backchannel_sound import asks_to_go_on
from voice.hearing.end_of_turn import Cues, Profile
from voice.hearing.endpointing import Endpointer
from voice.hearing.prosody import WINDOW_MS, Prosody, measure
from voice.hearing.vad import Vad
from voice.inputs import OpinionFailed, RecognitionFailed, SessionOptions
from voice.types import (
    FRAME_SAMPLES,
    SAMPLE_RATE_HZ,
    AudioFrame,
    EndpointEvent,
    EndReason,
    Pause,
    Samples,
    SpeechResumed,
    SpeechStarted,
    Transcript,
    TurnEnded,
    ms_of_samples,
    samples_of_ms,
)

if TYPE_CHECKING:
    from voice.hearing.asr import Recognizer, RecognizerStream

TELEPHONE_HZ = 8_000
SHORTEST_COMMIT_MS = 100
# A client that marks its turns itself may fill the buffer for ever; the oldest audio goes first.
BUFFERED_S = 120

_log = logging.getLogger(__name__)

Heard = EndpointEvent | Transcript | RecognitionFailed | OpinionFailed

Opinion = Callable[[str], Awaitable[float | None]]
"""The words of a turn → the probability that they are all of it, or None when nobody can say."""


@dataclass(slots=True)
class _Turn:
    """Audio of a turn on its way through the recogniser.

    Attributes:
        waiting: Frames that the recogniser has not been given.
        held: Frames since the pause began; given to it only if speech goes on.
        paused: Whether speech has stopped, for now or for good.
        decodes: Final decodes asked for; only the newest one's outcome counts.
        decoded: Final decodes begun, touched by the recogniser's thread alone.
        final: What the newest one brought.
        sounded: The audio up to the pause and of its first frames, until it has been measured.
        speech: How many of its samples are the turn's.
        silence: How many of its last samples are the pause's.
        prosody: How it sounded.
        go_on: See `Transcript`.
        told: The newest text that was told of it.
        ended: Whether the turn is over.
        failed: Why the recogniser failed; None while it does not.
    """

    turn_id: int
    start_sample: int
    waiting: deque[AudioFrame] = field(default_factory=deque)
    held: deque[AudioFrame] = field(default_factory=deque)
    paused: bool = False
    decodes: int = 0
    decoded: int = 0
    final: Transcript | None = None
    sounded: Samples | None = None
    speech: int = 0
    silence: int = 0
    prosody: Prosody | None = None
    go_on: float | None = None
    told: str = ""
    ended: bool = False
    failed: str | None = None
    stream: RecognizerStream | None = None


class AudioInput:
    """Hears one user.

    Args:
        recognizer: Opens a stream for each turn.
        vad: This session's own.
        config: Of endpointing.
        executor: Runs the recogniser.
        tell: Called on the event loop with what was heard, in order.
        decoded: Called with a turn's id whenever a final decode of it is complete.
        opinion: Asked about the words of every pause; None: nobody is asked.
        telephone_vad: Makes the detector that replaces `vad` when audio of 8 kHz first arrives;
            None: `vad` is kept.
    """

    def __init__(
        self,
        recognizer: Recognizer,
        vad: Vad,
        config: EndpointingConfig,
        executor: Executor,
        tell: Callable[[Heard], None],
        decoded: Callable[[int], None],
        *,
        opinion: Opinion | None = None,
        telephone_vad: Callable[[], Vad] | None = None,
    ) -> None:
        self._recognizer = recognizer
        self._vad = vad
        self._config = config
        self._endpointer = Endpointer(config)
        self._executor = executor
        self._tell = tell
        self._decoded = decoded
        self._opinion = opinion
        self._telephone_vad = telephone_vad
        self._framer = Framer()
        self._resamplers: dict[int, StreamResampler] = {}
        self._before: deque[AudioFrame] = deque(maxlen=self._kept_before)
        self._recent: deque[AudioFrame] = deque(
            maxlen=samples_of_ms(WINDOW_MS + config.pause_ms) // FRAME_SAMPLES
        )
        self._buffer: deque[AudioFrame] = deque(maxlen=BUFFERED_S * SAMPLE_RATE_HZ // FRAME_SAMPLES)
        self._position = 0
        self._detects = True
        self._turn: _Turn | None = None
        self._cues = Cues()
        self._work: deque[_Turn] = deque()
        self._wake = asyncio.Event()

    def configure(self, options: SessionOptions) -> None:
        """Take over what the client may change."""
        self._endpointer.threshold = options.vad_threshold
        self._endpointer.silence_ms = options.silence_ms
        self._endpointer.profile = Profile(options.profile or self._config.profile)
        pre_roll_ms = options.pre_roll_ms
        self._endpointer.pre_roll_ms = (
            self._config.pre_roll_ms if pre_roll_ms is None else pre_roll_ms
        )
        self._before = deque(self._before, maxlen=self._kept_before)
        if self._detects != options.turn_detection:
            self.clear()
        self._detects = options.turn_detection

    @property
    def position(self) -> int:
        """Samples heard so far."""
        return self._position

    @property
    def _kept_before(self) -> int:
        """Frames kept for the beginning of a turn."""
        window = samples_of_ms(self._config.start_window_ms)
        return (self._endpointer.pre_roll_samples + window) // FRAME_SAMPLES + 1

    def append(self, samples: Samples, rate_hz: int) -> None:
        """Hear audio of any rate and length."""
        if rate_hz <= TELEPHONE_HZ and self._telephone_vad is not None:
            self._vad, self._telephone_vad = self._telephone_vad(), None
        if rate_hz != SAMPLE_RATE_HZ:
            if rate_hz not in self._resamplers:
                self._resamplers = {rate_hz: StreamResampler(rate_hz, SAMPLE_RATE_HZ)}
            samples = self._resamplers[rate_hz].push(samples)
        for frame in self._framer.push(samples):
            self._hear(frame)

    def commit(self) -> None:
        """End the turn at the client's word.

        Raises:
            ProtocolError: There is less than 100 ms of audio to commit.
        """
        self._require_audio()
        if self._endpointer.in_turn:
            events = self._endpointer.force_end(EndReason.MANUAL)
        else:
            start = self._buffer[0].start_sample
            _, ended = self._endpointer.force_end(EndReason.MANUAL, start)
            assert isinstance(ended, TurnEnded)
            # Without detection the endpointer has not heard how far the audio is.
            now = self._position
            events = [replace(ended, start_sample=start, end_sample=now, decided_sample=now)]
            self._open(ended.turn_id, start, self._buffer)
        for event in events:
            self._follow(event)
        self._buffer.clear()

    def clear(self) -> None:
        """Drop an open turn and what was heard of it."""
        self._endpointer.reset()
        self._buffer.clear()
        self._before.clear()
        self._turn = None
        self._cues = Cues()

    async def run(self) -> None:
        """Feed the recogniser, until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._recognise_all(group))

    async def _recognise_all(self, group: asyncio.TaskGroup) -> None:
        loop = asyncio.get_running_loop()
        while True:
            while self._work:
                turn = self._work.popleft()
                try:
                    heard = await loop.run_in_executor(self._executor, self._recognise, turn)
                except Exception as error:
                    # A recogniser that raises must cost this turn only.
                    _log.error("recognition failed: %s", type(error).__name__)
                    self._fail(
                        turn, str(error) if isinstance(error, ModelError) else "recognition failed"
                    )
                    continue
                for transcript in heard:
                    self._understand(turn, transcript)
                if turn is self._turn and turn.final is not None and self._opinion is not None:
                    group.create_task(self._ask(self._opinion, turn, turn.final))
            self._wake.clear()
            if not self._work:
                await self._wake.wait()

    def _require_audio(self) -> None:
        got = ms_of_samples(len(self._buffer) * FRAME_SAMPLES)
        if got < SHORTEST_COMMIT_MS:
            raise ProtocolError(
                f"got {got:.0f} ms of audio in the buffer; expected at least {SHORTEST_COMMIT_MS}",
                "input_audio_buffer_commit_empty",
            )

    def _hear(self, frame: AudioFrame) -> None:
        self._buffer.append(frame)
        self._position = frame.end_sample
        if not self._detects:
            return
        probability = self._vad.probability(frame)
        self._before.append(frame)
        self._recent.append(frame)
        events = self._endpointer.accept(frame, probability, self._cues)
        turn = self._turn
        if turn is not None and turn.failed is None:
            (turn.held if turn.paused else turn.waiting).append(frame)
            if not turn.paused:
                self._request(turn)
        for event in events:
            self._follow(event)

    def _follow(self, event: EndpointEvent) -> None:
        match event:
            case SpeechStarted(turn_id, start_sample):
                first = start_sample - self._endpointer.pre_roll_samples
                frames = [frame for frame in self._before if frame.start_sample >= first]
                self._open(turn_id, start_sample, deque(frames))
            case Pause(_, end_sample):
                self._pause(end_sample)
            case SpeechResumed():
                self._resume()
            case TurnEnded():
                self._end(event)
                return
        self._tell(event)

    def _open(self, turn_id: int, start_sample: int, frames: deque[AudioFrame]) -> None:
        self._cues = Cues()
        self._turn = _Turn(turn_id, start_sample, waiting=deque(frames))
        self._request(self._turn)

    def _pause(self, end_sample: int) -> None:
        turn = self._turn
        # Words from before it are a guess: only the pause's own decode says how far to trust them.
        self._cues = Cues()
        if turn is not None:
            turn.sounded = np.concatenate([frame.samples for frame in self._recent])
            turn.speech = end_sample - turn.start_sample
            turn.silence = self._position - end_sample
            turn.paused = True
            turn.decodes += 1
            self._request(turn)

    def _resume(self) -> None:
        turn = self._turn
        if turn is not None:
            turn.paused = False
            turn.final = turn.prosody = turn.go_on = None
            turn.waiting.extend(turn.held)
            turn.held.clear()
            self._request(turn)

    def _end(self, event: TurnEnded) -> None:
        turn, self._turn = self._turn, None
        self._cues = Cues()
        self._buffer.clear()
        # A turn that follows at once is not to begin with the last word of this one.
        while self._before and self._before[0].start_sample < event.end_sample:
            self._before.popleft()
        self._tell(event)
        if turn is None:
            return
        turn.ended = True
        if turn.failed is not None:
            self._tell(RecognitionFailed(turn.turn_id, turn.failed))
        elif turn.final is not None:
            self._tell(turn.final)
        elif not turn.paused:
            turn.decodes += 1
            self._request(turn)

    def _request(self, turn: _Turn) -> None:
        if turn.failed is None and turn not in self._work:
            self._work.append(turn)
            self._wake.set()

    def _fail(self, turn: _Turn, message: str) -> None:
        """A turn has no words; that is told once its user has ended, who would be talked over."""
        if self._turn is turn:
            turn.failed = message
            turn.waiting.clear()
            turn.held.clear()
            self._cues = Cues()
        else:
            self._tell(RecognitionFailed(turn.turn_id, message))

    def _recognise(self, turn: _Turn) -> list[Transcript]:
        """In a thread: give the recogniser what waits. Only this thread touches the stream."""
        if turn.stream is None:
            turn.stream = self._recognizer.open(turn.turn_id)
        heard = []
        while turn.waiting:
            interim = turn.stream.accept(turn.waiting.popleft())
            if interim is not None:
                heard.append(interim)
        if turn.decoded < turn.decodes:
            turn.decoded = turn.decodes
            if turn.sounded is not None:
                spoken = len(turn.sounded) - turn.silence
                turn.prosody = measure(turn.sounded[:spoken])
                turn.go_on = asks_to_go_on(turn.sounded, turn.speech, turn.silence)
                turn.sounded = None
            heard.append(replace(turn.stream.finish(), go_on=turn.go_on))
        return heard

    def _understand(self, turn: _Turn, transcript: Transcript) -> None:
        """Back on the loop: tell what was recognised, unless speech has gone on since."""
        if not transcript.final:
            # Behind a pause its own decode follows, which knows how the words sounded as well.
            if self._turn is turn and not turn.paused and transcript.text != turn.told:
                turn.told = transcript.text
                self._tell(transcript)
            return
        if turn.decoded < turn.decodes or not (turn.ended or turn.paused):
            return
        self._decoded(turn.turn_id)
        if turn.ended:
            self._tell(transcript)
        elif self._turn is turn:
            turn.final = transcript
            turn.told = transcript.text.strip()
            # Even without words: that it has none is known now.
            self._tell(replace(transcript, final=False))
            self._cues = Cues(turn.told, transcript.sure_of_end, prosody=turn.prosody)

    async def _ask(self, opinion: Opinion, turn: _Turn, final: Transcript) -> None:
        """Let somebody judge whether a pause is the end; too late an answer counts for nothing."""
        try:
            probability = await opinion(final.text) if final.text.strip() else None
        except Exception as error:
            # Whoever is asked must not cost the conversation; the pause decides without them.
            _log.error("no opinion on a pause: %s", type(error).__name__)
            message = str(error) if isinstance(error, ModelError) else "the model failed"
            self._tell(OpinionFailed(turn.turn_id, message))
            return
        if self._turn is turn and turn.final is final:
            self._cues = replace(self._cues, opinion=probability)
