from __future__ import annotations

from voice.config import load_config
from voice.demo.server import EMBEDDED
from voice.session.resources import Resources
from voice.session.typed import typing


async def test_a_typed_conversation_begins_at_ten_on_a_wednesday_at_any_hour() -> None:
    resources = Resources.load(load_config(None, [*EMBEDDED]))
    try:
        async with typing(resources.for_agent("assistant")) as talk:
            done = await talk.say("remind me tonight at eight to ring Ida")
            assert [call.name for call in done.calls] == ["set_reminder"]
            assert done.results == ("Reminder set for 8:00 PM today: ring Ida.",)
            assert (await talk.say("what day is it")).reply.startswith("Today is Wednesday")
    finally:
        await resources.close()
