"""Fits `voice.config.moment_weights`: ``python -m benchmarks.voice.fit_moments --corpora DIR``.

The sentences are in benchmarks/voice/moments_sets. Four authors, who had seen no code and no
pattern, wrote them with different callers in mind; nothing is fitted to a fifth author's,
``judged``, and the half of these that nobody has read is reported apart. These messages count as of
no kind: those of public corpora, those that the generator of training data writes to the shipped
agents, and these agents' phrases with values. What is said in voice/finetune/conversations, and
phrases without values, count against emergencies only: as examples for the other kinds they would
make the weights miss messages of self-harm.

``complaints`` are of homes, cars, animals and people: 150 ordinary ones and 60 emergencies. The
weights are fitted to one half, the complaints against emergencies only; the other half was put
aside before any result was known. What is said to the assistants of dlm/datagen/assistants is
fitted to by nothing, and tells how often requests are taken for a moment, some of them rightly.

A message without anything that the moment is `about` (configs/moments/english.toml) is of no kind,
whatever its weights.

Each author is judged by weights fitted to the other three, and each quarter of the conversations'
authors by weights fitted to the rest. Then the weights are fitted to everything. A kind's threshold
is the lowest above which lie at most `MOST_WRONG` of the corpora's messages, no counterexample of
the patterns, and no phrase that counts against the kind. For the fifth author's messages it is
reported how many of each kind the patterns find alone and together with the weights, and how many
messages of no kind are taken for one.
Results: benchmarks/results/moments.json.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.report import ROOT, Program, share
from dlm.datagen.corpora.files import rows
from dlm.datagen.dialogues import Source, stream
from voice.config import load_agent, moment_weights
from voice.config.moment_weights import BUCKETS, KINDS, WEIGHTS_FILE, inputs
from voice.config.moments import plain_words

FOLDER = Path(__file__).parent / "moments_sets"
AUTHORS = ("a", "b", "c", "d")
JUDGED = "judged"
COMPLAINTS = "complaints"
NONE = "none"
CONVERSATIONS = ROOT / "voice" / "finetune" / "conversations"
ASSISTANTS = ROOT / "dlm" / "datagen" / "assistants"
MEANT = (
    "burned my hand",
    "down the stairs",
    "through the ceiling",
    "not a real person",
    "like a robot",
)
"""Words of messages in conversations that may be moments although no pattern finds them."""
CORPORA = ("hwu64", "clinc_oos", "slurp_devel", "snips_train", "self_dialogue")
GENERATED = dict.fromkeys(("assistant", "coffee", "errands", "drinks"), 0.25)
EACH = 4000
"""Most messages taken from each corpus, and from the generator."""
SEED = 3
EPOCHS = 60
RATE = 0.02
DECAY = 2e-3
FAR = 4.0
"""Weight of a message by an author against one of a corpus."""
FILLED = 3
"""How many messages are made from each phrase with values."""
MOST_WRONG = {"emergency": 0.0007} | dict.fromkeys(KINDS[1:], 0.0005)
"""Largest share of the corpora's messages that may be taken for each kind."""
NEVER = -100.0
"""Log odds of what cannot be of a kind."""
MARGIN = 0.05
"""Log odds between a threshold and the counterexample with the highest score."""

Row = tuple[str, str]
"""A message and its kind."""


def written(author: str) -> list[Row]:
    """The messages of an author."""
    return [(row["say"], row["moment"]) for row in rows(FOLDER / f"{author}.jsonl.xz")]


def of_no_kind(corpora: Path) -> list[Row]:
    """Messages of public corpora and of the generator, all of no kind."""
    messages = []
    for name in CORPORA:
        said = sorted({*_messages(corpora / f"{name}.jsonl.xz")})
        messages += [(one, NONE) for one in Random(SEED).sample(said, min(EACH, len(said)))]
    return messages + [(one, NONE) for one in generated(corpora)]


def generated(corpora: Path) -> list[str]:
    """The generator's messages to the shipped agents: requests, and the talk around them."""
    made = stream(Random(SEED), Source.load(corpora, "train"), GENERATED)
    said: dict[str, None] = {}
    for row in made:
        said |= dict.fromkeys(_said(row))
        if len(said) >= EACH:
            break
    found = load_agent("assistant").fixed_words.by_pattern
    return [one for one in said if not found(one)][:EACH]


def halves(author: str) -> tuple[list[Row], list[Row]]:
    """The messages of an author by half, of which the second is put aside."""
    every = written(author)
    odd = [sha256(said.encode()).digest()[0] % 2 for said, _ in every]
    first, second = ([row for row, of in zip(every, odd, strict=True) if of == n] for n in (0, 1))
    return first, second


