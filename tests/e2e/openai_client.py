"""Run by test_openai_client.py in an environment that holds openai-python alone.

    python openai_client.py BASE_URL TIMER_PCM TIME_PCM

The two files hold spoken requests as 24 kHz 16-bit PCM. It prints one JSON object: what happened,
for the test to judge. Nothing in it knows this project.
"""

import asyncio
import base64
import json
import os
import sys
from pathlib import Path
from typing import Any

from openai import AsyncOpenAI

RATE_HZ = 24_000
PACKET_MS = 40
PATIENCE_S = 180
PACKET_BYTES = RATE_HZ * PACKET_MS // 1000 * 2
WEATHER = {
    "type": "function",
    "name": "get_weather",
    "description": "Tell the weather.",
    "parameters": {
        "type": "object",
        "properties": {"place": {"type": "string"}},
        "required": [],
    },
}


class Talk:
    """A conversation over the client's own connection object."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.events: list[Any] = []

    async def until(self, kind: str) -> list[Any]:
        """Events up to and with the next of a type."""
        events = []
        async with asyncio.timeout(PATIENCE_S):
            while True:
                event = await self.connection.recv()
                self.events.append(event)
                events.append(event)
                if event.type == kind:
                    return events

    async def type(self, text: str) -> None:
        content = [{"type": "input_text", "text": text}]
        item = {"type": "message", "role": "user", "content": content}
        await self.connection.conversation.item.create(item=item)

    async def say(self, pcm: bytes) -> None:
        """A recording in real time, with silence before and after."""
        speech = bytes(RATE_HZ) + pcm + bytes(RATE_HZ * 4)
        loop = asyncio.get_running_loop()
        start = loop.time()
        for index, at in enumerate(range(0, len(speech), PACKET_BYTES)):
            packet = base64.b64encode(speech[at : at + PACKET_BYTES]).decode()
            await self.connection.input_audio_buffer.append(audio=packet)
            await asyncio.sleep(start + (index + 1) * PACKET_MS / 1000 - loop.time())


def kinds(events: list[Any]) -> list[str]:
    return [event.type for event in events]


def only(events: list[Any], kind: str) -> Any:
    (event,) = [event for event in events if event.type == kind]
    return event


async def spoken(talk: Talk, pcm: bytes) -> dict[str, Any]:
    """A spoken turn and its reply."""
    speaking = asyncio.create_task(talk.say(pcm))
    events = await talk.until("response.done")
    await speaking
    done = events[-1].response
    completed = "conversation.item.input_audio_transcription.completed"
    deltas = [e.delta for e in events if e.type == completed.replace("completed", "delta")]
    audio = [e.delta for e in events if e.type == "response.output_audio.delta"]
    return {
        "kinds": kinds(events),
        "transcript": only(events, completed).transcript,
        "deltas": "".join(deltas),
        "status": done.status,
        "said": only(events, "response.output_audio_transcript.done").transcript,
        "audio_ms": sum(len(base64.b64decode(delta)) for delta in audio) // 48,
        "first_delta_ms": len(base64.b64decode(audio[0])) // 48,
        "item_id": done.output[0].id,
        "usage": done.usage.total_tokens,
    }


async def typed_text(client: AsyncOpenAI) -> dict[str, Any]:
    async with client.realtime.connect(model="gpt-realtime") as connection:
        talk = Talk(connection)
        await connection.session.update(
            session={"type": "realtime", "output_modalities": ["text"], "tracing": "auto"}
        )
        updated = (await talk.until("session.updated"))[-1]
        await talk.type("what is twelve times seven")
        await connection.response.create()
        done = (await talk.until("response.done"))[-1].response
        return {
            "first": talk.events[0].type,
            "model": updated.session.model,
            "modalities": updated.session.output_modalities,
            "text": done.output[0].content[0].text,
        }


async def conversation(client: AsyncOpenAI, timer: bytes, time: bytes) -> dict[str, Any]:
    async with client.realtime.connect(model="gpt-realtime") as connection:
        talk = Talk(connection)
        await connection.session.update(
            session={
                "type": "realtime",
                "audio": {
                    "input": {
                        "transcription": {"model": "gpt-4o-mini-transcribe"},
                        "turn_detection": {"type": "semantic_vad", "interrupt_response": True},
                    },
                    "output": {"voice": "ash"},
                },
            }
        )
        await talk.until("session.updated")
        first = await spoken(talk, timer)
        item_id = first["item_id"]
        await connection.conversation.item.truncate(
            item_id=item_id, content_index=0, audio_end_ms=400
        )
        await talk.until("conversation.item.truncated")
        await connection.conversation.item.retrieve(item_id=item_id)
        retrieved = (await talk.until("conversation.item.retrieved"))[-1]
        second = await spoken(talk, time)
        await connection.response.cancel(event_id="mine")
        error = (await talk.until("error"))[-1].error
        return {
            "first": first,
            "heard": retrieved.item.content[0].transcript,
            "second": second,
            "error": {"code": error.code, "event_id": error.event_id},
        }


async def function_call(client: AsyncOpenAI) -> dict[str, Any]:
    async with client.realtime.connect(model="gpt-realtime") as connection:
        talk = Talk(connection)
        await connection.session.update(
            session={
                "type": "realtime",
                "output_modalities": ["text"],
                "tools": [WEATHER],
                "tool_choice": "required",
            }
        )
        await talk.until("session.updated")
        await talk.type("what is the weather in paris")
        await connection.response.create()
        events = await talk.until("response.done")
        call = only(events, "response.function_call_arguments.done")
        result = {"type": "function_call_output", "call_id": call.call_id}
        output = "Today in Paris: light rain, 12 degrees, high 14, low 8."
        await connection.conversation.item.create(item={**result, "output": output})
        await connection.response.create(response={"tool_choice": "none"})
        done = (await talk.until("response.done"))[-1].response
        return {
            "kinds": kinds(events),
            "name": call.name,
            "arguments": json.loads(call.arguments),
            "answer": done.output[0].content[0].text,
        }


async def beside(client: AsyncOpenAI) -> dict[str, Any]:
    """Two responses out of band, in the middle of one that is spoken."""
    async with client.realtime.connect(model="gpt-realtime") as connection:
        talk = Talk(connection)
        await talk.until("session.created")
        await talk.type("what is twelve times seven")
        message_id = only(await talk.until("conversation.item.done"), "conversation.item.done")
        await connection.response.create(response={"metadata": {"topic": "spoken"}})
        await connection.response.create(
            response={
                "conversation": "none",
                "output_modalities": ["text"],
                "instructions": "Answer in one word.",
                "metadata": {"topic": "reference"},
                "input": [{"type": "item_reference", "id": message_id.item.id}],
            }
        )
        await connection.response.create(
            response={
                "conversation": "none",
                "metadata": {"topic": "pcmu"},
                "audio": {"output": {"format": {"type": "audio/pcmu"}}},
                "max_output_tokens": 5,
                "input": [{**message_id.item.to_dict(), "id": None}],
            }
        )
        events = []
        for _ in range(3):
            events += await talk.until("response.done")
        done = {
            e.response.metadata["topic"]: e.response for e in events if e.type == "response.done"
        }
        spoken_id = done["spoken"].output[0].id
        await connection.conversation.item.retrieve(item_id=done["pcmu"].output[0].id)
        error = (await talk.until("error"))[-1].error
        entered = [e.item.id for e in talk.events if e.type == "conversation.item.added"]
        return {
            "conversations": {topic: r.conversation_id is not None for topic, r in done.items()},
            "statuses": {topic: r.status for topic, r in done.items()},
            "texts": {topic: said(r) for topic, r in done.items()},
            "format": done["pcmu"].audio.output.format.type,
            "bytes_per_s": {topic: audio_rate(events, r.id) for topic, r in done.items()},
            "entered": entered == [message_id.item.id, spoken_id],
            "unknown": error.code,
        }


def said(response: Any) -> str:
    (part,) = response.output[0].content
    return part.transcript or part.text


def audio_rate(events: list[Any], response_id: str) -> int:
    """The longest piece of a response's audio, in bytes for each second of the 200 ms it lasts."""
    deltas = [
        len(base64.b64decode(e.delta))
        for e in events
        if e.type == "response.output_audio.delta" and e.response_id == response_id
    ]
    return max(deltas, default=0) * 5


