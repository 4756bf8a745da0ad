from __future__ import annotations

import re
import time
import tomllib
from pathlib import Path

import pytest

from benchmarks.voice.everyday import read
from voice.config import AgentConfig, load_agent
from voice.config.moments import LONGEST_TEXT, Moment, Moments, ShippedMoments, plain_words
from voice.errors import ConfigError
from voice.speech.normalization import spoken

SENTENCES = tomllib.loads(Path(__file__).with_name("moments.toml").read_text(encoding="utf-8"))
KINDS = ["emergency", "self_harm", "abuse", "rudeness", "person"]


@pytest.fixture(scope="module", params=["assistant", "coffee"])
def agent(request: pytest.FixtureRequest) -> AgentConfig:
    return load_agent(request.param)


@pytest.fixture(scope="module")
def moments() -> Moments:
    return load_agent("assistant").fixed_words


@pytest.mark.parametrize("sentence", SENTENCES["fixed"])
def test_messages_that_bring_fixed_words(moments: Moments, sentence: str) -> None:
    assert moments.name_of(sentence)


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("smoke keeps coming under the bedroom door and the handle is hot", "emergency"),
        ("granny slipped on the stairs she's awake but her leg is bent the wrong way", "emergency"),
        ("i have been cutting again and i can't stop", "self_harm"),
        ("he checks my phone and slaps me if i talk to anyone", "abuse"),
        ("so do i speak with a machine here or with somebody", "person"),
    ],
)
def test_what_no_pattern_thought_of_is_known_by_its_words(
    moments: Moments, sentence: str, kind: str
) -> None:
    assert moments.name_of(sentence) == kind


def test_everyday_messages_bring_no_fixed_words(moments: Moments) -> None:
    said = [
        turn["say"]
        for one in read("open")
        for turn in one["turns"]
        if one["kind"] not in ("emergency", "rude", "feelings", "customers", "nonsense")
    ]
    assert len(said) > 400
    assert [text for text in said if moments.name_of(text) not in ("", "person", "name")] == []


@pytest.mark.parametrize("sentence", SENTENCES["free"])
def test_messages_that_only_sound_like_those(moments: Moments, sentence: str) -> None:
    assert moments.name_of(sentence) == ""


def test_the_phrases_that_an_agent_expects_are_answered_by_its_model(agent: AgentConfig) -> None:
    """Those with slots as well, whatever stands in them."""
    answered = {"are you a robot", "are you a person", "who are you"}
    answered |= {"what's your name", "what is your name", "who is this", "who am i speaking to"}
    for phrase in set(agent.phrases) - answered:
        parts = re.split(r"\{(\w+)\}", phrase)
        filled = [agent.values[p][0] if n % 2 else p for n, p in enumerate(parts)]
        assert agent.fixed_words.name_of("".join(filled)) == "", phrase


@pytest.mark.parametrize("kind", KINDS)
def test_shipped_words_say_what_the_agent_is(agent: AgentConfig, kind: str) -> None:
    words = agent.moments[kind].say
    assert "computer program" in words
    if kind in ("emergency", "self_harm", "abuse"):
        assert "nine one one" in spoken(words)
        assert "one one two" in spoken(words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Oh God, he’s STILL not breathing!!", "he is not breathing"),
        ("Heeeelp, mum's collapsed", "help mom is collapsed"),
        ("my dad's had a stroke", "my dad has had a stroke"),
        ("i cant, im stuck and theyre gone", "i can not i am stuck and they are gone"),
        ("they shootin outside, u know", "they shooting outside you know"),
        ("call 911 'now'", "call 911"),
        ("", ""),
    ],
)
def test_plain_words(text: str, words: str) -> None:
    assert plain_words(text) == words


def agent_file(tmp_path: Path, *lines: str) -> str:
    file = tmp_path / "mine.toml"
    file.write_text("\n".join(['name = "mine"', 'instructions = "Be brief."', *lines]))
    return str(file)


def test_an_agent_of_ones_own_has_what_is_shipped_and_may_change_it(tmp_path: Path) -> None:
    shipped = load_agent(agent_file(tmp_path)).fixed_words
    assert shipped.words_for("my house is on fire")
    own = load_agent(
        agent_file(
            tmp_path,
            "[moments.emergency]", 'say = "Ring 999."',
            "[moments.rudeness]", 'say = ""',
            "[moments.refund]", 'say = "Write to us."', 'patterns = ["(?:get|want) .* money back"]',
            'examples = ["I want my money back"]',
        )
    ).fixed_words  # fmt: skip
    assert own.words_for("my house is on fire") == "Ring 999."
    assert own.words_for("fuck you") == ""
    assert own.words_for("I want all of my money back!") == "Write to us."


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (['say = "Hm."'], r"mine\.toml: moments\.x: got no patterns"),
        (['say = "Hm."', 'patterns = ["(a"]'], r"moments\.x\.patterns: got '\(a', which is malf"),
        (['say = "Hm."', 'patterns = ["(?i)a"]'], r"moments\.x\.patterns: got '\(\?i\)a', wh"),
        (
            ['say = "Hm."', 'patterns = ["(?P<b>a)", "(?P<b>c)"]'],
            r"moments\.x\.patterns: got .*, which is malformed: redefinition of group name 'b'",
        ),
        (['say = "Hm."', 'patterns = ["a {b}"]'], r"got \{b\} in a pattern; expected one of"),
        (
            ['say = "Hm."', 'patterns = ["a b"]', 'examples = ["a c"]'],
            r"moments\.x\.examples: 'a c' fits nothing",
        ),
        (
            ['say = "Hm."', 'patterns = ["a b"]', 'counterexamples = ["a b c"]'],
            r"moments\.x\.counterexamples: 'a b c' fits x",
        ),
        (
            [
                'say = "Hm."',
                'patterns = ["a b"]',
                'counterexamples = ["smoke is pouring under the door"]',
            ],
            r"moments\.x\.counterexamples: 'smoke is pouring under the door' fits emergency",
        ),
        (
            ['say = "Hm."', 'patterns = ["play something by the police"]'],
            r"moments\.emergency\.counterexamples: 'play something by the police' of"
            r" configs/moments/english\.toml fits x",
        ),
        (
            ['say = "Hm?"', 'patterns = ["a b"]', 'offers = "nurze"'],
            r"mine\.toml: moments\.x\.offers: got 'nurze'; expected a name of hand_over, \['nurse'",
        ),
        (['sya = "Hm."'], r"moments\.x\.sya: unknown key"),
    ],
)
def test_a_mistake_is_named_when_the_file_is_read(
    tmp_path: Path, lines: list[str], problem: str
) -> None:
    with pytest.raises(ConfigError, match=problem):
        load_agent(agent_file(tmp_path, 'hand_over = ["nurse"]', "[moments.x]", *lines))


