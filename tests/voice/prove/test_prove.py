"""The command: calls to a fake server and to a real one, the scorecard's two files."""

import asyncio
import json
import re
from contextlib import asynccontextmanager
from html.parser import HTMLParser
from pathlib import Path

import httpx
import numpy as np
import pytest

from tests.support.fake_realtime import FakeRealtime, tone
from tests.support.fakes import FakeParts, fake_app
from tests.support.serving import serving as served
from tests.voice.prove.test_faults import call, interrupted, take
from voice.config import Config, ServerConfig, load_config
from voice.demo.server import EMBEDDED, as_arguments, serving
from voice.errors import ConfigError
from voice.prove import __main__ as command
from voice.prove import sound
from voice.prove.doors import AnyDoor, OurDoor
from voice.prove.figures import against, scorecard
from voice.prove.judge import judge
from voice.prove.page import page
from voice.speech.tts import Voices
from voice.types import SpeechChunk

SMOKE = "timer|long-pause|interrupted|listens-along"
KEY = "QUICKSILVER_API_KEY"
TIMER = """
agent = "assistant"
[scenarios.timer]
caller = "somebody"
goal = "a timer"
lines = [{ says = "what time is it" }]
behaviour.reaction_s = 0.0
"""


def test_callers_whose_voice_is_not_installed_are_left_out(tmp_path, capsys):
    file = tmp_path / "two.toml"
    other = TIMER.replace("[scenarios.timer]", "[scenarios.other]").split("\n", 2)[2]
    file.write_text(f'{TIMER}{other}behaviour.voice = "hibari:nobody"\n')
    both = command.takes([command.load(str(file))], None, [1])
    assert [take.name for take in command.audible(both)] == ["timer"]
    told = capsys.readouterr().out
    assert told.startswith("left out  assistant/other#1: voice: got 'hibari:nobody'; expected")
    assert told.count("\n") == 1
    with pytest.raises(ConfigError, match="hibari:nobody"):
        command.audible([take for take in both if take.name == "other"])


@pytest.mark.parametrize(
    "mistake", ['recordings."what time is it" = "none.wav"', 'behaviour.noise = "none.wav"']
)
def test_a_sound_that_cannot_be_read_is_told_before_any_call(tmp_path, without_voices, mistake):
    file = tmp_path / "one.toml"
    file.write_text(f"{TIMER}{mistake}\n")
    with pytest.raises(ConfigError, match=r"assistant/timer#1: none\.wav: no sound"):
        command.audible(command.takes([command.load(str(file))], None, [1]))


class Silent:
    name, sample_rate_hz = "silent:one", 16_000

    def synthesize(self, segment, speed=1.0):
        yield SpeechChunk(segment, np.zeros(16_000, np.int16), self.sample_rate_hz, last=True)


def test_a_caller_whose_voice_makes_no_sound_is_told_of(tmp_path, monkeypatch):
    file = tmp_path / "one.toml"
    file.write_text(f'{TIMER}behaviour.voice = "silent:one"\n')
    monkeypatch.setattr(sound, "_voices", lambda: Voices({Silent.name: Silent}))
    with pytest.raises(ConfigError, match="voice: 'silent:one' makes no sound"):
        command.audible(command.takes([command.load(str(file))], None, [1]))


