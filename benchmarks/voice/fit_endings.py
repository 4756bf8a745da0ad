"""Fits the log odds of an end of turn: ``python -m benchmarks.voice.fit_endings``.

A new checkpoint gives other probabilities to the same words, and a new number in `inputs_of` needs
a weight. After either, run these, which takes ten minutes:

    python -m benchmarks.voice.fit_endings
    python -m benchmarks.voice.endpointing --plot

The first prints `BIAS` and `WEIGHTS`; copy them into `voice.hearing.end_of_turn`. The cues at the
recordings' pauses, and the model's probabilities for messages, are kept as long as the checkpoint
stays the same. --fresh computes them anew: use it after a change of the recogniser or for a new
field of `Cues`. A number that `inputs_of` makes from the words needs neither --fresh nor a change
here.

The weights are fitted to the pauses of the tuning half of benchmarks/voice/endpointing.py, and to
messages of held-out dialogues of the generator, whole and broken off after each word. Every pause
counts with and without the model's probability, so that the weights also hold before that arrives.
The profiles' figures with the new weights, on the half that these were fitted to, are printed too.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from random import Random

import numpy as np
from numpy.typing import NDArray

from benchmarks.voice.corpus import is_put_aside
from benchmarks.voice.dead_air import (
    BARS,
    BUDGETS,
    Point,
    cheapest,
    domain,
    in_halves,
    kept,
    point_of,
    traces,
    within,
)
from benchmarks.voice.pauses import Traced, dead_air_ms
from voice.hearing.end_of_turn import PROFILES, Cues, Limits, inputs_of, silence_within

MESSAGES = 400
SEED = 5
UNJUDGED_SHARE = 0.5
"""Weight of a pause without the model's probability; with it, the same pause weighs 1."""
EXAMPLES = 300
"""How many examples the pauses, and the messages, count as in relation to the ridge penalty."""

Matrix = NDArray[np.float64]
Message = tuple[list[tuple[str, float]], int]
Examples = tuple[Matrix, Matrix, Matrix]
Weights = tuple[float, Matrix]
"""Bias, and one weight for each input: (F,)."""
Odds = Mapping[tuple[str, Cues], float]
"""Name of a recording, and the cues at a pause → log odds that the turn is over."""


def messages(count: int, seed: int = SEED) -> Iterator[Message]:
    """Yield the beginnings of messages, each with the model's probability that the message ends.

    The number beside them is the index of the last one, which is the whole message.
    """
    from dlm.datagen.dialogues import generate
    from dlm.engine.engine import Engine
    from dlm.language.messages import Turn
    from dlm.language.template import tools_of, turn_of

    engine, rng = Engine.load(), Random(seed)
    for row, _ in zip(generate(seed, split="heldout"), range(count), strict=False):
        said = row["messages"]
        at = rng.choice([i for i, message in enumerate(said) if message["role"] == "user"])
        turns = [Turn("system", row["system"])] if row.get("system") else []
        turns += [turn_of(message) for message in said[:at]]
        tools = tools_of(row["tools"])
        words = said[at]["content"].split()
        begun = [" ".join(words[: n + 1]) for n in range(len(words))]
        ends = [engine.end_of_message([*turns, Turn("user", text)], tools) for text in begun]
        yield list(zip(begun, ends, strict=True)), len(words) - 1
    engine.close()


def of_pauses(heard: Sequence[Traced]) -> Examples:
    """Examples of pauses with words: inputs (N, F), ends (N,), and weights (N,) that sum to 1."""
    rows = [
        (inputs_of(pause.cues.text, end_of_message), float(pause.gap_ms is None), weight)
        for traced in heard
        for pause in traced.pauses
        if pause.cues.text
        for end_of_message, weight in ((pause.cues.end_of_message, 1.0), (None, UNJUDGED_SHARE))
    ]
    return _examples(rows)


def of_messages(known: Sequence[Message]) -> Examples:
    """Examples of messages; an end weighs as much as all beginnings of its message together."""
    rows = [
        (inputs_of(text, known_end), float(n == last), 1.0 if n == last else 1.0 / last)
        for beginnings, last in known
        for n, (text, end_of_message) in enumerate(beginnings if last else ())
        for known_end in (end_of_message, None)
    ]
    return _examples(rows)


def _examples(rows: Sequence[tuple[tuple[float, ...], float, float]]) -> Examples:
    inputs, ends, weights = (np.array(column) for column in zip(*rows, strict=True))
    return inputs, ends, weights / weights.sum()


