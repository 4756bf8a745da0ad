"""One WebRTC call: the Realtime connection over the data channel, with the audio beside it.

Audio is paced and accounted for as on a telephone line: whatever has been sent counts as played, so
the history keeps exactly those words. The clock counts the frames sent.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from voice.access.closing import CloseCode, Closing, first_of
from voice.access.rate_limits import TOO_FAST, ClientLimits, TokenBucket
from voice.config import Config
from voice.errors import VoiceError, origins
from voice.events import AudioStopped, SessionEvent
from voice.realtime.connection import Begun, RealtimeConnection
from voice.realtime.protocol import MEDIA_RATE_HZ
from voice.telephony.call_bridge import CallBridge
from voice.telephony.codec import (
    AudioFormat,
    CallAudio,
    CallCodec,
    CallEvent,
    Encoding,
    LineMessage,
    Traits,
)
from voice.webrtc.rtp_input import RtpInput

if TYPE_CHECKING:
    from voice.webrtc.peer import Peer

FRAME_S = 0.02
SILENCE = bytes(2 * round(MEDIA_RATE_HZ * FRAME_S))
_MOST_LATE_S = 0.2
"""Delays beyond this are not caught up on, because the client has bridged them by then."""
_BURST_S = 10.0
_KEY_S = 0.25
"""Seconds of audio that a key counts as, since pressing keys asks for replies as speech does."""
_DRAIN_S = 0.5
"""How long the last frame may take to be heard."""

_log = logging.getLogger(__name__)


class _Frames(CallCodec):
    """The agent's audio as frames of 16-bit samples."""

    # The clock counts frames; sending slightly ahead keeps rounding from delaying a frame.
    traits = Traits(frame_ms=20, ahead_ms=5, marks=False)
    _format = AudioFormat(Encoding.L16_LITTLE, MEDIA_RATE_HZ)

    def receive(self, message: LineMessage) -> list[CallEvent]:
        raise AssertionError("audio and keys come as packets")


class _Over(Exception):
    """Ends the tasks of a call."""


class Call:
    """One WebRTC call.

    Args:
        peer: Has answered the client's offer.
        begun: The conversation, whose protocol is ``by_media``.
        observe: Called with every session event.
        config: All options; gives limits and times.
    """

    def __init__(
        self,
        peer: Peer,
        begun: Begun,
        observe: Callable[[SessionEvent], None],
        config: Config,
    ) -> None:
        self._peer = peer
        self._session = begun.session
        self._protocol = begun.protocol
        self._observe = observe
        self._config = config
        self._out: deque[LineMessage] = deque()
        self._frames = 0
        self._sounding: tuple[str, ...] = ()
        digits_s = config.telephony.digits_timeout_s
        self._bridge = CallBridge(self._session, _Frames(), self._out, self._now_s, digits_s)
        self._connection = RealtimeConnection(
            peer.events,
            self._session,
            self._protocol,
            self._from_session,
            config.server.send_timeout_s,
            ClientLimits(config.server),
        )

    def end(self, reason: str, code: CloseCode = CloseCode.NORMAL) -> None:
        """Hang up."""
        self._peer.events.say_why(code, reason)
        self._session.close(reason)
        self._peer.end()

    async def run(self) -> None:
        """Run the call until either side ends it. Raises nothing."""
        session_id = self._session.session_id
        closing = Closing(CloseCode.NORMAL, "")
        try:
            async with asyncio.timeout(self._config.server.longest_session_s):
                await self._converse()
        except* _Over:
            _log.debug("session %s: the call is over", session_id)
        except* TimeoutError:
            _log.info("session %s took too long", session_id)
            closing = Closing(CloseCode.POLICY, "the longest session is over")
        except* VoiceError as raised:
            _log.info("session %s ended: %s", session_id, origins(raised))
            closing = Closing(CloseCode.POLICY, str(first_of(raised)))
        except* Exception as raised:
            _log.error("session %s failed: %s", session_id, origins(raised))
            closing = Closing(CloseCode.INTERNAL, "internal error")
        finally:
            self._session.close("connection ended")
            self._peer.events.say_why(closing.code, closing.reason)
            await self._peer.close()

    async def _converse(self) -> None:
        async with asyncio.timeout(self._config.webrtc.connect_timeout_s):
            await self._peer.connected.wait()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._listen())
            group.create_task(self._speak())
            group.create_task(self._peer.watch(self._config.webrtc.gone_after_s))
            await self._connection.run()
            await self._play_out()
            raise _Over

    async def _listen(self) -> None:
        packets = RtpInput(self._peer.decode)
        speed = self._config.server.max_audio_speed
        audio_s = TokenBucket(speed, _BURST_S * speed)
        while True:
            for event in packets.receive(await self._peer.heard.get()):
                heard_s = _KEY_S
                if isinstance(event, CallAudio):
                    heard_s = len(event.samples) / event.rate_hz
                if not audio_s.take(heard_s):
                    raise VoiceError(TOO_FAST)
                self._bridge.from_line(event)

    async def _speak(self) -> None:
        """Send a frame every 20 ms, of the agent's audio or of silence."""
        clock = asyncio.get_running_loop().time
        due_s = clock()
        while True:
            self._bridge.tick()
            frame = self._out.popleft() if self._out else SILENCE
            assert isinstance(frame, bytes)
            await self._peer.play(frame)
            self._tell_what_sounds()
            self._frames += 1
            due_s = max(due_s + FRAME_S, clock() - _MOST_LATE_S)
            await asyncio.sleep(due_s - clock())

    async def _play_out(self) -> None:
        """Let a client that is still there hear the agent's last words, such as a farewell."""
        unheard_s = self._bridge.unheard_s()
        if unheard_s is not None and not self._peer.events.gone.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(unheard_s + _DRAIN_S):
                    await self._peer.events.gone.wait()

    def _from_session(self, event: SessionEvent) -> None:
        self._observe(event)
        if not isinstance(event, AudioStopped):
            self._bridge.from_session(event)
            return
        sounding, self._sounding = self._sounding, ()
        for progress in self._bridge.cut():
            if progress.reply_id in sounding:
                self._connection.tell(self._protocol.sounding("cleared", progress.reply_id))
            self._connection.tell(self._protocol.cut_short(progress.reply_id, progress.played_ms))

    def _tell_what_sounds(self) -> None:
        before, self._sounding = self._sounding, self._bridge.sounding
        for stage, those, others in (
            ("stopped", before, self._sounding),
            ("started", self._sounding, before),
        ):
            for reply_id in those:
                if reply_id not in others:
                    self._connection.tell(self._protocol.sounding(stage, reply_id))

    def _now_s(self) -> float:
        return self._frames * FRAME_S
