from __future__ import annotations

import torch

from dlm.decoding.forwards import (
    Choice,
    Eager,
    Forward,
    SideForwards,
    Steps,
    drive,
    logits_of,
    outputs_of,
    together,
)
from dlm.decoding.sampling import Sampling
from dlm.kv_cache.cache import KVCache
from tests.dlm.tiny import model

NET = model(2)


def filled(length: int, seed: int) -> KVCache:
    cache = KVCache(NET.config, 64)
    if not length:
        return cache
    ids = torch.randint(16, 300, (length,), generator=torch.Generator().manual_seed(seed)).tolist()
    with torch.inference_mode():
        logits_of(NET, [(cache, Forward(ids, length))])
    cache.commit(length)
    return cache


WISHES = [
    (12, Forward([20, 21, 22], 3, 2)),
    (5, Forward([30, 1, 1, 1, 1, 1, 1, 1], 0, 1)),
    (0, Forward(list(range(40, 60)), 20, 19, prefill=True)),
    (7, Forward([31, 32, 1, 1], 1, 2)),
    (8, Forward(list(range(60, 76)), 0, 4, block=8)),
]


def test_many_are_served_as_each_alone() -> None:
    with torch.inference_mode():
        alone = [logits_of(NET, [(filled(n, i), asked)])[0] for i, (n, asked) in enumerate(WISHES)]
        together = logits_of(NET, [(filled(n, i), asked) for i, (n, asked) in enumerate(WISHES)])
    for one, other, (_, asked) in zip(alone, together, WISHES, strict=True):
        assert one.shape == (len(asked.ids) - asked.first, 352)
        assert one.dtype == torch.float32
        assert torch.equal(one, other)


def test_a_block_sees_no_further_than_its_end() -> None:
    with torch.inference_mode():
        both = logits_of(
            NET, [(filled(8, 0), Forward([*range(40, 48), *range(50, 58)], 0, block=8))]
        )
        first = logits_of(NET, [(filled(8, 0), Forward(list(range(40, 48)), 0, block=8))])
        # A block that has begun goes on to its own end only.
        begun = logits_of(NET, [(filled(12, 0), Forward(list(range(40, 56)), 0, block=8))])
        tail = logits_of(NET, [(filled(12, 0), Forward(list(range(40, 44)), 0))])
    torch.testing.assert_close(both[0][:8], first[0], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(begun[0][:4], tail[0], atol=1e-5, rtol=1e-5)


def test_a_choice_is_made_of_the_logits_that_others_get() -> None:
    ids = [20, 21, 22]
    drawn = Sampling(0.8, 1.0, 7)
    batch = [
        Forward(ids, 3),
        Forward(ids, 3, choice=Choice((1, 2))),
        Forward(ids, 3, choice=Choice((1, 2), drawn, 4)),
    ]
    runner = Eager(NET)
    with torch.inference_mode():
        logits, likeliest, sampled = runner.forward([(runner.cache(8), w) for w in batch])
        (alone,) = outputs_of(NET, [(KVCache(NET.config, 8), batch[2])])
    rows = logits.index_fill(-1, torch.tensor([1, 2]), -torch.inf)
    assert torch.equal(likeliest.tokens, rows.argmax(dim=-1))
    assert torch.equal(sampled.tokens, drawn.perturb(rows, 4).argmax(dim=-1))
    assert torch.equal(sampled.tokens, alone.tokens)
    assert not runner.applies_grammar


def test_side_by_side_each_gets_what_it_would_alone() -> None:
    own, other, third = (filled(n, i) for i, n in enumerate((4, 6, 9)))

    def likeliest(token: int, count: int) -> Steps[list[int]]:
        out = []
        for _ in range(count):
            logits = yield Forward([token], 1)
            out.append(token := int(logits[0].argmax()))
        return out

    def aside(count: int) -> Steps[list[int]]:
        out = []
        for token in range(20, 20 + count):
            rows = yield SideForwards(((other, Forward([token], 1)), (third, Forward([token], 1))))
            out += [int(row[0].argmax()) for row in rows]
        return out

    def nothing() -> Steps[str]:
        return "at once"
        yield

    alone = drive(NET, own, likeliest(20, 1)), drive(NET, own, aside(3))
    rounds = 0

    def counted() -> Steps[list[list[int] | str]]:
        nonlocal rounds
        steps = together(own, likeliest(20, 1), aside(3), nothing())
        asked = next(steps)
        while True:
            rounds += 1
            try:
                asked = steps.send((yield asked))
            except StopIteration as over:
                return over.value

    assert drive(NET, own, counted()) == [*alone, "at once"]
    assert rounds == 3
    assert drive(NET, own, together(own, nothing())) == ["at once"]