class Reader(HTMLParser):
    """What a page has in it."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.addresses: list[str] = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in ("meta", "br"):
            self.open.append(tag)
        self.addresses += [value for name, value in attrs if name in ("src", "href")]

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    assert reader.open == []
    return reader


def test_the_page_is_one_file_without_a_script_that_tells_all():
    judged = [
        judge(take(1), call(0.5)),
        judge(take(2), interrupted("interruption", 1.2, "all of it and much more than was heard")),
    ]
    judged[0]["goal"] = "<b>a latte</b>"
    card = scorecard("ws://example", "now", judged)
    sounds = {judged[0]["id"]: b"OggS"}
    another = {**judge(take(3), call(0.9)), "id": "of the other alone"}
    other = scorecard("ws://other", "then", [*judged, another])
    html = page(card, sounds, other, against(judged, other["conversations"]))
    page_read = read(html)
    assert "script" not in page_read.tags
    assert "b" not in page_read.tags
    assert page_read.addresses == ["data:audio/ogg;base64,T2dnUw=="]
    assert "prefers-color-scheme: dark" in html
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org)", html)
    for told in (
        "<b>a latte</b>",
        "answered after 500 ms",
        "silent after 200 ms",
        "order",
        "too few",
    ):
        assert told in page_read.text
    assert "The 2\nconversations that are in both (of 2 here and 3 there)" in page_read.text
    # Only the same conversations make curves that can be compared.
    curves = re.findall(r'<polyline class="curve-(?:one|two)" points="([^"]+)"', html)
    assert len(curves) == 2 and curves[0] == curves[1]
    assert html.count('role="img"') == html.count("aria-label") - 1


def test_turns_without_an_answer_are_part_of_those_that_might_have_been_answered():
    silent = judge(take(2), call(events=(), agent=()))
    html = page(scorecard("", "", [judge(take(1), call(0.5)), silent]), {}, None, [])
    [points] = re.findall(r'<polyline class="curve-one" points="([^"]+)"', html)
    assert points.split()[0].endswith(",220.0")
    # Half of the height, which is half of the turns.
    assert points.split()[-1].endswith(",110.0")


@pytest.fixture
def without_voices(monkeypatch):
    """Every text is half a second of a tone."""
    monkeypatch.setattr(sound, "voiced", lambda voice, text, rate: tone(0.5))


@pytest.fixture
def scenarios(tmp_path: Path) -> str:
    file = tmp_path / "mine.toml"
    file.write_text(TIMER)
    return str(file)


def test_any_server_is_called_by_the_public_api_alone(
    without_voices, scenarios, tmp_path, monkeypatch
):
    monkeypatch.setenv(KEY, "k")
    fake = FakeRealtime(transcripts=["what time is it"])

    @asynccontextmanager
    async def door_to(agent, options, config):
        async with fake.running() as url:
            options.url = url
            async with real(agent, options, config) as door:
                yield door

    real = command.door_to
    monkeypatch.setattr(command, "door_to", door_to)
    assert command.main([scenarios, "--out", str(tmp_path / "out")]) == 0
    card = json.loads((tmp_path / "out" / "scorecard.json").read_text())
    [judged] = card["conversations"]
    [turn] = judged["turns"]
    assert (turn["transcript"], turn["word_errors"]) == ("what time is it", 0)
    # 200 ms of quiet end the fake server's turns; 100 ms later its tone begins.
    assert turn["voice_to_voice_ms"] > 250
    assert judged["calls"][0]["name"] == "get_time"
    assert fake.headers[0]["Authorization"] == "Bearer k"
    assert "quicksilver" not in json.dumps(fake.received)
    session = fake.received[0]["session"]
    assert "set_timer" in {tool["name"] for tool in session["tools"]}
    assert session["instructions"]
    assert "<audio" in (tmp_path / "out" / "scorecard.html").read_text()
    # What was held is not held again, unless a kill has cut its file short.
    received = len(fake.received)
    assert command.main([scenarios, "--out", str(tmp_path / "out"), "--resume"]) == 0
    again = json.loads((tmp_path / "out" / "scorecard.json").read_text())
    assert (again["conversations"], len(fake.received)) == ([judged], received)
    assert "<audio" in (tmp_path / "out" / "scorecard.html").read_text()
    [kept] = (tmp_path / "out" / "conversations").glob("*.json")
    kept.write_text(kept.read_text()[:100])
    assert command.main([scenarios, "--out", str(tmp_path / "out"), "--resume"]) == 0
    assert len(fake.received) > received
    assert json.loads(kept.read_text())["passed"]
    # Nor is it of use once the scenario is another.
    Path(scenarios).write_text(f'{TIMER}expected.must_say = ["never"]\n')
    assert command.main([scenarios, "--out", str(tmp_path / "out"), "--resume"]) == 1


class Calling(FakeRealtime):
    """Answers with calls alone: one that was cut off, one malformed and one that is well."""

    async def _reply(self, socket, turn):
        cut = {"call_id": "a", "arguments": '{"pla', "status": "incomplete"}
        made = (cut, {"call_id": "b", "arguments": "{"}, {"call_id": "c", "arguments": "{}"})
        output = [{"type": "function_call", "name": "get_time", **call} for call in made]
        await self._send(socket, "response.done", response={"id": "r1", "output": output})


async def test_a_call_that_was_cut_off_does_not_end_the_running_of_tools():
    fake = Calling(quiet_packets=2)
    async with (
        fake.running() as url,
        AnyDoor(url, load_config()).open("assistant", np.zeros(480, np.int16)) as line,
    ):
        line.client.microphone.say(tone(0.2))
        while not any(event["type"] == "response.create" for event in fake.received):
            await asyncio.sleep(0.01)
    told = [
        event["item"] for event in fake.received if "create" in event["type"] and "item" in event
    ]
    assert [item["call_id"] for item in told] == ["b", "c"]
    assert told[0]["output"] == "The arguments are not a JSON object."
    assert told[1]["output"].startswith("It is")


@pytest.mark.parametrize("key", [None, "k"])
async def test_a_server_of_ours_is_asked_what_it_keeps_only_with_its_own_key(key, monkeypatch):
    if key:
        monkeypatch.setenv(KEY, key)
    config = Config(server=ServerConfig(port=0))
    async with served(fake_app(FakeParts(), config), config.server) as host:
        door = OurDoor(f"ws://{host}/v1/realtime", key)
        async with door.open("assistant", np.zeros(480, np.int16)) as line:
            kept = await line.store()
    assert (kept is None) == (key is None)


def test_a_mistake_is_one_line_on_standard_error(without_voices, scenarios, tmp_path, capsys):
    other = tmp_path / "other.json"
    other.write_text(json.dumps(scorecard("", "", [judge(take(1), call())])))
    for arguments, message in (
        (["nobody"], "scenarios: nobody: got an unknown name"),
        (["axes"], "scenarios: axes: got an unknown name"),
        ([scenarios, "--only", "coffee"], "leaves no conversation"),
        ([scenarios, scenarios], "assistant/timer#1: got 2 scenarios of this name"),
        ([scenarios, "--against", str(tmp_path / "none.json")], "cannot be read"),
        ([scenarios, "--against", str(other)], "no conversation in common"),
        ([scenarios, "--url", "ws://127.0.0.1:9/v1/realtime"], "Connect"),
    ):
        assert command.main(arguments) == 1
        error = capsys.readouterr().err
        assert error.startswith("error: ")
        assert error.count("\n") == 1
        assert message in error


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--most", "0"], "expected 1 or more"),
        (["--url", "127.0.0.1:7860"], "expected ws://"),
        (["--mind", "127.0.0.1:8000/v1"], "expected http://"),
    ],
)
def test_an_option_that_cannot_be_is_refused(capsys, arguments, message):
    with pytest.raises(SystemExit):
        command.main([*arguments, "--list"])
    assert message in capsys.readouterr().err


def test_what_would_be_called_is_listed(capsys):
    assert command.main(["coffee", "--list", "--axes", "--draws", "2", "--most", "10"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert len(set(listed)) == 10
    assert all(re.fullmatch(r"coffee/[\w-]+(\+\w+=[\w. ]+)?#[12]", name) for name in listed)


@pytest.mark.e2e
async def test_callers_of_a_real_server(monkeypatch, tmp_path):
    monkeypatch.setenv(KEY, "k")

    async def run(*arguments: str) -> list[dict]:
        out = tmp_path / str(len([*tmp_path.iterdir()]))
        await asyncio.to_thread(command.main, ["assistant", *arguments, "--out", str(out)])
        return json.loads((out / "scorecard.json").read_text())["conversations"]

    async with serving(as_arguments(EMBEDDED)) as server:
        url = ["--url", server.realtime_url]
        ours = await run(*url, "--ours", "--only", SMOKE, "--at-once", "2")
        any_server = await run(*url, "--only", "timer")
        async with httpx.AsyncClient(
            trust_env=False, headers={"Authorization": "Bearer k"}
        ) as http:
            kept = (await http.get(f"http://{server.host}:{server.port}/v1/callers")).json()
    assert [call["wrong"] for call in ours] == [[]] * 4
    assert [call["wrong"] for call in any_server] == [[]]
    # Nothing is left of them at the server.
    assert kept == {"callers": []}
    turns = [turn for call in ours for turn in call["turns"] if turn["kind"] == "line"]
    assert all(turn["voice_to_voice_ms"] > 0 for turn in turns)
    over = {call["scenario"]: call["over"] for call in ours}
    assert [made["stopped"] for made in over["interrupted"]] == [True]
    assert over["interrupted"][0]["unheard_words"] == 0
    assert [made["kind"] for made in over["listens-along"]] == ["backchannel"] * 2
