from __future__ import annotations

from dlm.train.data import learn


def test_a_vocabulary_knows_the_words_of_tools_and_dialogues() -> None:
    made = learn(None, share_alike=False, vocab_size=1400, dialogues=200)
    assert made.vocab_size == 1400
    for word in (" the", " weather", " please"):
        assert len(made.encode(word)) == 1
    assert made.decode(made.encode(" Zürich 12:30")) == " Zürich 12:30"