async def push_to_talk(client: AsyncOpenAI, time: bytes) -> dict[str, Any]:
    """Audio, its commit and the wish for an answer in one breath; then audio as an item."""
    async with client.realtime.connect(model="gpt-realtime") as connection:
        talk = Talk(connection)
        await connection.session.update(
            session={
                "type": "realtime",
                "output_modalities": ["text"],
                "audio": {
                    "input": {"turn_detection": None, "transcription": {"model": "whisper-1"}}
                },
            }
        )
        await talk.until("session.updated")
        audio = base64.b64encode(time).decode()
        await connection.input_audio_buffer.append(audio=audio)
        await connection.input_audio_buffer.commit()
        await connection.response.create()
        committed = await talk.until("response.done")
        content = [{"type": "input_audio", "audio": audio}]
        item = {"type": "message", "role": "user", "content": content}
        await connection.conversation.item.create(item=item)
        await connection.response.create(response={"conversation": "none"})
        created = await talk.until("response.done")
        completed = "conversation.item.input_audio_transcription.completed"
        return {
            "kinds": kinds(committed),
            "transcripts": [only(found, completed).transcript for found in (committed, created)],
            "statuses": [found[-1].response.status for found in (committed, created)],
        }


async def silence(client: AsyncOpenAI) -> dict[str, Any]:
    """A user who says nothing is asked, as often as it takes."""
    async with client.realtime.connect(model="gpt-realtime") as connection:
        talk = Talk(connection)
        detection = {"type": "server_vad", "idle_timeout_ms": 1000, "prefix_padding_ms": 200}
        await connection.session.update(
            session={
                "type": "realtime",
                "output_modalities": ["text"],
                "audio": {"input": {"turn_detection": detection}},
            }
        )
        await talk.until("session.updated")
        saying = asyncio.create_task(talk.say(bytes(2 * RATE_HZ)))
        found = [await talk.until("response.done") for _ in range(2)]
        await saying
        elapsed = [only(events, "input_audio_buffer.timeout_triggered") for events in found]
        return {
            "kinds": kinds(found[1]),
            "silences_ms": [e.audio_end_ms - e.audio_start_ms for e in elapsed],
            "items": len({e.item_id for e in elapsed}),
            "texts": [said(events[-1].response) for events in found],
        }


async def main(base_url: str, timer: bytes, time: bytes) -> None:
    key = os.environ.get("OPENAI_API_KEY", "unused")
    async with AsyncOpenAI(base_url=base_url, api_key=key) as client:
        found = {
            "typed": await typed_text(client),
            "function": await function_call(client),
            "beside": await beside(client),
            "push_to_talk": await push_to_talk(client, time),
        }
        # These two last as long as what is said in them.
        found["conversation"], found["silence"] = await asyncio.gather(
            conversation(client, timer, time), silence(client)
        )
    print(json.dumps(found))


if __name__ == "__main__":
    url, *recordings = sys.argv[1:]
    asyncio.run(main(url, *(Path(recording).read_bytes() for recording in recordings)))
