import json
import lzma
from pathlib import Path

from dlm.datagen.corpora import Corpora
from dlm.engine.engine import Engine, Finished, Request
from dlm.evaluate.talk import PEOPLE, alike, loops, openers, perplexity, small_talk
from dlm.language.messages import Answer
from tests.dlm.evaluate.rows import RIGHT, finished

PAIRS = [("hello there", "hi"), ("how are you", "fine thanks"), ("tell me more", "no")]


def test_openers_are_drawn_once_each_and_peoples_fill_up(tmp_path: Path) -> None:
    corpora = Corpora(chat=[*PAIRS, ("hello there", "good day")])
    said = [("have you seen jaws", "yes"), ("hello there", "you"), ("oh", "short")]
    said += [(f"did you see film {number}", "no") for number in range(9)]
    with lzma.open(tmp_path / PEOPLE, "wt", encoding="utf-8") as out:
        for pair in said:
            out.write(json.dumps({"messages": [{"content": text} for text in pair]}) + "\n")
    found = openers(corpora, tmp_path, 9, 1)
    assert {o for o, _ in found[:3]} == {o for o, _ in PAIRS}
    assert len(dict(found)) == 9
    assert "oh" not in dict(found)
    assert openers(corpora, tmp_path, 9, 1) == found
    # Where small talk suffices nobody else's dialogues are read.
    assert len(openers(corpora, tmp_path / "nowhere", 2, 1)) == 2


def test_replies_are_alike_where_they_answer_the_same() -> None:
    chat = [("it is over", "A pity."), ("it is over", "Aw nuts."), ("goodbye", "Aw nuts.")]
    found = alike(Corpora(chat=chat))
    assert found["A pity."] == {"A pity.", "Aw nuts."}
    assert found["Happy birthday!"] == {"Happy birthday!", "Happy birthday to you!"}
    # Two topics share a reply: it goes with the others of both, they do not go with one another.
    assert {"Okay.", "Sure."} < found["Alright."]
    assert "A pity." not in alike(None)


def test_what_is_wrong_with_replies_is_counted() -> None:
    answers = iter([Answer("I am I am I am I am I am.", ()), Answer("", ()), RIGHT])

    def ask(request: Request) -> Finished:
        return finished(next(answers))

    told = small_talk(PAIRS, ask)
    assert told["openers"] == 3
    for name in ("loops", "empty", "called"):
        assert told[name] == 0.3333, name


def test_calls_are_no_replies() -> None:
    texts = ["One thing.", "One thing.", "Another thing that is longer.", "A third."]
    answers = iter([RIGHT] * 4 + [Answer(text, ()) for text in texts])
    pairs = [(str(number), "") for number in range(8)]
    told = small_talk(pairs, lambda _: finished(next(answers)))
    assert (told["called"], told["empty"]) == (0.5, 0.0)
    assert (told["commonest_reply"], told["words_p50"]) == (0.5, 2.0)


def test_a_refrain_is_a_loop_and_a_repeated_word_is_not() -> None:
    assert loops("very very very good") is False
    assert loops("it is so and it is so and it is so") is True


def test_perplexity_is_that_of_the_engine(engine: Engine) -> None:
    known = perplexity(PAIRS, engine)
    assert known > 1.0
