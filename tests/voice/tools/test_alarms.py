from __future__ import annotations

from contextlib import aclosing, closing
from pathlib import Path

import pytest

from tests.support.patience import PATIENCE_S
from tests.voice.tools.conftest import Call
from tests.voice.tools.services import Clock
from tests.voice.tools.test_store import ASSISTANTS, conversation
from tests.voice.tools.test_timers import tell
from voice.config import ToolsConfig, TurnConfig
from voice.tools import SessionScope, Toolbox
from voice.tools.database import Database
from voice.tools.ringer import Ringer
from voice.tools.store import AlertKind, Store
from voice.types import ToolCall


@pytest.mark.parametrize(
    ("when", "answer"),
    [
        ("seven a m", "Alarm set for 7:00 AM tomorrow."),
        ("seven", "Alarm set for 7:00 PM today."),
        ("tomorrow at five", "Alarm set for 5:00 AM tomorrow."),
        ("friday at seven a m", "Alarm set for 7:00 AM on Friday, November 27."),
        ("in ten minutes", "Alarm set for 3:52 PM today."),
        ("every weekday at half past six", "Alarm set for 6:30 AM every weekday."),
        ("six thirty on mondays", "Alarm set for 6:30 AM every Monday."),
        ("tomorrow", "Error: At what time?"),
        ("blue", "Error: I could not read the time blue."),
    ],
)
async def test_alarms_are_set(call: Call, when: str, answer: str) -> None:
    assert await call("set_alarm", when=when) == answer


@pytest.mark.parametrize(
    ("said", "when", "answer"),
    [
        ("wake me at seven", "seven", "7:00 AM tomorrow"),
        ("I have to get up at half past five", "half past five", "5:30 AM tomorrow"),
        ("wake me at seven tonight", "seven tonight", "7:00 PM today"),
        ("wake me at five p m", "five p m", "5:00 PM today"),
        ("wake me from my nap at quarter to four", "quarter to four", "3:45 PM today"),
        ("set an alarm for seven", "seven", "7:00 PM today"),
        ("wake me on weekdays at six", "on weekdays at six", "6:00 AM every weekday"),
    ],
)
async def test_who_is_to_be_woken_means_the_morning(
    call: Call, scope: SessionScope, said: str, when: str, answer: str
) -> None:
    scope.said = (said,)
    assert await call("set_alarm", when=when) == f"Alarm set for {answer}."


async def test_alarms_are_listed_and_cancelled_by_their_time(call: Call) -> None:
    assert await call("list_alarms") == "No alarms are set."
    assert await call("cancel_alarm") == "Error: No alarm is set."
    await call("set_alarm", when="seven a m")
    assert await call("list_alarms") == "1 alarm: 7:00 AM tomorrow."
    await call("set_alarm", when="tomorrow at eight")
    await call("set_alarm", when="every weekday at six")
    assert await call("list_alarms") == (
        "3 alarms: 7:00 AM tomorrow; 8:00 AM tomorrow; 6:00 AM every weekday."
    )
    assert await call("cancel_alarm") == (
        "Error: Several alarms are set."
        " Which one: 7:00 AM tomorrow, 8:00 AM tomorrow or 6:00 AM every weekday?"
    )
    assert await call("cancel_alarm", when="nine") == "Error: There is no alarm for nine."
    assert await call("cancel_alarm", when="the seven o'clock alarm") == (
        "Alarm for 7:00 AM tomorrow cancelled."
    )
    assert (
        await call("cancel_alarm", when="weekday") == "Alarm for 6:00 AM every weekday cancelled."
    )
    assert await call("cancel_alarm", when="tomorrow morning") == (
        "Alarm for 8:00 AM tomorrow cancelled."
    )
    assert await call("list_alarms") == "No alarms are set."


async def test_all_alarms_are_cancelled_at_once(call: Call) -> None:
    assert await call("cancel_alarm", when="all") == "Error: No alarm is set."
    for when in ("seven a m", "eight a m"):
        await call("set_alarm", when=when)
    assert await call("cancel_alarm", when="all of my alarms") == "2 alarms cancelled."
    await call("set_alarm", when="seven a m")
    assert await call("cancel_alarm", when="all") == "Alarm for 7:00 AM tomorrow cancelled."


