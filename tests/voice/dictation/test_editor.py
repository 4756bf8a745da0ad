"""What was said as the text that was meant."""

from __future__ import annotations

import doctest
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.voice.dictation import invented
from voice.dictation import (
    corrections,
    editor,
    figures,
    hesitations,
    lists,
    marks,
    names,
    spelling,
    written,
)
from voice.dictation.editor import edited

WORDS = """
um uh no sorry i mean wait the a my tuesday monday five six twenty comma period new line bullet john
like you know first second third one two three dot at com delete that dash open quote close with an
double pm and or but to we they there is it was milk train
"""


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        # Hesitations.
        ("um the train is, uh, late", "The train is late."),
        ("Well, um, the roof, you know, leaks.", "The roof leaks."),
        ("it was like flooded and like nobody came", "It was flooded and nobody came."),
        ("Hmm.", ""),
        # Numbers said in parts.
        ("call me at five five five one two three four", "Call me at 5551234."),
        ("The code, one, two, three, four.", "The code, one, two, three, four."),
        ("call one eight hundred five five five one two one two today",
         "Call 18005551212 today."),
        ("ask in room two oh four at twelve oh one p m", "Ask in room 204 at 12:01 p.m."),
        ("a hundred and fifty people came", "150 people came."),
        # Slips and corrections.
        ("we we should we should go to the the bank", "We should go to the bank."),
        ("It starts at nine, no, ten in the morning.", "It starts at 10 in the morning."),
        ("the party is on friday i mean saturday", "The party is on Saturday."),
        ("Ask Maria, sorry, ask Elena about the keys.", "Ask Elena about the keys."),
        ("Send the, send a card to my aunt.", "Send a card to my aunt."),
        ("i need to i want to sleep", "I want to sleep."),
        ("the shop is shut scratch that i found it open", "I found it open."),
        # Marks and breaks.
        ("no comma thanks exclamation mark", "No, thanks!"),
        ("She said, open quote, never, close quote, period.", 'She said, "never".'),
        ("dear ms okafor comma new paragraph it works period", "Dear Ms Okafor,\n\nIt works."),
        ("It rained. Delete that. It snowed.", "It snowed."),
        ("that is all caps free", "That is FREE."),
        # Lists.
        ("bullet two eggs bullet a lemon", "\n- Two eggs\n- A lemon"),
        ("Plan. One, wash. Two, dry. Three, iron.", "Plan.\n1. Wash.\n2. Dry.\n3. Iron."),
        ("First, knock. Second, wait. Third, leave.", "1. Knock.\n2. Wait.\n3. Leave."),
        ("Dash, bread. Dash, jam.", "\n- Bread.\n- Jam."),
        # Names.
        ("her name is shivon s i o b h a n", "Her name is Siobhan."),
        ("It's Jon. J-O-H-N. Smith.", "It's John. Smith."),
        ("It's Philip with double L.", "It's Phillip."),
        ("It's Philip with double L. Yes, Philip with a double L.", "It's Phillip. Yes, Phillip."),
        ("Ask Sara with an H. That's Sara with double R.", "Ask Sarrah. That's Sarrah."),
        ("ask catherine with a k no e and with double n", "Ask Kathrinne."),
        ("call steven with a v and Mrs Brown with an e", "Call Steven with a v and Mrs Browne."),
        # Numbers.
        ("it costs twenty five dollars and ten percent", "It costs $25 and 10%."),
        ("at seven fifteen p m in room three b", "At 7:15 p.m. in room 3B."),
        ("my code is double four oh nine", "My code is 4409."),
        ("blood pressure one twenty over eighty", "Blood pressure 120/80."),
        ("version two dot one is at one nine two dot one six eight dot one dot one",
         "Version 2.1 is at 192.168.1.1."),
        ("mail me at j dot doe at example dot org", "Mail me at j.doe@example.org."),
        ("two of the three million", "Two of the three million."),
    ],
)  # fmt: skip
def test_what_was_meant(said: str, meant: str) -> None:
    assert edited(said) == meant


@pytest.mark.parametrize(
    "text",
    [
        "There is no sugar in my tea.",
        "He is well, I think.",
        "You know the answer better than I do.",
        "I'm sorry I missed your call.",
        "I like it, and she does not.",
        "It's a long period of time.",
        "The colon is part of the gut.",
        "We had one dog, two cats and three birds.",
        "She finished first, and he came second.",
        "It was very, very cold.",
        "I had had enough.",
        "Either a fox or a dog.",
        "No, I don't want to.",
        "Delete that file from your computer.",
        "What I mean is that it works.",
        "They went over and over and over it.",
        "He waits at the bank, at noon.",
        "There was no b flat in it.",
        "It was Philip, no I think not.",
        "Do not give aspirin, no, give paracetamol.",
        "Don't wait, no need.",
        "To err is human.",
        "He weighs 200 pounds.",
        "The doctor said that I may go in May.",
    ],
)
def test_words_that_only_look_like_it_stay(text: str) -> None:
    assert edited(text) == text


def test_the_text_revises_itself_with_every_word() -> None:
    said = ["um", "the", "bus", "leaves", "at", "five", "no", "six"]
    shown = [edited(" ".join(said[: count + 1])) for count in range(len(said))]
    assert shown[:3] == ["", "The", "The bus."]
    assert shown[-3:] == [
        "The bus leaves at five.", "The bus leaves at five no.", "The bus leaves at six."
    ]  # fmt: skip


@given(st.lists(st.sampled_from(WORDS.split()), max_size=30).map(" ".join))
def test_no_word_is_invented(said: str) -> None:
    # A number may stand where the one stood that it corrects.
    assert set(invented(said, edited(said))) <= set(said.split())


@given(st.text(alphabet=st.characters(max_codepoint=0x2FF), max_size=60))
def test_any_text_is_taken(said: str) -> None:
    edited(said)


@pytest.mark.parametrize(
    "module", [corrections, editor, figures, hesitations, lists, marks, names, spelling, written]
)
def test_the_examples_hold(module: object) -> None:
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner()
    for test in finder.find(module):
        runner.run(test)
    assert runner.summarize().failed == 0


@pytest.mark.parametrize("piece", ["\n", " ", "new line ", "\n- ", "a. scratch that. "])
def test_hostile_text_takes_no_longer_than_it_is_long(piece: str) -> None:
    """Patterns that try again at each blank took seconds for some hundred, and then minutes."""
    begun = time.thread_time()
    edited("a" + piece * 2000 + "b")
    assert time.thread_time() - begun < 2
