from __future__ import annotations

import asyncio
import logging
import sys
import threading
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.patience import PATIENCE_S
from tests.voice.tools.services import Clock
from voice.config import ToolsConfig, TurnConfig
from voice.errors import ConfigError
from voice.tools import Noted, Progress, SessionScope, Toolbox, tool
from voice.tools.registry import Asked, ToolError
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
    RELEASE.wait(PATIENCE_S)
    return "too late"


def _fails(said: Mapping[str, Any], *, scope: SessionScope) -> str:
    if scope.said:
        raise ToolError("Which one?")
    return str(said["missing"])


@tool(asked=Asked(_fails, lambda message: bool(1 / len(message))))
def wipe() -> str:
    """Wipe it all."""
    return "Wiped."


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
async def leave_softly() -> str:
    """Leave the program from the loop."""
    sys.exit(3)


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


@tool(read_only=True)
def note_word(word: str) -> Noted:
    """Note a word under a name that is no argument."""
    return Noted("Noted.", {"owner": word})


@tool()
def ring_bell() -> None:
    """Ring the bell."""


@tool()
async def ring_bell_softly() -> None:
    """Ring the bell on the loop."""


@tool(read_only=True)
def survey(size: int) -> dict[str, object]:
    """Look at something."""
    return {"depth": 3, "notes": ["it is wide"] * size}


SHORT = pytest.mark.parametrize("box", [0.3], indirect=True, ids=["short"])


