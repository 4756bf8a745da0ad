"""What users are likely to say, and how names of it take the place of what sounds like them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
import soxr
from hypothesis import given, settings
from hypothesis import strategies as st

from voice.audio import Framer
from voice.config import AgentConfig, WhisperConfig, load_agent
from voice.hearing.asr.domain import Domain
from voice.hearing.asr.pronunciation import PHONES, Phones, Pronunciation, distances, in_rows
from voice.hearing.asr.repair import Repair, Token
from voice.hearing.asr.whisper import WhisperRecognizer
from voice.hearing.spoken_form import spoken_form
from voice.speech.tts.hibari import HibariSynthesizer
from voice.types import SAMPLE_RATE_HZ, Samples, Segment, ToolSpec

SHARED = Path(__file__).resolve().parents[5] / "shared" / "audio"
SHOP = AgentConfig(
    name="shop",
    instructions="",
    phrases=("a {roast} {drink} please", "with {milk}"),
    values={
        "roast": ("dark roast", "light roast"),
        "drink": ("mocha", "latte", "iced coffee"),
        "milk": ("skim milk", "two percent milk"),
    },
)


def tool(name: str, **properties: Any) -> ToolSpec:
    return ToolSpec(name, "Ask the clinic.", {"type": "object", "properties": properties})


WORDS = ["a", "dark", "rose", "ice", "coffee", "marker", "doctor", "oak", "with", "skin", "milk"]
DOCTOR = tool("bookVisit", doctor={"type": "string", "enum": ["Dr. Okafor", "Dr. Kowalski"]})


def _schemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keys = st.sampled_from(["enum", "properties", "description", "items", "x"])
    return st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3)


class TestDomain:
    def test_an_agents_file_tells_its_names_and_what_follows_what(self) -> None:
        domain = Domain.of(SHOP)
        assert "skim milk" in domain.names
        # Inside a value, between a value and another, and between a value and a word.
        assert domain.pairs >= {("dark", "roast"), ("roast", "mocha"), ("latte", "please")}
        assert domain.knows(["a", "dark", "roast", "iced", "coffee"])
        assert not domain.knows(["a", "mocha"])
        assert not domain.knows(["dark", "rose"])

    def test_tools_tell_options_names_and_descriptions(self) -> None:
        nested = {"type": "array", "items": {"enum": ["living_room", 3, None]}}
        spec = tool("bookVisit", where=nested, why={"description": "The patient's complaint"})
        domain = Domain.of(SHOP).including((spec, DOCTOR))
        assert {"Dr. Okafor", "living room", "mocha", "complaint", "clinic"} <= set(domain.names)
        assert domain.knows(["doctor", "okafor"])
        assert {"book", "visit"} <= domain.words

    def test_no_tools_change_nothing(self) -> None:
        domain = Domain.of(SHOP)
        assert domain.including(()) is domain

    def test_a_client_cannot_declare_more_than_a_decode_looks_through(self) -> None:
        options = [f"option {number}" for number in range(9000)]
        domain = Domain().including((tool("choose", what={"enum": [*options, "long " * 100]}),))
        assert len(domain.names) <= 2000
        assert max(map(len, domain.names)) <= 60

    @given(st.recursive(st.integers() | st.text(max_size=20), _schemas, max_leaves=8))
    @settings(max_examples=50)
    def test_any_schema_can_be_read(self, schema: Any) -> None:
        Domain().including((ToolSpec("a_tool", "", {"properties": schema, "enum": schema}),))


sounds = st.lists(st.integers(0, len(PHONES) - 1), min_size=1, max_size=9).map(tuple)


class TestSounds:
    @given(st.lists(st.tuples(sounds, sounds), min_size=1, max_size=6))
    @settings(max_examples=60)
    def test_many_distances_at_once_are_those_of_each_pair(
        self, pairs: list[tuple[Phones, Phones]]
    ) -> None:
        some, others = zip(*pairs, strict=True)
        together = distances(in_rows(some), in_rows(others))
        for (one, other), distance in zip(pairs, together, strict=True):
            alone = distances(in_rows([one]), in_rows([other]))[0]
            assert distance == pytest.approx(alone, abs=1e-4)
            assert distances(in_rows([other]), in_rows([one]))[0] == pytest.approx(alone, abs=1e-4)
            assert (one == other) == (distance < 1e-4)

    def test_likeness(self, pronunciation: Pronunciation) -> None:
        def apart(one: str, other: str) -> float:
            rows = [in_rows([pronunciation.of(text.split())]) for text in (one, other)]
            return float(distances(*rows)[0])

        assert apart("a maricano", "americano") < 0.5 < apart("a maricano", "macchiato")
        assert apart("mocker", "mocha") < apart("mocker", "latte")
        assert apart("ockerfer", "okafor") < apart("ockerfer", "doctor")


@pytest.fixture(scope="module")
def pronunciation() -> Pronunciation:
    return Pronunciation()


@pytest.fixture(scope="module")
def repair(pronunciation: Pronunciation) -> Repair:
    domain = Domain.of(SHOP).including((DOCTOR,))
    return Repair(domain, pronunciation, lambda word: word in ("please", "rose", "milk"))


def judging(**likely: float) -> Callable[[str], Sequence[Token]]:
    """Each word is a token; those that are not named have the log probability -1."""

    def judge(text: str) -> list[Token]:
        ends = [at for at in range(1, len(text) + 1) if text[at : at + 1] in ("", " ")]
        starts = [0, *ends]
        words = [text[a:b].strip(" .,?").lower() for a, b in zip(starts, ends, strict=False)]
        return [(end, likely.get(word, -1.0)) for word, end in zip(words, ends, strict=True)]

    return judge


class TestRepair:
    def test_a_name_takes_the_place_of_what_sounds_like_it(self, repair: Repair) -> None:
        heard = repair("A dark rose latte with skin milk, please.", judging())
        assert heard == "A dark roast latte with skim milk, please."

    def test_the_rest_of_a_written_word_stays(self, repair: Repair) -> None:
        assert repair("A dark-rose mocha.", judging()) == "A dark roast mocha."

    def test_a_clients_name_is_written_as_the_client_writes_it(self, repair: Repair) -> None:
        assert repair("May I see Dr. Ockerfer?", judging()) == "May I see Dr. Okafor?"

    def test_what_was_heard_clearly_stays(self, repair: Repair) -> None:
        clear = judging(dark=-0.0001, rose=-0.0001, roast=-12.0)
        assert repair("A dark rose latte.", clear) == "A dark rose latte."

    def test_what_the_domain_knows_is_left_alone(self, repair: Repair) -> None:
        def never(text: str) -> list[Token]:
            raise AssertionError(text)

        assert repair("a light roast latte please", never) == "a light roast latte please"
        assert repair("", never) == ""

    def test_a_number_stays_as_it_was_heard(self, repair: Repair) -> None:
        assert (
            repair("A mocha with new percent milk.", judging()) == "A mocha with new percent milk."
        )

    def test_an_ordinary_word_needs_neighbours_to_become_a_short_name(self, repair: Repair) -> None:
        assert repair("I met her at the marker", judging()) == "I met her at the marker"

    @pytest.mark.parametrize(
        ("heard", "other", "score", "taken"),
        [
            ("A dark rose mocha.", "A dark roast mocha.", -4.0, True),
            # What was heard clearly.
            ("A dark rose mocha.", "A dark roast mocha.", -20.0, False),
            # What is said of something else, and what is not of the domain either.
            ("My aunt rose late, please.", "A light roast latte please.", -4.0, False),
            ("A dark rose on my grave.", "A dark roast on my gravel.", -2.0, False),
            # The same, said twice.
            ("With skim milk.", "With skim milk. With skim milk.", -2.0, False),
        ],
    )
    def test_a_wording_that_the_domain_knows_is_likelier_than_it_sounds(
        self, repair: Repair, heard: str, other: str, score: float, taken: bool
    ) -> None:
        assert repair.likeliest([(heard, -1.0), (other, score)]) == (other if taken else heard)

    @given(st.text(max_size=60) | st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join))
    @settings(max_examples=150)
    def test_only_names_are_put_in(self, repair: Repair, text: str) -> None:
        before, after = spoken_form(text).split(), spoken_form(repair(text, judging())).split()
        assert {*after} - {*before} <= Domain.of(SHOP).including((DOCTOR,)).words

    @given(st.lists(st.sampled_from(WORDS), max_size=9))
    @settings(max_examples=100)
    def test_whoever_is_sure_is_believed(self, repair: Repair, words: list[str]) -> None:
        sure = judging(**dict.fromkeys(words, -1e-7))
        assert repair(" ".join(words), sure) == " ".join(words)


@pytest.fixture(scope="module")
def whisper() -> WhisperRecognizer:
    return WhisperRecognizer(WhisperConfig(device="cpu", interim_ms=5000))


def heard(whisper: WhisperRecognizer, audio: Samples, domain: Domain) -> str:
    stream = whisper.open(1, domain)
    for frame in Framer().push(audio):
        stream.accept(frame)
    return stream.finish().text


class TestRealWhisper:
    def test_a_tools_name_is_heard(self, whisper: WhisperRecognizer) -> None:
        text = "Can I see Doctor Okafor tomorrow?"
        chunks = HibariSynthesizer().synthesize(Segment(1, 0, text, text))
        said = np.concatenate([chunk.samples for chunk in chunks])
        audio = np.round(soxr.resample(said, 24_000, SAMPLE_RATE_HZ)).astype(np.int16)
        assert "okafor" not in heard(whisper, audio, Domain())
        assert "doctor okafor" in heard(whisper, audio, Domain().including((DOCTOR,)))

    @pytest.mark.parametrize(
        ("recording", "expected"),
        [
            ("orders-more/order-074", "dark roast"),
            ("orders-more/order-045", "iced mocha"),
            ("orders-more/order-300", "americano"),  # "tomato"
        ],
    )
    def test_a_menus_words_are_heard(
        self, whisper: WhisperRecognizer, recording: str, expected: str
    ) -> None:
        audio = recorded(recording)
        assert expected not in heard(whisper, audio, Domain())
        assert expected in heard(whisper, audio, Domain.of(load_agent("coffee")))

    def test_read_sentences_stay(self, whisper: WhisperRecognizer) -> None:
        rows = [json.loads(line) for line in manifest().read_text().splitlines()]
        aside = json.loads(PUT_ASIDE.read_text())
        read = [row["audio"] for row in rows if row["audio"] not in aside and row["kind"] == "read"]
        domain = Domain.of(load_agent("coffee"))
        for name in read[:2]:
            audio = recorded(name.removesuffix(".flac"))
            assert heard(whisper, audio, domain) == heard(whisper, audio, Domain())


PUT_ASIDE = Path(__file__).resolve().parents[4] / "benchmarks" / "voice" / "put_aside.json"


def manifest() -> Path:
    file = SHARED / "manifest.jsonl"
    if not file.is_file():
        pytest.skip(f"needs recordings of people in {SHARED}")
    return file


def recorded(name: str) -> Samples:
    file = SHARED / f"{name}.flac"
    if not file.is_file():
        pytest.skip(f"needs recordings of people in {SHARED}")
    audio, _ = soundfile.read(file, dtype="int16")
    return np.asarray(audio, np.int16)
