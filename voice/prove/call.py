"""One call: a caller converses with a server in real time, and everything is recorded on one clock.

What the caller hears is a virtual loudspeaker that stops where a client of the API would. How the
call is judged is not known here.

Shapes: T is a number of samples at 24 kHz.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np

from voice.demo.client import RealtimeClient
from voice.demo.turn_report import Received, of_type
from voice.demo.virtual_audio import Sounding, stereo
from voice.errors import VoiceError
from voice.prove.doors import Door, Line, Store
from voice.prove.mind import Mind
from voice.prove.scenario import Take, TalkOver
from voice.prove.script import Script
from voice.prove.sound import Speaker
from voice.types import Samples

PATIENCE_S = 12.0
"""How long a caller waits for an answer."""
OVER_AFTER_S = 1.0
"""How long the agent has been audible when it is talked over, if no word gives the moment."""
LEAST_LEFT_S = 0.3
"""How much of the agent's speech must be left for something to be said over it."""
NOTHING_CHANGES_S = 1.5
"""How long to listen to the agent after a backchannel before anything else happens."""
TEXT = ("response.output_audio_transcript.delta", "response.output_text.delta")


@dataclass(frozen=True, slots=True)
class Said:
    """Something that the caller said.

    Attributes:
        kind: "line", or the kind of a `TalkOver`.
        start_s: Time of the first sample of speech, in seconds since the call began.
        end_s: Time just past the last one.
    """

    text: str
    kind: str
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """Everything recorded of a call; times are seconds since it began.

    Attributes:
        said: What the caller said.
        events: What the server sent.
        agent: What was heard of the agent.
        gave_up: Whether the caller hung up because the turns were used up.
        error: Why the call could not go on; empty if it could.
        kept: Item of a reply that was cut → what the dialogue keeps of it.
        store: What the tools have stored: table → rows; None if it could not be read.
        sound: (T, 2), the caller's side and the agent's.
    """

    said: tuple[Said, ...]
    events: tuple[Received, ...]
    agent: tuple[Sounding, ...]
    seconds: float
    gave_up: bool = False
    error: str = ""
    kept: Mapping[str, str] = field(default_factory=dict)
    store: Store | None = None
    sound: Samples = field(default_factory=lambda: np.zeros((0, 2), np.int16))


def texts(events: Sequence[Received]) -> dict[str, str]:
    """What the agent has said: item → its text so far, in order."""
    told: dict[str, str] = {}
    for received in events:
        if received.type in TEXT:
            item_id = received.event["item_id"]
            told[item_id] = told.get(item_id, "") + received.event["delta"]
    return told