def fit(pauses: Examples, texts: Examples) -> Weights:
    """Bias and weights of a ridge logistic regression over pauses and messages."""
    inputs, ends, shares = (np.concatenate(both) for both in zip(pauses, texts, strict=True))
    return logistic(inputs, ends, EXAMPLES * shares)


def unseen(heard: Sequence[Traced], texts: Examples) -> dict[str, Weights]:
    """Name of a recording → the weights fitted to the half that it is not in."""
    aside, tuning = in_halves(heard)
    fitted = {True: fit(of_pauses(tuning), texts), False: fit(of_pauses(aside), texts)}
    return {traced.name: fitted[is_put_aside(traced.name)] for traced in heard}


def odds_by(heard: Sequence[Traced], fitted: Mapping[str, Weights]) -> Odds:
    """Log odds that each pause with words is the end, by the weights for its recording."""
    odds = {}
    for traced in heard:
        bias, weights = fitted[traced.name]
        for cues in (pause.cues for pause in traced.pauses if pause.cues.text):
            inputs = inputs_of(cues.text, cues.end_of_message)
            odds[traced.name, cues] = float(bias + weights @ inputs)
    return odds


def judged_each(heard: Sequence[Traced], limits: Limits, odds: Odds) -> list[float | None]:
    """Dead air of each recording under limits, in milliseconds; None where it was cut off."""

    def wait(name: str, cues: Cues) -> float:
        return silence_within(cues, limits, odds[name, cues] if cues.text else 0.0)

    return [dead_air_ms(traced, partial(wait, traced.name)) for traced in heard]


def judged(heard: Sequence[Traced], limits: Limits, odds: Odds) -> Point:
    """False cutoffs and dead air of recordings under limits."""
    return point_of(judged_each(heard, limits, odds), limits.bar)


def message_examples(fresh: bool) -> Examples:
    """The messages that the weights are fitted to, as examples; from a file if it is there."""
    return of_messages(kept("messages", lambda: list(messages(MESSAGES)), fresh))


def fit_and_print(fresh: bool) -> None:
    """Fit to the tuning half, and print the weights and their figures on it."""
    _, tuning = in_halves(traces(fresh))
    bias, weights = fit(of_pauses(tuning), message_examples(fresh))
    heard = domain(tuning)
    odds = odds_by(heard, {traced.name: (bias, weights) for traced in heard})
    for profile, limits in PROFILES.items():
        print(profile, judged(heard, limits, odds))
    tried = [judged(heard, within(bar), odds) for bar in BARS]
    for budget in BUDGETS:
        print(f"at most {budget:.0%} cut off:", cheapest(tried, budget))
    print(f"BIAS = {bias:.3f}")
    print(f"WEIGHTS = ({', '.join(f'{weight:.3f}' for weight in weights)})")


def logistic(features: Matrix, ends: Matrix, weights: Matrix) -> tuple[float, Matrix]:
    """Intercept and coefficients of a ridge logistic regression, by Newton's method.

    Args:
        features: (N, F).
        ends: (N,) of 0 and 1.
        weights: (N,).
    """
    mean, spread = features.mean(0), features.std(0) + 1e-9
    inputs = np.column_stack([np.ones(len(ends)), (features - mean) / spread])
    ridge = np.diag([0.0, *np.ones(features.shape[1])])
    found = np.zeros(inputs.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-inputs @ found))
        slope = inputs.T @ (weights * (p - ends)) + ridge @ found
        curve = (inputs * (weights * p * (1 - p))[:, None]).T @ inputs + ridge
        found -= np.linalg.solve(curve, slope)
    each = found[1:] / spread
    return float(found[0] - mean @ each), each


def ranking(scores: Matrix, ends: Matrix) -> float:
    """How often an end scores above a non-end: the area under the ROC curve; ties count half."""
    high, low = scores[ends == 1], scores[ends == 0]
    above = (high[:, None] > low).mean() + 0.5 * (high[:, None] == low).mean()
    return round(float(above), 3)


def main() -> None:
    """Fit and print the weights."""
    parser = argparse.ArgumentParser(
        "benchmarks.voice.fit_endings", description=(__doc__ or "").split("\n", 1)[0]
    )
    parser.add_argument("--fresh", action="store_true", help="compute all cues anew")
    fit_and_print(parser.parse_args().fresh)


if __name__ == "__main__":
    main()