@pytest.mark.parametrize(
    ("when", "to", "answer"),
    [
        ("seven a m", "eight", "Alarm moved from 7:00 AM tomorrow to 8:00 AM tomorrow."),
        ("seven a m", "twenty to", "Alarm moved from 7:00 AM tomorrow to 6:40 AM tomorrow."),
        ("ten to seven a m", "twenty to", "Alarm moved from 6:50 AM tomorrow to 6:40 AM tomorrow."),
        ("six a m", "quarter past", "Alarm moved from 6:00 AM tomorrow to 6:15 AM tomorrow."),
        ("seven a m", "an hour later", "Alarm moved from 7:00 AM tomorrow to 8:00 AM tomorrow."),
        ("seven a m", "friday at six a m",
         "Alarm moved from 7:00 AM tomorrow to 6:00 AM on Friday, November 27."),
        ("every weekday at six", "saturday at nine",
         "Error: It is for 6:00 AM every weekday."
         " Say on which days to repeat it, or set another."),
        ("every friday at six", "friday at nine a m",
         "Alarm moved from 6:00 AM every Friday to 9:00 AM every Friday."),
        ("every weekday at six", "seven",
         "Alarm moved from 6:00 AM every weekday to 7:00 AM every weekday."),
        ("every weekday at six", "every day at nine p m",
         "Alarm moved from 6:00 AM every weekday to 9:00 PM every day."),
        ("every weekday at six", "seven on fridays",
         "Alarm set for 7:00 AM every Friday, and still for"
         " 6:00 AM every Monday, Tuesday, Wednesday and Thursday."),
        ("every day at six", "every weekend at nine",
         "Alarm set for 9:00 AM every weekend, and still for 6:00 AM every weekday."),
        ("seven a m", "tomorrow", "Error: At what time?"),
        ("seven a m", "green", "Error: I could not read the time green."),
    ],
)  # fmt: skip
async def test_an_alarm_is_moved(call: Call, when: str, to: str, answer: str) -> None:
    await call("set_alarm", when=when)
    assert await call("change_alarm", to=to) == answer


async def test_of_equal_alarms_either_is_taken(call: Call) -> None:
    for when in ("seven a m", "seven a m", "eight a m"):
        await call("set_alarm", when=when)
    assert (await call("cancel_alarm")).endswith("Which one: 7:00 AM tomorrow or 8:00 AM tomorrow?")
    assert await call("cancel_alarm", when="7:00 AM tomorrow") == (
        "Alarm for 7:00 AM tomorrow cancelled."
    )
    assert await call("list_alarms") == "2 alarms: 7:00 AM tomorrow; 8:00 AM tomorrow."


async def test_of_several_alarms_the_one_that_is_named_is_moved(call: Call) -> None:
    assert await call("change_alarm", to="six") == "Error: No alarm is set."
    await call("set_alarm", when="seven a m")
    await call("set_alarm", when="nine a m")
    assert (await call("change_alarm", to="six")).startswith("Error: Several alarms are set.")
    assert await call("change_alarm", when="nine", to="ten") == (
        "Alarm moved from 9:00 AM tomorrow to 10:00 AM tomorrow."
    )
    assert await call("list_alarms") == "2 alarms: 7:00 AM tomorrow; 10:00 AM tomorrow."


async def test_an_alarm_is_found_by_the_words_in_which_it_was_told(
    toolbox: Toolbox, call: Call, scope: SessionScope
) -> None:
    for when in ("eleven p m", "seven a m", "friday at seven a m", "january second at six a m"):
        await call("set_alarm", when=when)
    asked = await toolbox.run(ToolCall("c", "cancel_alarm", {}), scope)
    assert len(asked.options["when"]) == 4
    for when in asked.options["when"]:
        assert await call("cancel_alarm", when=when) == f"Alarm for {when} cancelled."


async def test_what_repeats_rings_again_after_a_restart_until_it_is_cancelled(
    tmp_path: Path, clock: Clock
) -> None:
    config = ToolsConfig(database=str(tmp_path / "voice.sqlite3"))
    scope = conversation("session")
    scope.now = clock
    box = Toolbox(config, TurnConfig(tool_timeout_s=PATIENCE_S), now=clock)
    made = ToolCall("c1", "set_alarm", {"when": "every day at six p m"})
    assert (await box.run(made, scope)).content == "Alarm set for 6:00 PM every day."
    await box.close()
    for days in range(2):
        clock.advance(hours=3 if days == 0 else 24)
        with closing(Database(config.database)) as database:
            store = Store(database, ASSISTANTS)
            async with aclosing(
                Ringer(database, clock).announcements(conversation("later"))
            ) as heard:
                assert (await anext(heard)).startswith("Your alarm was for 6:00 PM")
                await tell(heard)
            (alarm,) = store.alerts(AlertKind.ALARM)
            assert alarm.due is not None
            assert alarm.due > clock().timestamp()
    box = Toolbox(config, TurnConfig(tool_timeout_s=PATIENCE_S), now=clock)
    made = ToolCall("c2", "cancel_alarm", {})
    assert (await box.run(made, scope)).content == "Alarm for 6:00 PM every day cancelled."
    assert Store(box.database, scope.owner).alerts() == []
    await box.close()


