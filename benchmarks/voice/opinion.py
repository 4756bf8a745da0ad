"""Does a message end here? The model against a small classifier: ``benchmarks.voice.opinion``.

They judge messages of held-out dialogues, whole and broken off after each word. The model gives the
probability that a message of these words ends, in one forward that sees the dialogue before it. The
classifier is a logistic regression on the rules' judgement and the words at both ends, fitted to
messages of training dialogues; it needs no forward and sees the message alone. Rules and model are
combined by `voice.hearing.end_of_turn`, which judges by the rules until it has the model's
probability. Classifier and model are combined by adding their log odds.

Results: benchmarks/results/opinion.json.
"""

from __future__ import annotations

import zlib
from random import Random
from typing import Any

import numpy as np

from benchmarks.report import Program, shipped_checkpoint
from benchmarks.voice.fit_endings import Matrix, logistic, messages, ranking
from voice.hearing.completeness import Completeness, reads_complete
from voice.hearing.end_of_turn import Cues, evidence, log_odds

BUCKETS = 512
"""How many features the words are hashed into."""
FITTED = 1500
JUDGED = 120
KEPT = (0.95, 0.9)
SEED = 6


def row_of(text: str) -> Matrix:
    """(F,) features of a text: the rules' judgement, its length, and its words at both ends."""
    words = text.lower().split()
    row = np.zeros(BUCKETS + 3)
    last, before, first = words[-1], " ".join(words[-2:]), words[0]
    for name in (f"last {last}", f"last two {before}", f"first {first}"):
        row[zlib.crc32(name.encode()) % BUCKETS] += 1
    reads = reads_complete(text)
    row[BUCKETS:] = (
        reads is Completeness.COMPLETE,
        reads is Completeness.INCOMPLETE,
        min(len(words), 8) / 8,
    )
    return row


def training_texts(count: int) -> list[tuple[str, bool]]:
    """Beginnings of messages of training dialogues, and whether each is the whole message."""
    from dlm.datagen.dialogues import generate

    rng, found = Random(SEED), []
    for row, _ in zip(generate(SEED, split="train"), range(count), strict=False):
        said = [m["content"] for m in row["messages"] if m["role"] == "user"]
        words = rng.choice(said).split()
        found += [(" ".join(words[:n]), n == len(words)) for n in range(1, len(words) + 1)]
    return found


def fitted(texts: list[tuple[str, bool]]) -> Matrix:
    """(F + 1,): the classifier's intercept and coefficients."""
    features = np.stack([row_of(text) for text, _ in texts])
    ends = np.array([float(end) for _, end in texts])
    weights = np.where(ends == 1, 0.5 / ends.mean(), 0.5 / (1 - ends.mean()))
    at, each = logistic(features, ends, weights)
    return np.array([at, *each])


def judged(scores: Matrix, ends: Matrix) -> dict[str, Any]:
    """How well scores tell ends from beginnings."""
    told: dict[str, Any] = {"ends_ranked_above_beginnings": ranking(scores, ends)}
    for kept in KEPT:
        bar = np.quantile(scores[ends == 1], 1 - kept)
        taken = round(float((scores[ends == 0] >= bar).mean()), 4)
        told[f"beginnings_taken_for_whole_at_{kept:.0%}_of_ends"] = taken
    return told


def main() -> None:
    """Measure and write the results."""
    program = Program("benchmarks.voice.opinion", __doc__)
    program.add_argument("--judged", type=int, default=JUDGED, help="messages that are judged")
    program.add_argument("--fitted", type=int, default=FITTED, help="messages of the classifier's")
    given = program.parse_args()
    checkpoint = shipped_checkpoint()
    classifier = fitted(training_texts(given.fitted))
    texts, opinions, whole = [], [], []
    for beginnings, last in messages(given.judged, SEED):
        for n, (text, opinion) in enumerate(beginnings):
            texts.append(text)
            opinions.append(opinion)
            whole.append(float(n == last))
    ends, model = np.array(whole), np.array([log_odds(opinion) for opinion in opinions])
    words = classifier[0] + np.stack([row_of(text) for text in texts]) @ classifier[1:]
    together = [Cues(text, end_of_message=said) for text, said in zip(texts, opinions, strict=True)]
    scores = {
        "rules": np.array([evidence(Cues(text)) for text in texts]),
        "small classifier on the words": words,
        "the model": model,
        "the model and the rules": np.array([evidence(cues) for cues in together]),
        "the model and the classifier": words + model,
    }
    told = {
        "checkpoint": checkpoint,
        "messages": int(ends.sum()),
        "beginnings": int(len(ends) - ends.sum()),
        "told_apart": {name: judged(each, ends) for name, each in scores.items()},
    }
    program.write(told)


if __name__ == "__main__":
    main()