@pytest.fixture
async def box(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[Toolbox, None]:
    """One that waits for a tool as long as a test does, or as the mark says."""
    monkeypatch.setattr(sys.modules[__name__], "COUNTS", {"counted": 0, "slow": 0})
    RELEASE.clear()
    config = ToolsConfig(database=":memory:", modules=(__name__,), result_max_chars=80)
    turn = TurnConfig(tool_timeout_s=getattr(request, "param", PATIENCE_S))
    box = Toolbox(config, turn, now=Clock())
    yield box
    RELEASE.set()
    await box.close()


async def run(box: Toolbox, name: str, call_id: str = "c", session: str = "s", **args: Any) -> str:
    result = await box.run(ToolCall(call_id, name, args), SessionScope(session))
    assert (result.call_id, result.name) == (call_id, name)
    assert result.error == result.content.startswith("Error: ")
    return result.content


async def test_where_the_question_of_a_tool_fails_another_is_asked(box: Toolbox) -> None:
    scope = SessionScope("s")
    confirmation = box.specs(["wipe"], scope)[0].confirmation
    assert confirmation is not None
    assert confirmation.question({}) == "Shall I do that?"
    assert confirmation.plainly("") is False
    scope.said = ("wipe it",)
    assert confirmation.question({}) == "Which one?"


async def test_a_configured_modules_functions_are_tools(box: Toolbox) -> None:
    assert [spec.name for spec in box.specs(["shout", "get_time"])] == ["shout", "get_time"]
    assert box.is_read_only("shout")
    assert not box.is_read_only("counted")
    assert not box.is_read_only("dance")
    assert await run(box, "shout", word="hey") == "HEY"
    assert await run(box, "shout") == "Error: The word is missing."
    assert await run(box, "dance") == "Error: There is no tool dance."
    for name in ("ring_bell", "ring_bell_softly"):
        assert await run(box, name, call_id=name) == ""


def test_an_unknown_tool_is_an_error_with_a_suggestion(toolbox: Toolbox) -> None:
    with pytest.raises(ConfigError, match=r"'set_timr'.*did you mean 'set_timer'"):
        toolbox.specs(["set_timr"])
    with pytest.raises(ConfigError, match=r"'zzz'.*expected one of .*'calculate'"):
        toolbox.specs(["zzz"])


async def test_a_long_result_is_cut_at_a_word(box: Toolbox) -> None:
    content = await run(box, "recite")
    assert len(content) <= 80
    assert content.endswith("word…")


async def test_what_is_no_text_is_json_and_in_sentences_where_that_is_too_long(
    box: Toolbox,
) -> None:
    assert await run(box, "survey", size=1) == '{"depth":3,"notes":["it is wide"]}'
    assert await run(box, "survey", "c2", size=9) == (
        "The depth is 3. 9 notes, the first 3: it is wide, it is wide and it is wide."
    )


@SHORT
async def test_a_tool_that_hangs_is_given_up_on(box: Toolbox) -> None:
    async with asyncio.timeout(PATIENCE_S):
        assert await run(box, "hang") == "Error: The hang tool took too long."


async def test_a_noted_value_that_is_no_argument_is_logged(
    box: Toolbox, caplog: pytest.LogCaptureFixture
) -> None:
    assert await run(box, "note_word", word="swordfish") == "Noted."
    assert "note_word: Noted has ['owner']" in caplog.text and "['word']" in caplog.text
    assert "swordfish" not in caplog.text


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
        ("leave_softly", "SystemExit"),
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


async def test_a_key_answers_a_repeated_call_under_its_own_id(box: Toolbox) -> None:
    scope = SessionScope("s")
    assert await run(box, "counted", "x") == await run(box, "counted", "x") == "1 in s"
    assert await run(box, "counted", "x", session="other") == "2 in other"
    first = await box.run(ToolCall("a", "counted", {}), scope, "request/counted")
    again = await box.run(ToolCall("b", "counted", {}), scope, "request/counted")
    other = await box.run(ToolCall("c", "counted", {}), scope, "another/counted")
    assert [r.call_id for r in (first, again, other)] == ["a", "b", "c"]
    assert [r.content for r in (first, again, other)] == ["3 in s", "3 in s", "4 in s"]


@SHORT
async def test_what_changes_something_goes_on_behind_its_time(box: Toolbox) -> None:
    call, scope = ToolCall("a", "stuck", {}), SessionScope("s")
    late = await box.run(call, scope)
    assert (late.error, late.unfinished) == (False, True)
    assert late.content == "The stuck tool is still at work. I will tell you when it is done."
    RELEASE.set()
    outcome = await box.outcome(call, scope)
    assert (outcome.content, outcome.error, outcome.unfinished) == ("too late", False, False)


async def test_a_tool_that_asks_for_it_can_tell_its_progress(box: Toolbox) -> None:
    told: list[str] = []
    call = ToolCall("a", "stepwise", {})
    result = await box.run(call, SessionScope("s"), progress=Progress(told.append))
    assert (result.content, told) == ("Done.", ["Half of it is done."])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"modules": ("no_such_module",)}, "cannot import 'no_such_module': ModuleNotFoundError"),
        ({"modules": (".near",)}, "tools.modules: cannot import '.near'"),
        ({"documents_dir": "/no/such/folder"}, "documents_dir.*no folder"),
        ({"documents_dir": "no-such"}, f"documents_dir: {Path('no-such').absolute()} is no folder"),
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
        ("def f(:", "SyntaxError: invalid syntax"),
        ("raise SystemExit('usage')", "SystemExit: usage"),
        ("raise ValueError('one\\ntwo')", "ValueError: one$"),
        ("@tool()\ndef set_timer(): 'Start it.'", "a second tool named 'set_timer'"),
        ("@tool\ndef bare(): 'Do it.'", "TypeError: bare: got @tool without .* write @tool\\(\\)"),
        ("@tool()\ndef mute(word: str): ...", "mute: got no docstring"),
        ("@tool()\ndef vague(word): 'Say it.'", "vague: parameter word has no type hint"),
        ("@tool()\ndef lost(word: 'Nowhere'): 'Say it.'", "lost: .*'Nowhere' is not defined"),
        ("@tool()\ndef own(it: object()): 'Take it.'", "own: .*expected a type that JSON has"),
        (
            "from voice.tools import SessionScope as S\n@tool()\ndef f(a: str, s: S): 'Do it.'",
            r"tool f: got s: voice\.tools\.scope\.SessionScope, which cannot .* place behind \*",
        ),
        (
            "@tool()\ndef two(): 'One.'\n@tool()\ndef two(): 'Two.'",
            r"ValueError: two: got a second tool of this name; the first is in .*\.py, line 2",
        ),
        ("@tool()\ndef hidden(_word: str): 'Say it.'", "hidden: got parameter _word"),
        ("@tool(cancellable=True)\ndef burn(): 'Burn.'", "burn: got cancellable"),
        ("@tool()\ndef paint(*, by: bytes): 'Paint.'", "paint: by: got the type .*SessionScope"),
    ],
)
def test_a_module_that_cannot_be_used_is_named(
    source: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = tmp_path.name
    (tmp_path / f"{name}.py").write_text(f"from voice.tools import tool\n{source}\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match=message) as refused:
        Toolbox(ToolsConfig(database=":memory:", modules=(name,)), TurnConfig())
    assert "\n" not in str(refused.value)
