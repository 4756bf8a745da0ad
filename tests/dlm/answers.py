"""What the tests of grammars share: answers as tokens, and whether rules allow them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from dlm.grammar.answer_rules import AnswerRules
from dlm.grammar.matcher import GrammarFactory, Matcher
from dlm.language.identifiers import worded
from dlm.language.messages import Answer
from dlm.language.tokenizer import Mark
from tests.dlm.tiny import LIGHT, TIMER, WEATHER, template, tokenizer

SIZE = 352
FACTORY = GrammarFactory(tokenizer(), SIZE)
SAID = ("Set a timer for ten minutes, please!", "don't wake the café at 7:30")


def text(words: str) -> list[int]:
    return tokenizer().encode(f" {words}")


def call(name: str, **arguments: str) -> list[int]:
    ids = [int(Mark.CALL), *text(worded([name])[name])]
    keys = worded(arguments)
    for key, value in arguments.items():
        ids += [int(Mark.KEY), *text(keys[key]), int(Mark.VALUE), *text(value)]
    return ids


def allows(rules: AnswerRules, ids: Sequence[int], factory: GrammarFactory = FACTORY) -> bool:
    """Whether an answer of these tokens and the end mark is within the rules."""
    wanted = [*ids, int(Mark.END)]
    matcher = factory.matcher(rules)
    at = 0
    while True:
        if not matcher.takes(wanted[at]):
            return False
        if wanted[at] == Mark.END:
            return True
        forced = matcher.advance(wanted[at])
        if wanted[at + 1 : at + 1 + len(forced)] != forced:
            return False
        at += 1 + len(forced)
        if wanted[at - 1] == Mark.END:
            return True


def choice(matcher: Matcher, token: int) -> int:
    """What a model that wants this token gets."""
    logits = torch.zeros(SIZE)
    logits[token] = 1.0
    return matcher.best(logits)


def generate(matcher: Matcher, logits: Callable[[], torch.Tensor], longest: int) -> list[int]:
    """Greedy decoding of whatever logits come, the end mark wanted more and more."""
    out: list[int] = []
    while len(out) < longest:
        row = logits()
        row[Mark.END] += 0.1 * len(out)
        token = matcher.best(row)
        out.append(token)
        if token == Mark.END:
            return out
        out += matcher.advance(token)
        if out[-1] == Mark.END:
            return out
    return []


def random_answer(rules: AnswerRules, seed: int) -> Answer | None:
    """What a model of random logits says; None when it does not come to an end."""
    generator = torch.Generator().manual_seed(seed)
    ids = generate(
        FACTORY.matcher(rules), lambda: torch.randn(SIZE, generator=generator) * 2, longest=300
    )
    return template().answer(ids, rules.callable()) if ids else None


AUTO = AnswerRules((TIMER, WEATHER, LIGHT), copy_sources=SAID)
