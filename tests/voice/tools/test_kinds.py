"""Kinds of values: what is read as one, how it is kept, and that it is read again as the same."""

from __future__ import annotations

from datetime import datetime

import pytest

from voice.tools.kinds import A_PRIVATE_MATTER, KINDS, choice
from voice.tools.registry import Readable, Unreadable

NOW = datetime(2026, 11, 21, 15, 42)
DOCTORS = {"a woman doctor": ("an? (?:woman|lady) doctor",), "a man doctor": ("a man",)}


def kept(reads: Readable, words: str) -> str:
    """What is kept of some words; empty where they cannot be read."""
    try:
        value = str(reads.read(words, NOW))
    except Unreadable:
        return ""
    assert reads.read(value, NOW) in (value, A_PRIVATE_MATTER) or reads.free
    return value


@pytest.mark.parametrize(
    ("kind", "words", "expected"),
    [
        ("person", "Anna Schmidt", "Anna Schmidt"),
        ("person", "my name is Will Smith", "Will Smith"),
        ("person", "it's for my son peter miller", "Peter Miller"),
        ("person", "J-O-N-E-S", "Jones"),
        ("person", "that would be Lena Vogt please", "Lena Vogt"),
        ("person", "I'd rather not say", ""),
        ("person", "can we do eleven instead", ""),
        ("person", "it's for two people", ""),
        ("person", "Jim Day", "Jim Day"),
        ("person", "jim day", ""),
        ("person", "Tuesday Morning", ""),
        ("person", "call me back", ""),
        ("person", "on a miller", ""),
        ("person", "Ruth Adler. A D L E R", "Ruth Adler"),
        ("person", "Jon Smith, J O H N", "John Smith"),
        ("person", "Ruth, A D L E R", "Ruth Adler"),
        ("person", "Mary O'Neil, O N E I L", "Mary O'Neil"),
        ("person", "Peter Kovalchik, k o w a l c z y k", "Peter Kowalczyk"),
        ("person", "it's Kent, Ruth Kent", ""),
        ("person", "Ruth J. Kent", "Ruth J. Kent"),
        ("person", "something after eleven", ""),
        ("person", "she'll be home", ""),
        ("person", "Brady, B R A D Y, Maeve Brady", "Maeve Brady"),
        ("person", "Maeve, spelled M A E V E, Brady", "Maeve Brady"),
        ("person", "Shivon Newin, that's S I O B H A N, N G U Y E N", "Siobhan Nguyen"),
        ("person", "its under the name of okonkwo", "Okonkwo"),
        ("person", "Katrin Vogel from Vogel Logistics", "Katrin Vogel"),
        ("person", "yesterday", ""),
        ("number of people", "a table for five", "5"),
        ("number of people", "two adults and a child", "3"),
        ("number of people", "me, my wife and two children, so four", "4"),
        ("number of people", "just me", "1"),
        ("number of people", "there'll be me", ""),
        ("number of people", "a table", ""),
        ("number of people", "at seven", ""),
        ("number of people", "seven thirty", ""),
        ("phone number", "oh five five double seven one", "0 5 5 7 7 1"),
        ("phone number", "my number is 555-123 4567", "5 5 5 1 2 3 4 5 6 7"),
        (
            "phone number",
            "oh seven, double seven, nine hundred twelve three",
            "0 7 7 7 9 0 0 1 2 3",
        ),
        ("phone number", "seven twenty three forty oh five", "7 2 3 4 0 0 5"),
        ("phone number", "no, eleven", ""),
        ("phone number", "my work number is 0 7 7 0 0 9", "0 7 7 0 0 9"),
        ("phone number", "0 5 5 7 7 1 ends in two three", "0 5 5 7 2 3"),
        ("phone number", "0 5 5 7 7 1 ends in six, double six", "0 5 5 7 6 6"),
        ("phone number", "0 5 5 7 7 1 ends in six, five", "0 5 5 7 6 5"),
        ("phone number", "0 5 5 7 7 1 ends in tears", ""),
        ("day", "next week", ""),
        ("phone number", "1947 07700 900789", ""),
        ("birth date", "2 May 1971", "May 2, 1971"),
        ("birth date", "born on the second of May nineteen seventy one", "May 2, 1971"),
        ("birth date", "date of birth is May 2nd, 1971", "May 2, 1971"),
        ("birth date", "02/05/1971", "May 2, 1971"),
        ("birth date", "31 June 1971", ""),
        ("birth date", "2 May 2031", ""),
        ("birth date", "2 May", ""),
        ("day", "next tuesday", "2026-11-24"),
        ("day", "friday afternoon", ""),
        ("day", "this evening", "2026-11-21"),
        ("day", "one on friday", ""),
        ("day", "afternoon if possible", ""),
        ("part of day", "mornings", "in the morning"),
        ("part of day", "some time after three", "after 3:00 PM"),
        ("part of day", "three", ""),
        ("part of day", "any time not before ten", "after 10:00 AM"),
        ("part of day", "not before lunch", "after 12:00 PM"),
        ("part of day", "not after lunch", "in the morning"),
        ("clock time", "half past ten", "10:30 AM"),
        ("clock time", "in the afternoon", ""),
        ("clock time", "two at one", ""),
        ("words", "I have a bad cough", "a bad cough"),
        ("words", "it's about a rash on my arm", "a rash on my arm"),
        ("words", "I have a stomach ache and I'd like to come", "a stomach ache"),
        ("words", "Hello, can I get a blood test with any doctor please", "a blood test"),
        ("words", "my ear hurts, could you fit me in", "my ear hurts"),
        ("words", "I need to see a doctor, it's private", A_PRIVATE_MATTER),
        ("words", "hello there, there are rats in the store", "rats in the store"),
        ("words", "There is a leak. It began here. Can anyone come?", "a leak, It began here"),
        ("words", "can I still use the sockets", ""),
        ("words", "can I still use the tap, it leaks", "it leaks"),
        ("words", "hello", ""),
        ("words", "we only moved to this area recently", ""),
        ("words", "I'm a new patient", ""),
        ("words", "I have never been here", ""),
        ("words", "I'd like a check-up on monday, I'm flexible", "a check-up on monday"),
        ("words", "I can't move my neck", "I can't move my neck"),
        ("words", "my back, I've never been here", "my back"),
        ("words", "I'd like to make an appointment", ""),
        ("words", "what are your opening hours", ""),
        ("words", "can I speak to a person", ""),
    ],
)
def test_what_is_kept(kind: str, words: str, expected: str) -> None:
    assert kept(KINDS[kind], words) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("my name is lena vogt", True), ("I'm Lena Vogt", True), ("Lena Vogt here", True),
        ("it's late", False), ("I'm calling", False), ("Lena Vogt", False), ("it's Monday", False),
    ],
)  # fmt: skip
def test_who_says_outright_that_it_is_a_name(words: str, expected: bool) -> None:
    outright = KINDS["person"].outright
    assert outright
    try:
        read = outright(words, NOW)
    except Unreadable:
        read = ""
    assert bool(read) is expected


def test_a_choice_is_one_of_its_options() -> None:
    reads = choice(DOCTORS)
    assert kept(reads, "a lady doctor") == "a woman doctor"
    assert kept(reads, "a vet") == ""


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("A 10.", "10:00 AM"), ("add ten, please", "10:00 AM"), ("at half past ten", "10:30 AM"),
        ("Yeah, an 8.", "8:00 AM"), ("two people", ""), ("a 2 people", ""), ("that one", ""),
        ("a day", ""), ("saturday the 10", ""), ("May 10", ""), ("a 30", ""), ("an hour", ""),
    ],
)  # fmt: skip
def test_an_answer_to_the_question_for_a_time_may_be_misheard(words: str, expected: str) -> None:
    reads = KINDS["clock time"]
    assert reads.hardly
    assert kept(Readable(reads.hardly), words) == expected
