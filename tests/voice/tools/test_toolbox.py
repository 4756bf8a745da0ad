from __future__ import annotations

import asyncio
import logging
import sys
import threading
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.support.patience import PATIENCE_S
from tests.voice.tools.services import NOW, Clock, closed_url, config_at
from voice.config import ToolsConfig, TurnConfig
from voice.errors import ConfigError
from voice.tools import Progress, SessionScope, Toolbox, tool
from voice.tools.builtin.house import MemoryHouse
from voice.tools.registry import ToolError
from voice.types import ToolCall

RELEASE = threading.Event()
COUNTS = {"counted": 0, "slow": 0}


@tool(read_only=True)
def shout(word: str) -> str:
    """Shout a word."""
    return word.upper()


@tool(read_only=True)
async def recite() -> str:
    """Recite something long."""
    return "word " * 1000


@tool()
def counted(*, scope: SessionScope) -> str:
    """Count the calls."""
    COUNTS["counted"] += 1
    return f"{COUNTS['counted']} in {scope.session_id}"


@tool()
async def slow() -> str:
    """Take a moment."""
    COUNTS["slow"] += 1
    await asyncio.sleep(0.05)
    return f"done {COUNTS['slow']}"


@tool()
def stuck() -> str:
    """Hang in a thread."""
    RELEASE.wait(10)
    return "too late"


@tool(read_only=True)
async def hang() -> str:
    """Hang on the loop."""
    await asyncio.Event().wait()
    return "never"


@tool()
def stepwise(*, progress: Progress) -> str:
    """Work in two steps."""
    progress.report("Half of it is done.")
    return "Done."


@tool()
def broken(word: str) -> str:
    """Fail."""
    raise RuntimeError(f"no such word: {word}")


@tool()
def leave() -> str:
    """Leave the program."""
    sys.exit(3)


@tool()
async def leave_softly() -> str:
    """Leave the program from the loop."""
    sys.exit(3)


@tool()
def press_control_c() -> str:
    """Interrupt the program."""
    raise KeyboardInterrupt


@tool()
def find_nothing() -> str:
    """Look for the first of none."""
    return next(iter(()))


@tool(read_only=True)
def halve(word: str) -> str:
    """Cut a character in two."""
    if word == "badly":
        raise ToolError("No half \ud83d is left.")
    return "half \ud83d a smile"


@pytest.fixture
async def box(monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Toolbox, None]:
    monkeypatch.setattr(sys.modules[__name__], "COUNTS", {"counted": 0, "slow": 0})
    RELEASE.clear()
    config = ToolsConfig(database=":memory:", modules=(__name__,), result_max_chars=80)
    box = Toolbox(config, TurnConfig(tool_timeout_s=0.3), now=Clock())
    yield box
    RELEASE.set()
    await box.close()


async def run(box: Toolbox, name: str, call_id: str = "c", session: str = "s", **args: Any) -> str:
    result = await box.run(ToolCall(call_id, name, args), SessionScope(session))
    assert (result.call_id, result.name) == (call_id, name)
    assert result.error == result.content.startswith("Error: ")
    return result.content


async def test_a_configured_modules_functions_are_tools(box: Toolbox) -> None:
    assert "shout" in box.names
    assert box.specs(["shout"])[0].parameters["required"] == ["word"]
    assert await run(box, "shout", word="hey") == "HEY"


def test_specs_come_in_the_order_asked_for(toolbox: Toolbox) -> None:
    assert [spec.name for spec in toolbox.specs(["set_timer", "get_time"])] == [
        "set_timer",
        "get_time",
    ]


def test_an_unknown_tool_is_an_error_with_a_suggestion(toolbox: Toolbox) -> None:
    with pytest.raises(ConfigError, match=r"'set_timr'.*did you mean 'set_timer'"):
        toolbox.specs(["set_timr"])
    with pytest.raises(ConfigError, match=r"'zzz'.*expected one of .*'calculate'"):
        toolbox.specs(["zzz"])


async def test_what_cannot_be_run_is_told_in_words(box: Toolbox) -> None:
    assert await run(box, "dance") == "Error: There is no tool dance."
    assert await run(box, "shout") == "Error: The word is missing."
    assert (
        await run(box, "shout", word="a", volume="11") == "Error: The shout tool takes no volume."
    )


async def test_a_long_result_is_cut_at_a_word(box: Toolbox) -> None:
    content = await run(box, "recite")
    assert len(content) <= 80
    assert content.endswith("word…")


