from __future__ import annotations

import numpy as np

from benchmarks.voice.opinion import fitted, judged, row_of, training_texts


def test_the_classifier_learns_which_words_end_messages() -> None:
    texts = []
    for thing in ("milk", "tea", "bread", "salt"):
        words = f"please buy some {thing}".split()
        texts += [(" ".join(words[:n]), n == len(words)) for n in range(1, len(words) + 1)]
    at, *each = fitted(texts)
    scores = at + np.stack([row_of(text) for text, _ in texts]) @ np.array(each)
    told = judged(scores, np.array([float(end) for _, end in texts]))
    assert told["ends_ranked_above_beginnings"] == 1
    assert told["beginnings_taken_for_whole_at_95%_of_ends"] == 0


def test_every_training_message_ends_once() -> None:
    texts = training_texts(5)
    assert sum(end for _, end in texts) == 5
    assert all(text.strip() for text, _ in texts)
