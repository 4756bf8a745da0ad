import asyncio
import json
import math

import pytest

from voice.realtime.connection import AUDIO_DELTA, Outbox, SlowClient


def audio(response_id: str) -> dict[str, str]:
    return {"type": AUDIO_DELTA, "response_id": response_id, "delta": "AAAA"}


async def drain(outbox: Outbox) -> list[dict[str, str]]:
    outbox.close()
    messages = []
    while (text := await outbox.get()) is not None:
        messages.append(json.loads(text))
    return messages


async def test_messages_come_in_order_and_then_none() -> None:
    outbox = Outbox()
    outbox.put([{"type": "a"}, {"type": "b"}])
    assert await drain(outbox) == [{"type": "a"}, {"type": "b"}]
    outbox.put([{"type": "late"}])
    assert await outbox.get() is None


async def test_a_reader_waits() -> None:
    outbox = Outbox()
    reader = asyncio.create_task(outbox.get())
    await asyncio.sleep(0)
    assert not reader.done()
    outbox.put([{"type": "a"}])
    assert await reader == '{"type":"a"}'
    reader = asyncio.create_task(outbox.get())
    await asyncio.sleep(0)
    outbox.close()
    assert await reader is None


async def test_stale_audio_is_dropped_and_nothing_else() -> None:
    outbox = Outbox()
    outbox.put([{"type": "a"}, audio("r1"), audio("r2"), {"type": "b"}])
    outbox.drop_audio("r1".__eq__)
    outbox.put([audio("r1")])
    assert await drain(outbox) == [{"type": "a"}, audio("r2"), {"type": "b"}, audio("r1")]


async def test_all_audio_can_be_dropped() -> None:
    outbox = Outbox()
    outbox.put([audio("r1"), {"type": "a"}, audio("r2")])
    outbox.drop_audio(lambda _: True)
    assert await drain(outbox) == [{"type": "a"}]


async def test_it_is_bounded() -> None:
    outbox = Outbox(max_bytes=250)
    outbox.put([audio("r1"), audio("r1")])
    outbox.drop_audio(lambda _: True)
    outbox.put([audio("r2"), audio("r2")])
    await outbox.get()
    outbox.put([audio("r2")])
    with pytest.raises(SlowClient):
        outbox.put([audio("r2"), audio("r2")])


async def test_text_that_is_no_unicode_can_still_be_sent() -> None:
    outbox = Outbox()
    outbox.put([{"type": "a", "text": "\ud800 ü"}])
    assert (await outbox.get() or "").encode() == b'{"type":"a","text":"\\ud800 \\u00fc"}'


async def test_what_is_sent_is_always_json() -> None:
    outbox = Outbox()
    outbox.put([{"type": "a", "arguments": {"x": [math.inf, 1.5], "y": math.nan}}])
    outbox.close()
    text = await outbox.get()
    assert text == '{"type":"a","arguments":{"x":[null,1.5],"y":null}}'