@pytest.mark.parametrize("name", ["stuck", "hang"])
async def test_a_tool_that_hangs_is_given_up_on(box: Toolbox, name: str) -> None:
    async with asyncio.timeout(PATIENCE_S):
        assert await run(box, name) == f"Error: The {name} tool took too long."


async def test_a_tool_that_fails_is_logged_without_the_users_words(
    box: Toolbox, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        assert await run(box, "broken", word="swordfish") == "Error: The broken tool failed."
    assert "broken: RuntimeError at" in caplog.text
    assert "swordfish" not in caplog.text


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("leave", "SystemExit"),
        ("leave_softly", "SystemExit"),
        ("press_control_c", "KeyboardInterrupt"),
        ("find_nothing", "StopIteration"),
    ],
)
async def test_a_tool_cannot_end_the_program_nor_break_the_loop(
    box: Toolbox, name: str, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert await run(box, name) == f"Error: The {name.replace('_', ' ')} tool failed."
    assert f"{name}: {kind} at {__file__}" in caplog.text
    assert await run(box, "shout", word="hey") == "HEY"


async def test_a_result_can_always_be_encoded(box: Toolbox) -> None:
    assert await run(box, "halve", word="well") == "half ? a smile"
    assert await run(box, "halve", word="badly") == "Error: No half ? is left."


async def test_a_call_with_side_effects_runs_once_for_its_id(box: Toolbox) -> None:
    assert await run(box, "counted", "first") == "1 in s"
    assert await run(box, "counted", "first") == "1 in s"
    assert await run(box, "counted", "second") == "2 in s"
    assert await run(box, "counted", "first", session="other") == "3 in other"


async def test_a_repeated_call_waits_for_the_first(box: Toolbox) -> None:
    answers = await asyncio.gather(*(run(box, "slow", "same") for _ in range(3)))
    assert answers == ["done 1"] * 3


async def test_an_interrupted_call_is_finished_and_answers_later(box: Toolbox) -> None:
    interrupted = asyncio.create_task(run(box, "slow", "booking"))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    interrupted.cancel()
    with pytest.raises(asyncio.CancelledError):
        await interrupted
    assert await run(box, "slow", "booking") == "done 1"


async def test_a_read_only_call_is_cancelled_with_its_caller(box: Toolbox) -> None:
    waiting = asyncio.create_task(run(box, "hang"))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_a_key_answers_a_repeated_call_under_its_own_id(box: Toolbox) -> None:
    scope = SessionScope("s")
    first = await box.run(ToolCall("a", "counted", {}), scope, "request/counted")
    again = await box.run(ToolCall("b", "counted", {}), scope, "request/counted")
    other = await box.run(ToolCall("c", "counted", {}), scope, "another/counted")
    assert [r.call_id for r in (first, again, other)] == ["a", "b", "c"]
    assert [r.content for r in (first, again, other)] == ["1 in s", "1 in s", "2 in s"]


async def test_what_changes_something_goes_on_behind_its_time(box: Toolbox) -> None:
    call, scope = ToolCall("a", "stuck", {}), SessionScope("s")
    late = await box.run(call, scope)
    assert (late.error, late.unfinished) == (True, True)
    RELEASE.set()
    outcome = await box.outcome(call, scope)
    assert (outcome.content, outcome.error, outcome.unfinished) == ("too late", False, False)


async def test_what_may_be_cancelled_is_cancelled_and_says_so(box: Toolbox) -> None:
    call, scope = ToolCall("a", "slow", {}), SessionScope("s")
    running = asyncio.create_task(box.run(call, scope, "key"))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    box.cancel(scope, "key")
    result = await running
    assert (result.content, result.error) == ("Error: The slow tool was stopped.", True)


async def test_a_tool_that_asks_for_it_can_tell_its_progress(box: Toolbox) -> None:
    told: list[str] = []
    call = ToolCall("a", "stepwise", {})
    result = await box.run(call, SessionScope("s"), progress=Progress(told.append))
    assert (result.content, told) == ("Done.", ["Half of it is done."])


async def test_the_duration_is_measured(box: Toolbox) -> None:
    result = await box.run(ToolCall("c", "slow", {}), SessionScope("s"))
    assert 40 < result.duration_ms < 300


async def test_conversations_run_tools_side_by_side(toolbox: Toolbox) -> None:
    scopes = [SessionScope(f"s{n}", now=Clock()) for n in range(8)]
    calls = [ToolCall("c", "add_to_list", {"item": f"thing{n}"}) for n in range(8)]
    pairs = zip(calls, scopes, strict=True)
    results = await asyncio.gather(*(toolbox.run(call, scope) for call, scope in pairs))
    assert [result.content for result in results] == [
        f"Added thing{n} to the shopping list." for n in range(8)
    ]
    assert len(toolbox.store.items("shopping")) == 8


async def test_network_tools_say_so_at_once_without_a_network() -> None:
    box = Toolbox(config_at(closed_url()), TurnConfig(), now=Clock())
    scope = SessionScope("s", now=Clock())
    calls = {
        "get_weather": {"place": "paris"},
        "convert_currency": {"amount": "ten", "from_currency": "euros", "to_currency": "yen"},
        "get_stock_price": {"company": "apple"},
    }
    for name, arguments in calls.items():
        result = await box.run(ToolCall(name, name, arguments), scope)
        assert result.content.endswith("service cannot be reached.")
        assert result.error
        assert result.duration_ms < 2000
    await box.close()


async def test_lists_and_timers_survive_a_restart(tmp_path: Path) -> None:
    config = ToolsConfig(database=str(tmp_path / "voice.sqlite3"))
    scope = SessionScope("s", now=Clock())
    for name, arguments, answer in (
        ("set_timer", {"duration": "ten minutes"}, "Timer set for 10 minutes."),
        ("list_timers", {}, "1 timer: 10 minutes left."),
    ):
        box = Toolbox(config, TurnConfig(), now=Clock())
        assert (await box.run(ToolCall("c", name, arguments), scope)).content == answer
        await box.close()


async def test_a_ringing_timer_is_heard_where_it_was_set(toolbox: Toolbox, clock: Clock) -> None:
    scope = SessionScope("s", now=clock)
    await toolbox.run(ToolCall("c", "set_timer", {"duration": "one minute"}), scope)
    clock.advance(minutes=1)
    heard = toolbox.ringer.announcements("s")
    assert await anext(heard) == "Your 1 minute timer is done."
    await heard.aclose()


def module_with(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> str:
    module = ModuleType("tools_for_a_test")
    function.__module__ = module.__name__
    setattr(module, function.__name__, function)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module.__name__


def test_two_tools_of_one_name_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    @tool()
    def set_timer(duration: str) -> str:
        """Start another timer."""
        return duration

    name = module_with(set_timer, monkeypatch)
    with pytest.raises(ConfigError, match=r"tools_for_a_test: got a second tool named 'set_timer'"):
        Toolbox(ToolsConfig(database=":memory:", modules=(name,)), TurnConfig())


def test_a_parameter_that_nobody_provides_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    @tool()
    def paint(*, brush: Path) -> str:
        """Paint."""
        return str(brush)

    name = module_with(paint, monkeypatch)
    with pytest.raises(ConfigError, match=r"paint: brush: got the type .*Path.*SessionScope"):
        Toolbox(ToolsConfig(database=":memory:", modules=(name,)), TurnConfig())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"modules": ("no_such_module",)}, "cannot import 'no_such_module': ModuleNotFoundError"),
        ({"modules": ("",)}, "tools.modules: cannot import ''"),
        ({"modules": (".near",)}, "tools.modules: cannot import '.near'"),
        ({"documents_dir": "/no/such/folder"}, "documents_dir.*no folder"),
        ({"documents_dir": "~nobody-of-that-name/docs"}, "documents_dir: cannot use '~nobody"),
        ({"home_assistant_url": "http://house"}, "home_assistant_token_env"),
    ],
)
def test_wrong_options_are_named(
    options: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HOME_ASSISTANT_TOKEN", raising=False)
    with pytest.raises(ConfigError, match=message):
        Toolbox(ToolsConfig.model_validate({"database": ":memory:", **options}), TurnConfig())


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def f(:", "'tools_of_mine': SyntaxError: invalid syntax"),
        ("undefined", "'tools_of_mine': NameError: name 'undefined' is not defined"),
        ("raise SystemExit('usage')", "'tools_of_mine': SystemExit: usage"),
        ("raise ValueError('one\\ntwo')", "'tools_of_mine': ValueError: one$"),
    ],
)
def test_a_module_that_does_not_load_is_named(
    source: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tools_of_mine.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match=message):
        Toolbox(ToolsConfig(database=":memory:", modules=("tools_of_mine",)), TurnConfig())


async def test_a_house_may_be_given() -> None:
    house = MemoryHouse()
    box = Toolbox(ToolsConfig(database=":memory:"), TurnConfig(), house=house)
    scope = SessionScope("s", now=lambda: NOW)
    await box.run(ToolCall("c", "set_device", {"device": "fan", "state": "on"}), scope)
    assert {device.name: device.state for device in await house.devices()}["bedroom fan"] == "on"
    await box.close()
    await box.close()