def sent(events: Sequence[Received]) -> Counter[str]:
    """Item → number of samples of its audio that the server has sent."""
    found = Counter[str]()
    for received in of_type(events, "response.output_audio.delta"):
        # 4 characters of base64 are 3 bytes; a sample is 2 bytes.
        delta = received.event["delta"]
        found[received.event["item_id"]] += (len(delta) * 3 // 4 - delta.count("=")) // 2
    return found


def heard(events: Sequence[Received], agent: Sequence[Sounding]) -> str:
    """The agent's words that were played; of an item that was cut, as large a share as its sound's.

    Args:
        events: What the server sent.
        agent: What the loudspeaker has played.
    """
    whole, played, told = sent(events), Counter[str](), list[str]()
    for piece in agent:
        played[piece.item_id] += len(piece.samples)
    for item_id, text in texts(events).items():
        words = text.split()
        share = played[item_id] / whole[item_id] if whole[item_id] else 0
        told += words[: math.ceil(share * len(words))]
    return " ".join(told)


async def hold(take: Take, door: Door, mind: Mind | None = None) -> Recording:
    """Make a call, and hang up at its end.

    Args:
        mind: Decides what the caller says, instead of the scenario's lines.

    Raises:
        OSError: No server can be reached.
        VoiceError: The server refuses, the mind fails, or there is no such voice.
    """
    scenario = take.scenario
    speaker = Speaker(scenario.behaviour, take.seed, scenario.recordings)
    background = await asyncio.to_thread(speaker.background)
    # Synthesised before the call, so that it causes no delay in it.
    lines = () if mind else (says for line in scenario.lines for says in line.says)
    for text in {*lines, *scenario.asides}:
        await asyncio.to_thread(speaker.say, text)
    async with door.open(take.agent, background) as line:
        return await _Call(line, take, speaker, mind).run()


class _Call:
    def __init__(self, line: Line, take: Take, speaker: Speaker, mind: Mind | None) -> None:
        self._line = line
        self._mind = mind
        self._client: RealtimeClient = line.client
        self._speaker = speaker
        self._script = Script(take.scenario, take.seed)
        self._reaction_s = take.scenario.behaviour.reaction_s
        self._said: list[Said] = []
        self._kept: dict[str, str] = {}

    async def run(self) -> Recording:
        client, error = self._client, ""
        try:
            await self._converse()
        except TimeoutError as late:
            error = str(late)
        except ConnectionError as closed:
            hung_up = (client.closed or "").startswith("1000")
            error = "" if hung_up else str(closed)
        store: Store | None = None
        try:
            store = await self._line.store()
        except VoiceError as refused:
            error = error or str(refused)
        began_s = client.microphone.start_s
        events = (replace(r, at_s=r.at_s - began_s) for r in client.events)
        agent = (replace(s, start_s=s.start_s - began_s) for s in client.loudspeaker.timeline)
        sound = stereo(client.microphone, client.loudspeaker)
        return Recording(
            said=tuple(self._said),
            events=tuple(events),
            agent=tuple(agent),
            seconds=client.clock() - began_s,
            gave_up=self._script.gave_up,
            error=error,
            kept=self._kept,
            store=store,
            sound=sound,
        )

    async def _converse(self) -> None:
        await self._client.settled()
        since = 0
        while True:
            told = heard(self._client.events[since:], self._client.loudspeaker.timeline)
            if self._mind is None:
                self._script, text = self._script.after(told)
            else:
                self._script, text = await self._mind.after(self._script, told)
            if text is None or self._script.gave_up:
                return
            await asyncio.sleep(self._reaction_s)
            since = len(self._client.events)
            await self._exchange(text, since)

    async def _exchange(self, text: str, since: int) -> None:
        """Say a line and hear out the answer, talking over it if the scenario says so."""
        said = await self._say(text, "line")
        if said is None:
            return
        item_id = await self._answered(since, said)
        over = self._script.talk_over
        if item_id and over and await self._talk_over(over, since):
            self._script = replace(self._script, over=self._script.over + 1)
        await self._client.settled()

    async def _say(self, text: str, kind: str) -> Said | None:
        """Say something to its end; None if it is nothing but silence."""
        made = await asyncio.to_thread(self._speaker.say, text, kind == "bystander")
        microphone, clock = self._client.microphone, self._client.clock
        position = microphone.say(made.samples)
        start_s, end_s = (microphone.time_of(position + at) for at in (made.start, made.end))
        over_s = end_s if made.end else microphone.time_of(position + len(made.samples))
        said = Said(made.text, kind, *(s - microphone.start_s for s in (start_s, end_s)))
        if made.end:
            self._said.append(said)
        await asyncio.sleep(over_s - clock())
        return said if made.end else None

    async def _answered(self, since: int, said: Said) -> str | None:
        """The first item that is audible after what was said; None if the caller waits in vain."""
        loudspeaker = self._client.loudspeaker
        end_s = said.end_s + self._client.microphone.start_s

        def sounds() -> str | None:
            for received in of_type(self._client.events[since:], "response.output_audio.delta"):
                item_id: str = received.event["item_id"]
                at_s = loudspeaker.first_audible_s(item_id)
                if at_s is not None and (at_s >= end_s or loudspeaker.silent_from_s > end_s):
                    return item_id
            return None

        with suppress(TimeoutError):
            return await self._client.until(sounds, PATIENCE_S)
        return None

    async def _talk_over(self, over: TalkOver, since: int) -> bool:
        """Say something over the reply, and return whether there was a moment for it."""
        client = self._client
        found = await self._moment(over.at, since)
        if found is None:
            return False
        item_id, at_s = found
        made = await asyncio.to_thread(self._speaker.say, over.says, over.kind == "bystander")
        await asyncio.sleep(at_s - made.start / client.microphone.rate_hz - client.clock())
        if client.loudspeaker.silent_from_s < client.clock() + LEAST_LEFT_S:
            return False
        before = len(client.events)
        said = await self._say(over.says, over.kind)
        if over.kind != "interruption" or said is None:
            await asyncio.sleep(NOTHING_CHANGES_S)
            return True
        await self._answered(before, said)
        kept = await client.kept(item_id, before)
        if kept is not None:
            self._kept[item_id] = kept
        return True

    async def _moment(self, word: str, since: int) -> tuple[str, float] | None:
        """In which item and when the agent says a word; None if it does not.

        The word is assumed to be as far into the item's sound as it is into its text.
        """
        client = self._client
        with suppress(TimeoutError):
            # Only then are its whole text and sound known.
            await client.wait_for("response.done", since, PATIENCE_S)
        for item_id, text in texts(client.events[since:]).items():
            place = text.lower().find(word.lower())
            audible_s = client.loudspeaker.first_audible_s(item_id)
            if place < 0 or audible_s is None:
                continue
            if not word:
                return item_id, audible_s + OVER_AFTER_S
            return item_id, audible_s + self._length_s(item_id) * place / len(text)
        return None

    def _length_s(self, item_id: str) -> float:
        timeline, rate_hz = self._client.loudspeaker.timeline, self._client.loudspeaker.rate_hz
        return sum(len(s.samples) for s in timeline if s.item_id == item_id) / rate_hz
