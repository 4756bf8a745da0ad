from dlm.engine import Engine, Finished, Request
from dlm.evaluate.talk import loops, openers, perplexity, small_talk
from dlm.template import Answer
from dlm.train.corpora import Corpora
from tests.dlm.evaluate.rows import RIGHT, finished

PAIRS = [("hello there", "hi"), ("how are you", "fine thanks"), ("tell me more", "no")]


def test_openers_are_drawn_once_each() -> None:
    corpora = Corpora(chat=[*PAIRS, ("hello there", "good day")])
    assert sorted(o for o, _ in openers(corpora, 9, 1)) == sorted(o for o, _ in PAIRS)
    assert openers(corpora, 2, 1) == openers(corpora, 2, 1)


def test_what_is_wrong_with_replies_is_counted() -> None:
    answers = iter([Answer("I am I am I am I am I am.", ()), Answer("", ()), RIGHT])

    def ask(request: Request) -> Finished:
        return finished(next(answers))

    told = small_talk(PAIRS, ask)
    assert told["openers"] == 3
    for name in ("loops", "empty", "called"):
        assert told[name] == 0.3333, name


def test_a_refrain_is_a_loop_and_a_repeated_word_is_not() -> None:
    assert loops("very very very good") is False
    assert loops("it is so and it is so and it is so") is True


def test_perplexity_is_that_of_the_engine(engine: Engine) -> None:
    known = perplexity(PAIRS, engine)
    assert known > 1.0
