from __future__ import annotations

import asyncio

from voice.session.resources import Resources
from voice.session.typed import typing


async def test_a_typed_conversation_begins_at_ten_on_a_wednesday_at_any_hour(
    embedded_parts: Resources,
) -> None:
    async with typing(embedded_parts) as talk:
        done = await talk.say("remind me tonight at eight to ring Ida")
        assert [call.name for call in done.calls] == ["set_reminder"]
        assert done.results == ("Reminder set for 8:00 PM today: ring Ida.",)
        assert (await talk.say("what day is it")).reply.startswith("Today is Wednesday")


async def test_behind_the_end_of_a_typed_conversation_there_is_no_answer(
    embedded_parts: Resources,
) -> None:
    async with typing(embedded_parts) as talk:
        assert (await talk.say("goodbye")).reply == "Goodbye."
        while not talk.ended:
            await asyncio.sleep(0)
        late = await talk.say("are you there")
        assert (late.reply, late.ended) == ("", True)