def test_an_emergency_of_ones_own_stands_beside_the_shipped_ones(tmp_path: Path) -> None:
    found = load_agent(
        agent_file(
            tmp_path,
            "[moments.emergency]", 'patterns = ["zebra on the loose"]',
            'examples = ["a zebra on the loose"]', 'but_not = ["cat has stopped breathing"]',
            "[moments.animal]", 'say = "Come."', 'patterns = ["(?:my|the) cat has stopped"]',
            'examples = ["the cat has stopped breathing"]',
        )
    ).fixed_words  # fmt: skip
    assert found.by_pattern("there is a zebra on the loose") == "emergency"
    assert found.by_pattern("he has stopped breathing") == "emergency"
    both = "he has stopped breathing, and the cat has stopped breathing"
    assert found.by_pattern(both) == "emergency"
    assert found.name_of("my cat has stopped breathing") == "animal"
    # What only sounds like one of the shipped emergencies is still known.
    assert found.by_pattern("play something by the police") == ""


def test_a_shipped_emergency_may_have_words_of_its_own(tmp_path: Path) -> None:
    patterns = r"['smell(?:s|ing|ed)?(?: \w+){0,3} gas', 'gas (?:leak|smell)', 'leaking gas']"
    lines = ["[moments.emergency]", f"but_not = {patterns}"]
    lines += ["[moments.gas]", 'say = "Touch no switch."', f"patterns = {patterns}"]
    found = load_agent(agent_file(tmp_path, *lines)).fixed_words
    assert found.words_for("I can smell gas in the hall") == "Touch no switch."
    assert found.name_of("my house is on fire") == "emergency"


def test_a_thing_alone_is_no_emergency_by_its_words(moments: Moments) -> None:
    said = ("there is a hole in the kitchen floor", "the drain outside is blocked and it smells")
    assert [moments.name_of(one) for one in said] == ["", ""]
    assert moments.name_of("there is a hole in the floor and a child under it") == "emergency"


def test_a_counterexample_binds_the_words_as_well(tmp_path: Path) -> None:
    calm = "smoke keeps coming out of the toaster in the kitchen"
    lines = ["[moments.emergency]", f'counterexamples = ["{calm}"]']
    shipped, own = load_agent("assistant"), load_agent(agent_file(tmp_path, *lines))
    near = calm.replace("in the kitchen", "in our kitchen")
    for said in (calm, near):
        assert shipped.fixed_words.name_of(said) == "emergency"
        assert own.fixed_words.name_of(said) == ""
    other = "smoke keeps coming under the bedroom door and the handle is hot"
    assert own.fixed_words.name_of(other) == "emergency"


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("It's not an emergency.", True),
        ("I didn't say that, nobody is hurt", True),
        ("No, it's just a repair", True),
        ("he can't say his name", False),
        ("we are still in danger", False),
        ("it's just the two of us here", False),
        ("is it an emergency?", False),
    ],
)
def test_a_moment_that_stays_ends_when_it_was_none(tmp_path: Path, said: str, left: bool) -> None:
    lines = [
        "[moments.water]",
        'say = "Turn it off."',
        'stays = "Now."',
        'patterns = ["pipe burst"]',
    ]
    found = load_agent(agent_file(tmp_path, *lines)).fixed_words
    assert found.lasting("water", said) == (("", "") if left else ("Now.", "water"))


def test_what_only_sounds_like_it_is_taken_out_and_the_rest_counts() -> None:
    squad = Moment(say="Hm.", patterns=("suicide",), but_not=("suicide squad",))
    found = Moments({"x": squad})
    assert found.words_for("suicide squad") == ""
    assert found.words_for("suicide squad made me think of suicide") == "Hm."
    assert found.words_for("hello", "suicide") == "Hm."
    assert Moments().words_for("suicide") == ""


def test_lists_may_name_those_before_them() -> None:
    lists = {"kin": "mom|dad", "they": "he|my {kin}"}
    shipped = ShippedMoments(
        lists=lists, moments={"x": Moment(say="Hm.", patterns=("{they} fell",))}
    )
    assert Moments(shipped.under({})).words_for("my dad fell")


@pytest.mark.parametrize("words", ["i am ", "the has been ", "my my ", "he is not ", "a" * 50])
def test_no_text_takes_long(moments: Moments, words: str) -> None:
    started = time.thread_time()
    moments.name_of(words * (2 * LONGEST_TEXT))
    assert time.thread_time() - started < 2
