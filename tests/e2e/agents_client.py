"""Run by test_agents_client.py in an environment that holds openai-agents alone.

    python agents_client.py URL TIMER_PCM TIME_PCM

The two files hold spoken requests as 24 kHz 16-bit PCM. It prints one JSON object: what happened,
for the test to judge. Nothing in it knows this project.
"""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from agents import function_tool
from agents.realtime import RealtimeAgent, RealtimeRunner

RATE_HZ = 24_000
PACKET_BYTES = RATE_HZ // 50 * 2
PATIENCE_S = 180

calls: list[dict[str, str]] = []


@function_tool
def set_timer(duration: str) -> str:
    """Start a countdown timer."""
    calls.append({"duration": duration})
    return "Timer set for 10 minutes."


class Talk:
    """A session of the SDK's, and what it has told."""

    def __init__(self, session: Any) -> None:
        self.session = session
        self.kinds: list[str] = []
        self.errors: list[str] = []
        self.audio_bytes = 0
        self.changed = asyncio.Event()

    async def listen(self) -> None:
        async for event in self.session:
            self.kinds.append(event.type)
            if event.type == "audio":
                self.audio_bytes += len(event.audio.data)
            if event.type == "error":
                self.errors.append(repr(event.error))
            self.changed.set()

    async def until(self, kind: str, count: int, *, since: int = 0) -> int:
        """Until so many events of a kind have come, from a position on; that of the last."""
        async with asyncio.timeout(PATIENCE_S):
            while self.kinds[since:].count(kind) < count:
                self.changed.clear()
                await self.changed.wait()
        found = (at for at, one in enumerate(self.kinds) if one == kind and at >= since)
        return list(found)[count - 1]

    async def say(self, pcm: bytes) -> None:
        """A recording in real time, with silence around it."""
        speech = bytes(RATE_HZ // 2) + pcm + bytes(RATE_HZ * 3)
        loop = asyncio.get_running_loop()
        start = loop.time()
        for index, at in enumerate(range(0, len(speech), PACKET_BYTES)):
            await self.session.send_audio(speech[at : at + PACKET_BYTES])
            await asyncio.sleep(start + (index + 1) / 50 - loop.time())


async def main(url: str, timer: bytes, time: bytes) -> dict[str, Any]:
    agent = RealtimeAgent(name="test", instructions="Use the tools. Be brief.", tools=[set_timer])
    runner = RealtimeRunner(agent)
    key = os.environ.get("OPENAI_API_KEY", "unused")
    async with await runner.run(model_config={"url": url, "api_key": key}) as session:
        talk = Talk(session)
        listening = asyncio.create_task(talk.listen())
        speaking = asyncio.create_task(talk.say(timer))
        await talk.until("tool_end", 1)
        await talk.until("audio_end", 1)
        await speaking
        # The reply has been sent and still sounds when the user talks over it.
        await session.send_message("hello")
        await talk.until("audio_end", 2)
        speaking = asyncio.create_task(talk.say(time))
        await talk.until("audio_interrupted", 1)
        sent = await talk.until("audio_end", 3)
        # A response ends behind its sound: its message is told as completed only then.
        await talk.until("agent_end", 1, since=sent)
        await speaking
        listening.cancel()
        history = [item.model_dump() for item in session._history]
    return {
        "calls": calls,
        "kinds": talk.kinds,
        "errors": talk.errors,
        "audio_bytes": talk.audio_bytes,
        "history": history,
    }


if __name__ == "__main__":
    url, *files = sys.argv[1:]
    print(json.dumps(asyncio.run(main(url, *(Path(file).read_bytes() for file in files)))))