async def test_moments_that_nobody_heard_are_told_as_one(clock: Clock) -> None:
    with closing(Database(":memory:")) as database:
        store = Store(database, ASSISTANTS)
        due = clock().timestamp() + 3600
        rule = "FREQ=DAILY;INTERVAL=1;BYHOUR=16;BYMINUTE=42;BYSECOND=0"
        store.add_alert(AlertKind.REMINDER, "stretch", due, "s", repeat=rule)
        clock.advance(days=5)
        async with aclosing(Ringer(database, clock).announcements(conversation("s"))) as heard:
            assert "stretch" in await anext(heard)
            await tell(heard)
        assert store.alerts(due_by=clock().timestamp()) == []


async def test_all_of_a_day_are_cancelled_and_both_are_two(call: Call, scope: SessionScope) -> None:
    for when in ("seven tomorrow", "nine tomorrow", "six on tuesday", "eight on wednesday"):
        await call("set_alarm", when=when)
    scope.said = ("cancel both of them",)
    assert (await call("cancel_alarm", when="both")).startswith("Error: There are 4: 7:00 AM")
    scope.said = ("cancel tomorrow's alarms, both of them",)
    assert await call("cancel_alarm", when="both") == "2 alarms cancelled."
    scope.said = ("delete all of friday's alarms",)
    assert await call("cancel_alarm", when="all") == "Error: There is none on that day."
    scope.said = ("cancel all my alarms",)
    assert await call("cancel_alarm", when="all") == "2 alarms cancelled."


ONCE = "Alarm for 7:00 AM tomorrow cancelled, and still set for 7:00 AM every day."
ALL = "Alarm for 7:00 AM every day cancelled."


@pytest.mark.parametrize(
    ("said", "when", "answer"),
    [
        ("cancel tomorrow's alarm", "", ONCE),
        ("cancel my alarm for tomorrow", "tomorrow", ONCE),
        ("I'm off tomorrow, no seven o'clock alarm", "seven o'clock", ONCE),
        ("cancel all alarms for tomorrow", "all", ONCE),
        ("cancel the alarm this weekend", "", ONCE),
        ("cancel friday's alarm", "friday",
         "Error: I can only cancel the next one, for 7:00 AM tomorrow, or the one for"
         " 7:00 AM every day."),
        ("cancel the seven o'clock alarm", "seven o'clock", ALL),
        ("the first one", "7:00 AM every day", ALL),
        ("the first one", "", ALL),
    ],
)  # fmt: skip
async def test_of_what_repeats_only_the_named_day_is_cancelled(
    call: Call, scope: SessionScope, said: str, when: str, answer: str
) -> None:
    await call("set_alarm", when="every day at seven a m")
    scope.said = (said,)
    assert await call("cancel_alarm", when=when) == answer
    left = await call("coming_up", message="is anything on on monday?")
    assert ("7:00 AM every day" in left) is (answer != ALL)
    if answer == ONCE:
        assert await call("coming_up", message="tomorrow") == "Nothing is set for tomorrow."
        await call("undo_last", message="undo that")
        assert await call("coming_up", message="tomorrow") == "1 alarm: 7:00 AM every day."


async def test_the_weekday_of_a_weekly_alarm_names_it_as_a_whole(
    call: Call, scope: SessionScope
) -> None:
    await call("set_alarm", when="every friday at seven a m")
    for said, answer in (
        ("this friday's alarm", "7:00 AM on Friday, November 27 cancelled, and still set for"
         " 7:00 AM every Friday."),
        ("the friday alarm", "7:00 AM every Friday cancelled."),
    ):  # fmt: skip
        scope.said = (f"cancel {said}",)
        assert await call("cancel_alarm") == f"Alarm for {answer}"
