from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest
import torch

from dlm.grammar import compiled
from dlm.grammar.answer_rules import AnswerRules
from dlm.grammar.compiled import MOST_REPEATS, CompiledGrammars, repeats
from dlm.grammar.formats import FormatError, JsonSchema, Lark, Regex, format_rules
from dlm.grammar.matcher import GrammarFactory
from tests.dlm.tiny import tokenizer

ATTACK = """
import resource
from dlm.grammar.answer_rules import AnswerRules
from dlm.grammar.formats import Regex
from dlm.grammar.matcher import GrammarFactory
from tests.dlm.tiny import tokenizer

factory = GrammarFactory(tokenizer(), 352)
factory.matcher(AnswerRules(format=Regex("b")))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for pattern in ("(%s{1000}){1000}", "(%s{140}){140}", "((%s{1,27}){1,27}){1,27}"):
    for letter in "abcd":
        try:
            matcher = factory.matcher(AnswerRules(format=Regex(pattern % letter)))
            for _ in range(50):
                for token in matcher.forced() or [tokenizer().encode(letter)[-1]]:
                    matcher.advance(token)
        except ValueError:
            pass
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def test_patterns_written_to_take_memory_get_little_of_it() -> None:
    # A process of its own, because what Rust takes shows in nothing but its size.
    ran = subprocess.run([sys.executable, "-c", ATTACK], capture_output=True, text=True, check=True)
    assert int(ran.stdout) < 200


@pytest.mark.parametrize(
    ("pattern", "count"),
    [
        ("abc", 3), ("(ab){3}", 6), ("((a{10}){10}){10}", 1000), ("(a|b{2,5}){4}c", 25),
        (r"[a{9}]{3}\{2\(", 6), ("(a{1000}){1000}", 1_000_000), ("a{2,}(b", 3),
    ],
)  # fmt: skip
def test_repetitions_are_counted_as_they_would_be_written_out(pattern: str, count: int) -> None:
    assert repeats(pattern) == count


def test_what_has_no_end_is_not_looked_for_again_and_again() -> None:
    begun = time.thread_time()
    # Its square would be eight seconds.
    assert repeats("[" * 18_000) == 18_000
    assert repeats("(" * 1_000_000) == MOST_REPEATS + 1
    format_rules(Lark('start: "' + r"\"" * 8000))
    format_rules(Lark("start: /a" + r"\/" * 8000))
    assert time.thread_time() - begun < 3


@pytest.mark.parametrize(
    "wanted",
    [
        Regex("(a{1000}){1000}"),
        Lark("start: /(a{1000}){1000}/"),
        JsonSchema({"type": "object", "properties": {"a": {"pattern": "(a{1000}){1000}"}}}),
        JsonSchema({"patternProperties": {"(a{1000}){1000}": {}}}),
    ],
)
def test_a_pattern_that_is_too_large_is_refused_before_it_is_built(
    wanted: Regex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "compiled", None)
    with pytest.raises(FormatError, match=r"10000\d\d repetitions"):
        GrammarFactory(tokenizer(), 352).matcher(AnswerRules(format=wanted))


def test_an_answer_that_exceeds_the_limits_leaves_the_grammar_to_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compiled, "MOST_STATES", 60)
    factory, rules = GrammarFactory(tokenizer(), 352), AnswerRules(format=Regex("[ab]{150}"))
    begun = factory.matcher(rules).best(torch.zeros(352))
    matcher = factory.matcher(rules)
    with pytest.raises(FormatError, match="too many states"):
        for _ in range(150):
            matcher.advance(matcher.best(torch.zeros(352)))
    assert factory.matcher(rules).best(torch.zeros(352)) == begun


def grammar(pattern: str) -> str:
    return json.dumps({"grammars": [{"lark_grammar": f"start: /{pattern}/"}]})


def test_grammars_are_kept_within_a_number_of_bytes() -> None:
    factory = GrammarFactory(tokenizer(), 352)
    kept = CompiledGrammars(factory._tokenizer, most_bytes=2_000_000)
    first = kept.get(grammar("a"), 10)
    assert first.compute_bitmask() == kept.get(grammar("a"), 10).compute_bitmask()
    for letter in "bcdefgh" * 40:
        kept.get(grammar(letter), 100)
        assert 0 < kept.nbytes <= 2_000_000
    # What is larger than all of the budget is not kept.
    kept.get(grammar("z"), 100_000)
    assert kept.nbytes <= 2_000_000
    with pytest.raises(ValueError, match="unclosed"):
        kept.get(grammar("(a"), 10)
