"""What verified decoding must equal, token by token, and what its cache must hold."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import torch
from torch import Tensor

from dlm.decoding.decoder import Decoder
from dlm.decoding.forwards import Forward, logits_of
from dlm.effort import REFINEMENT, Effort
from dlm.grammar.answer_rules import AnswerRules
from dlm.grammar.matcher import GrammarFactory, Matcher
from dlm.kv_cache.cache import KVCache
from dlm.language.messages import Turn
from dlm.language.tokenizer import Mark
from dlm.network.model import Transformer
from tests.dlm.tiny import LIGHT, TIMER, WEATHER, model, template, tokenizer

END = int(Mark.END)
INSTANT = REFINEMENT[Effort.INSTANT]
SPEAKABLE = {Mark.END, Mark.CALL, Mark.KEY, Mark.VALUE}
FACTORY = GrammarFactory(tokenizer(), 352)
SAID = "set a timer for ten minutes in the café at 7:30"
PROMPT = template().prompt((Turn("user", SAID),), (TIMER, LIGHT))
RULES = {
    "none": None,
    "auto": AnswerRules((TIMER, LIGHT, WEATHER), copy_sources=(SAID,)),
    "required": AnswerRules((TIMER, LIGHT), "required", (SAID,)),
}


def matcher(rules: str) -> Matcher | None:
    wanted = RULES[rules]
    return FACTORY.matcher(wanted) if wanted else None


def causal_logits(made: Transformer, ids: Sequence[int]) -> Tensor:
    """Logits behind the last id: one forward of everything, no cache, no blocks."""
    size = len(ids)
    mask = torch.ones(size, size, dtype=torch.bool).tril()[None, None]
    with torch.no_grad():
        hidden = made(torch.tensor([ids]), torch.arange(size)[None], mask)
        logits = made.logits(hidden)[0, -1]
    for mark in Mark:
        if mark not in SPEAKABLE:
            logits[mark] = -torch.inf
    logits[tokenizer().vocab_size :] = -torch.inf
    return logits


def greedy(made: Transformer, prompt: Sequence[int], rules: str, longest: int) -> list[int]:
    """Token by token, left to right: what verified decoding must equal."""
    out: list[int] = []
    grammar = matcher(rules)
    while len(out) < longest:
        logits = causal_logits(made, [*prompt, *out])
        if grammar is None:
            out.append(int(logits.argmax()))
        else:
            out.append(grammar.best(logits))
            if out[-1] != END:
                out += grammar.advance(out[-1])
        if out[-1] == END:
            break
    return out[:longest]


@functools.cache
def greedy_of_random(seed: int, rules: str) -> list[int]:
    return greedy(model(seed), PROMPT, rules, 40)


def check_cache(net: Transformer, made: Decoder) -> None:
    """The cache holds what one forward of the same ids would write."""
    ids = [*made.prompt, *made.progress.tokens][: made.cache.length]
    fresh = KVCache(net.config, len(ids) + 1)
    with torch.inference_mode():
        logits_of(net, [(fresh, Forward(ids, len(ids)))])
        fresh.commit(len(ids))
        probe = Forward([20], 0)
        ours, theirs = logits_of(net, [(made.cache, probe), (fresh, probe)])
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)


def check_bits(net: Transformer, made: Decoder, alone: Decoder) -> None:
    """What both caches hold is the same to the last bit."""
    both = min(made.cache.length, alone.cache.length)
    with torch.inference_mode():
        ours, theirs = (
            logits_of(net, [(one.cache.copy(both, both + 1), Forward([20], 1))])[0]
            for one in (made, alone)
        )
    assert torch.equal(ours, theirs)