def conversed() -> list[list[Row]]:
    """What is said in conversations and is no moment, in as many parts as there are `AUTHORS`."""
    found = load_agent("assistant").fixed_words.by_pattern
    said = [
        dict.fromkeys(turn["say"] for row in rows(file) for turn in row["turns"])
        for file in sorted(CONVERSATIONS.glob("*.xz"))
    ]
    return [
        [
            (one, NONE)
            for own in said[number :: len(AUTHORS)]
            for one in own
            if not found(one) and not any(words in one for words in MEANT)
        ]
        for number in range(len(AUTHORS))
    ]


def assisted() -> list[Row]:
    """What is said to the assistants that authors of training data invented."""
    found = (
        turn["say"]
        for file in sorted(ASSISTANTS.glob("*.xz"))
        for row in rows(file)
        for conversation in row["conversations"]
        for turn in conversation
    )
    return [(one, NONE) for one in dict.fromkeys(found)]


def _messages(file: Path) -> Iterator[str]:
    for row in rows(file):
        if "messages" in row:
            yield from _said(row)
        elif said := row.get("text") or row.get("question"):
            yield said


def _said(row: Mapping[str, Any]) -> list[str]:
    return [m["content"] for m in row["messages"] if m["role"] == "user"]


def examples() -> list[Row]:
    """Examples and counterexamples of configs/moments/english.toml, with their kinds or none."""
    shipped = tomllib.loads((ROOT / "configs" / "moments" / "english.toml").read_text("utf-8"))
    messages = []
    for name, moment in shipped["moments"].items():
        kind = name if name in KINDS else NONE
        messages += [(one, kind) for one in moment.get("examples", ())]
        messages += [(one, NONE) for one in moment.get("counterexamples", ())]
    return messages


def expected() -> list[Row]:
    """The shipped agents' phrases with values, filled at random."""
    agents = map(load_agent, sorted(file.stem for file in (ROOT / "configs/agents").glob("*.toml")))
    rng = Random(SEED)
    return [
        (_filled(phrase, agent.values, rng), NONE)
        for agent in agents
        for phrase in agent.phrases
        if "{" in phrase
        for _ in range(FILLED)
    ]


def unfilled() -> list[Row]:
    """The shipped agents' phrases that have no values and are no moments."""
    agents = map(load_agent, sorted(file.stem for file in (ROOT / "configs/agents").glob("*.toml")))
    return [
        (phrase, NONE)
        for agent in agents
        for phrase in agent.phrases
        if "{" not in phrase and not agent.fixed_words.by_pattern(phrase)
    ]


def _filled(phrase: str, values: Mapping[str, Sequence[str]], rng: Random) -> str:
    return re.sub(r"{(\w+)}", lambda slot: rng.choice(values[slot[1]]), phrase)


