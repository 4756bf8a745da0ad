"""Ways of decoding one checkpoint, side by side: ``python -m benchmarks.dlm.decoding``.

Decodes replies and calls of held-out dialogues. The baseline is token by token: the same weights,
causal, one token per forward. Verified drafts must agree with it; drafts that are committed without
verification need not. The prompt is in the cache before the clock starts. It also tells where the
time goes (`benchmarks.dlm.shares`). Results: benchmarks/results/decoding.json.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from benchmarks.dlm.shares import Tally
from benchmarks.report import Program, percentiles, share
from dlm.datagen.dialogues import generate
from dlm.decoding.decoder import Decoder, Plan, Vocabulary
from dlm.decoding.first_token_cache import FirstTokenCache
from dlm.decoding.forwards import Forward, drive, logits_of
from dlm.decoding.self_speculative import Aids, decode_causal
from dlm.effort import REFINEMENT, Effort, Refinement
from dlm.engine.engine import SHIPPED
from dlm.evaluate.cases import Case, cases
from dlm.grammar.answer_rules import AnswerRules
from dlm.grammar.matcher import GrammarFactory
from dlm.kv_cache.cache import KVCache
from dlm.language.copy_sources import sources
from dlm.loading.checkpoint import Checkpoint, load_checkpoint
from dlm.loading.placement import best_threads

SEED = 99
LONGEST = 96
ALONE = Refinement(0, 1.0)


@dataclass(frozen=True, slots=True)
class Way:
    """A way of decoding; ``base`` names the way that its answers are compared with."""

    refinement: Refinement
    verified: bool
    grammar: bool
    base: str


WAYS = {
    "token_by_token": Way(ALONE, True, False, "token_by_token"),
    "token_by_token_grammar": Way(ALONE, True, True, "token_by_token_grammar"),
    "self_verification": Way(REFINEMENT[Effort.INSTANT], True, False, "token_by_token"),
    "self_verification_grammar": Way(
        REFINEMENT[Effort.INSTANT], True, True, "token_by_token_grammar"
    ),
    "threshold_0.9": Way(Refinement(1, 0.9), False, False, "token_by_token"),
    "threshold_0.5": Way(Refinement(1, 0.5), False, False, "token_by_token"),
}


SHARED = ("token_by_token", "self_verification", "self_verification_grammar")


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer's tokens, the forwards after the prompt's, and the seconds that they took."""

    tokens: list[int]
    forwards: int
    seconds: float


def asked_of(corpora: Path | None, count: int) -> dict[str, list[Case]]:
    """``count`` replies and as many calls from held-out dialogues."""
    out: dict[str, list[Case]] = {"replies": [], "calls": []}
    for case in cases(generate(seed=SEED, corpora=corpora, split="heldout")):
        out["calls" if case.wanted.calls else "replies"].append(case)
        if all(len(found) >= count for found in out.values()):
            return {kind: found[:count] for kind, found in out.items()}
    raise ValueError(f"got fewer than {count} replies and calls")


def answer(
    checkpoint: Checkpoint,
    way: Way,
    case: Case,
    factory: GrammarFactory,
    first_tokens: FirstTokenCache,
    tally: Tally | None = None,
) -> Answered:
    """Decode one answer; all of its prompt but the last token is cached beforehand."""
    model, config = checkpoint.model, checkpoint.model.config
    prompt = checkpoint.dialect.prompt(case.turns, case.tools)
    cache = KVCache(config, len(prompt) + LONGEST + config.block_size)
    with torch.inference_mode():
        known = prompt[:-1]
        logits_of(model, [(cache, Forward(known, len(known), len(known) - 1))])
    cache.commit(len(known))
    vocabulary = Vocabulary.of(checkpoint.dialect, config.vocab_size)
    decoder = Decoder(cache, prompt, config.block_size, vocabulary)
    matcher = (
        factory.matcher(AnswerRules(case.tools, copy_sources=sources(case.turns)))
        if way.grammar
        else None
    )
    aids = Aids(first_tokens=first_tokens.guess(case.turns))
    with tally.taken() if tally else nullcontext():
        began = time.perf_counter()
        drive(
            model,
            cache,
            decode_causal(decoder, Plan(way.refinement, way.verified, LONGEST), matcher, aids),
        )
        seconds = time.perf_counter() - began
    first_tokens.learn(case.turns, decoder.progress.tokens)
    return Answered(decoder.progress.tokens, decoder.progress.forwards, seconds)


def figures(answers: list[Answered], alone: list[Answered], base: list[Answered]) -> dict[str, Any]:
    """Figures of one way over answers of one kind.

    Args:
        answers: Decoded in that way.
        alone: Decoded token by token, whose speed counts as 1.
        base: The answers to compare with.
    """
    tokens = sum(len(one.tokens) for one in answers)
    seconds = sum(one.seconds for one in answers)
    forwards = sum(one.forwards for one in answers)
    rate = sum(len(one.tokens) for one in alone) / sum(one.seconds for one in alone)
    same = sum(one.tokens == other.tokens for one, other in zip(answers, base, strict=True))
    return {
        "answers": len(answers),
        "tokens": tokens,
        "tokens_per_forward": round(tokens / forwards, 2),
        "tokens_per_s": round(tokens / seconds, 1),
        "speed": round(tokens / seconds / rate, 2),
        "agreement": share(same, len(answers)),
        "answer_ms": percentiles([one.seconds * 1000 for one in answers], 1),
    }


def measure(checkpoint: Checkpoint, asked: Mapping[str, Sequence[Case]]) -> dict[str, Any]:
    """Decode each case in all ways in turn, so that changes in load affect all ways alike."""
    factory = GrammarFactory(checkpoint.dialect, checkpoint.model.config.vocab_size)
    first_tokens = {name: FirstTokenCache(checkpoint.dialect) for name in WAYS}
    # The first answers of a process are slow.
    for name, way in WAYS.items():
        answer(checkpoint, way, asked["replies"][0], factory, first_tokens[name])
    answered: dict[str, dict[str, list[Answered]]] = {
        kind: {name: [] for name in WAYS} for kind in ("replies", "calls")
    }
    for kind, some in asked.items():
        for case, (name, way) in itertools.product(some, WAYS.items()):
            one = answer(checkpoint, way, case, factory, first_tokens[name])
            answered[kind][name].append(one)
    return {
        kind: {
            name: figures(answers, by_way["token_by_token"], by_way[WAYS[name].base])
            for name, answers in by_way.items()
        }
        for kind, by_way in answered.items()
    }


def shares(checkpoint: Checkpoint, asked: Mapping[str, Sequence[Case]]) -> dict[str, Any]:
    """Where the time goes, by kind and way; a separate run, since its clocks cost time."""
    factory = GrammarFactory(checkpoint.dialect, checkpoint.model.config.vocab_size)
    told: dict[str, Any] = {}
    for kind, name in itertools.product(("replies", "calls"), SHARED):
        tally, first_tokens = Tally(), FirstTokenCache(checkpoint.dialect)
        answers = [
            answer(checkpoint, WAYS[name], case, factory, first_tokens, tally)
            for case in asked[kind]
        ]
        told.setdefault(kind, {})[name] = tally.figures(sum(one.seconds for one in answers))
    return told


def main() -> None:
    """Measure and write the results."""
    program = Program("benchmarks.dlm.decoding", __doc__, "corpora")
    program.add_argument("--checkpoint", type=Path, default=SHIPPED)
    program.add_argument("--count", type=int, default=60, help="replies, and as many calls")
    program.add_argument("--threads", type=int, default=0)
    arguments = program.parse_args()
    checkpoint = load_checkpoint(arguments.checkpoint, device="cpu")
    torch.set_num_threads(arguments.threads or best_threads(checkpoint.model.config))
    asked = asked_of(arguments.corpora, arguments.count)
    told: dict[str, Any] = {
        "threads": torch.get_num_threads(),
        **measure(checkpoint, asked),
        "shares": shares(checkpoint, asked),
    }
    for kind, name in itertools.product(("replies", "calls"), WAYS):
        print(kind, name, told[kind][name])
    for kind, name in itertools.product(("replies", "calls"), SHARED):
        print("shares:", kind, name, told["shares"][kind][name])
    program.write(told)


if __name__ == "__main__":
    main()