def fitted(
    near: Sequence[Row],
    far: Sequence[Row],
    calm: Sequence[Row] = (),
    plain: Sequence[Row] = (),
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Weights (D, K) and biases (K,) of log odds, one kind against all else.

    Args:
        near: Rows of any kind or none, which weigh `FAR` each.
        far: Rows of no kind, which weigh 1 each.
        calm: Rows of no kind that count against emergencies only, weighing `FAR` each.
        plain: The same, weighing 1 each.
    """
    import torch

    torch.manual_seed(SEED)
    every = [*near, *far, *calm, *plain]
    found = [inputs(plain_words(said)) for said, _ in every]
    offsets = torch.tensor(np.cumsum([0, *map(len, found)])[:-1])
    flat = torch.tensor(np.concatenate(found))
    scale = torch.tensor([max(1, len(one)) ** -0.5 for one in found])
    per = scale.repeat_interleave(torch.tensor([len(one) for one in found]))
    kinds = torch.tensor([[float(kind == one) for one in KINDS] for _, kind in every])
    heavy = torch.tensor(
        [FAR] * len(near) + [1.0] * len(far) + [FAR] * len(calm) + [1.0] * len(plain)
    )[:, None].repeat(1, len(KINDS))
    heavy[len(near) + len(far) :, [kind != "emergency" for kind in KINDS]] = 0
    counted = (heavy > 0).sum(0)
    weights = torch.zeros(BUCKETS, len(KINDS), requires_grad=True)
    bias = torch.full((len(KINDS),), -4.0, requires_grad=True)
    optimizer = torch.optim.Adam([weights, bias], RATE)
    for epoch in range(EPOCHS):
        for group in optimizer.param_groups:
            group["lr"] = RATE * (1 - epoch / EPOCHS)
        scores = torch.nn.functional.embedding_bag(
            flat, weights, offsets, mode="sum", per_sample_weights=per
        )
        losses = torch.nn.functional.binary_cross_entropy_with_logits(
            scores + bias, kinds, heavy, reduction="none"
        )
        decays = DECAY * weights.square().sum(0) / counted.sqrt()
        loss = (losses.sum(0) / counted / len(KINDS) + decays).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return weights.detach().numpy(), bias.detach().numpy()


def scored(messages: Sequence[Row], weights: NDArray[Any], bias: NDArray[Any]) -> NDArray[Any]:
    """(N, K) log odds of messages, for each kind."""
    found = (inputs(plain_words(said)) for said, _ in messages)
    return np.array(
        [weights[one].sum(0) / np.sqrt(max(1, len(one))) + bias for one in found], np.float32
    )


def possible(messages: Sequence[Row], weights: NDArray[Any], bias: NDArray[Any]) -> NDArray[Any]:
    """As `scored`, but no emergency without anything that one is about."""
    moments, scores = load_agent("assistant").fixed_words, scored(messages, weights, bias)
    for row, (said, _) in zip(scores, messages, strict=True):
        if not moments.may_be("emergency", said):
            row[KINDS.index("emergency")] = NEVER
    return scores


def told(messages: Sequence[Row], names: Sequence[str]) -> dict[str, Any]:
    """Shares of each kind's messages that are found, and of other messages taken for a kind."""
    counts = Counter(kind for _, kind in messages)
    right = Counter(kind for (_, kind), name in zip(messages, names, strict=True) if kind == name)
    found = {kind: share(right[kind], counts[kind]) for kind in KINDS if counts[kind]}
    wrong = sum(n in KINDS for (_, kind), n in zip(messages, names, strict=True) if kind == NONE)
    return {**found, NONE: share(wrong, counts[NONE])}


def main() -> None:
    """Fit, write the weights, and report what they find."""
    program = Program("benchmarks.voice.fit_moments", __doc__, "corpora")
    options = program.parse_args()
    if options.corpora is None:
        program.error("--corpora: expected a folder")
    authors = {name: written(name) for name in AUTHORS}
    far, known, orders = of_no_kind(options.corpora), examples(), expected()
    talks, plain = conversed(), unfilled()
    emergencies = [row for row in halves(COMPLAINTS)[0] if row[1] != NONE]
    ordinary = [row for row in halves(COMPLAINTS)[0] if row[1] == NONE]
    known += emergencies
    scores, everyone, beside = [], [], []
    for number, (name, own) in enumerate(authors.items()):
        others = [row for other, some in authors.items() if other != name for row in some]
        part = far[number :: len(authors)]
        rest = [row for at, row in enumerate(far) if at % len(authors) != number]
        talk = [row for at, some in enumerate(talks) if at != number for row in some]
        weights, bias = fitted([*others, *known], [*rest, *orders], ordinary, [*talk, *plain])
        scores.append(possible([*own, *part], weights, bias))
        beside.append(possible(talks[number], weights, bias))
        everyone += [*own, *part]
    over = np.concatenate(scores)
    none = np.array([kind == NONE for _, kind in everyone])
    least = np.array(
        [np.quantile(over[none, k], 1 - MOST_WRONG[kind]) for k, kind in enumerate(KINDS)]
    )
    weights, bias = fitted(
        [row for some in (*authors.values(), known) for row in some],
        [*far, *orders],
        ordinary,
        [*(row for some in talks for row in some), *plain],
    )
    # No message known to be of no kind may be taken for a moment, and no phrase for an emergency.
    never = possible([r for r in (*known, *orders) if r[1] == NONE], weights, bias).max(0)
    alone = KINDS.index("emergency")
    never[alone] = max(never[alone], possible(plain, weights, bias)[:, alone].max())
    least = np.maximum(least, never + MARGIN)
    np.savez_compressed(
        WEIGHTS_FILE,
        weights=weights.astype(np.float16),
        bias=bias.astype(np.float32),
        least=least.astype(np.float32),
    )
    # Agents that were read above have cached the weights of before.
    moment_weights.stored.cache_clear()
    crossed = [_name(row - least) for row in over]
    said = [_name(row - least) for row in np.concatenate(beside)]
    figures = {
        "each author by the other three": told(everyone, crossed),
        "conversations by those of others": told([row for some in talks for row in some], said),
        **judged(),
    }
    for name, found in figures.items():
        print(name, {kind: f"{one['count']} of {one['of']}" for kind, one in found.items()})
    program.write(figures, "moments")


def _name(over: NDArray[Any]) -> str:
    return KINDS[int(over.argmax())] if over.max() > 0 else ""


def judged() -> dict[str, Any]:
    """Figures of messages that nothing is fitted to, with and without the weights."""
    moments = load_agent("assistant").fixed_words
    read, unread = halves(JUDGED)
    sets = {"read for mends": read, "never read": unread, "complaints": halves(COMPLAINTS)[1]}
    sets["other people's assistants"] = assisted()
    figures = {}
    for half, messages in sets.items():
        for way, name_of in (("patterns", moments.by_pattern), ("both", moments.name_of)):
            figures[f"{half}, {way}"] = told(messages, [name_of(said) for said, _ in messages])
    return figures


if __name__ == "__main__":
    main()
