from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from num2words import num2words

from voice.tools.builtin.arithmetic import calculate, evaluate
from voice.tools.registry import ToolError


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("twelve times seven", "12 times 7 is 84."),
        ("twelve x seven", "12 x 7 is 84."),
        ("two plus three times four", "2 plus 3 times 4 is 14."),
        ("five hundred and one plus two", "501 plus 2 is 503."),
        ("ten divided by three", "10 divided by 3 is 3.33."),
        ("1,200 / 6", "1200 / 6 is 200."),
        ("seventeen modulo five", "17 modulo 5 is 2."),
        ("fifteen percent of eighty", "15 percent of 80 is 12."),
        ("ten percent of eighty four fifty", "10 percent of 84.50 is 8.45."),
        ("two times eighty four dollars and ten cents", "2 times 84.10 is 168.2."),
        ("eighty plus ten percent", "80 plus 10 percent is 88."),
        ("twenty percent off fifty", "20 percent off 50 is 40."),
        ("a fifteen percent tip on sixty dollars", "A 15 percent tip on 60 dollars is 9."),
        ("15% of 80", "15% of 80 is 12."),
        ("19 percent vat on 240", "19 percent vat on 240 is 45.6."),
        ("twelve take away five", "12 take away 5 is 7."),
        ("$50 plus 8%", "$50 plus 8% is 54."),
        ("twenty percent of $45", "20 percent of $45 is 9."),
        ("nine squared", "9 squared is 81."),
        ("two cubed minus one", "2 cubed minus 1 is 7."),
        ("minus two squared", "Minus 2 squared is -4."),
        ("the square root of sixteen", "The square root of 16 is 4."),
        ("cube root of twenty seven", "Cube root of 27 is 3."),
        ("two to the power of ten", "2 to the power of 10 is 1024."),
        ("two to the third", "2 to the third is 8."),
        ("two to the second plus one", "2 to the second plus 1 is 5."),
        ("two to the third power", "2 to the third power is 8."),
        ("2^10", "2^10 is 1024."),
        ("(2+3)*4", "(2+3)*4 is 20."),
        (
            "open parenthesis two plus three close parenthesis times four",
            "Open parenthesis 2 plus 3 close parenthesis times 4 is 20.",
        ),
        ("three quarters of eighty", "3 quarters of 80 is 60."),
        ("two and a half times four", "2 and a half times 4 is 10."),
        ("multiply six by seven", "6 times 7 is 42."),
        ("what is nine plus nine equals", "9 plus 9 is 18."),
        ("divide that 40.8 by three", "40.8 divided by 3 is 13.6."),
        ("split sixty between four people", "60 divided by 4 people is 15."),
        ("split ninety dollars three ways", "90 dollars divided by 3 is 30."),
        ("take five off 40.8", "40.8 minus 5 is 35.8."),
        ("round 40.8 up", "40.8 rounded up is 41."),
        ("round 40.8 down", "40.8 rounded down is 40."),
        ("round 40.5", "40.5 rounded is 41."),
        ("round twenty two divided by seven", "22 divided by 7 rounded is 3."),
        ("40.8 rounded down plus one", "40.8 rounded down plus 1 is 41."),
    ],
)
def test_sums(said: str, answer: str) -> None:
    assert calculate(said) == answer


@pytest.mark.parametrize(
    "said",
    [
        "",
        "blue",
        "ninety nine minus",
        "plus",
        "(2 + 3",
        "2 3",
        "square root of minus four",
        "nine to the power of nine to the power of nine",
        "__import__('os').getcwd()",
        "1 " + "+ 1" * 200,
        "(" * 280,
        "minus " * 45,
    ],
)
def test_what_is_no_sum(said: str) -> None:
    with pytest.raises(ToolError, match=r"^I could not calculate that\.$"):
        calculate(said)


@pytest.mark.parametrize(
    "said", ["ten divided by zero", "zero over zero", "zero to the power of minus one"]
)
def test_division_by_zero(said: str) -> None:
    with pytest.raises(ToolError, match=r"^I cannot divide by zero\.$"):
        calculate(said)


def test_a_number_nobody_could_say() -> None:
    with pytest.raises(ToolError, match=r"^That number is too large to say\.$"):
        calculate("ten to the power of twenty")


@given(st.integers(0, 99_999), st.integers(0, 99_999), st.integers(1, 999))
def test_words_are_worked_out_as_python_would(a: int, b: int, c: int) -> None:
    words = [num2words(number) for number in (a, b, c)]
    assert evaluate(f"{words[0]} plus {words[1]} times {words[2]}") == a + b * c
    assert evaluate(f"{words[0]} minus {words[1]}") == a - b
    assert abs(evaluate(f"{a} divided by {c}") - Decimal(a) / c) < Decimal("1e-9")


@given(st.text(alphabet="0123456789+-*/^()% .abcdefghijklmnopqrstuvwxyz", max_size=40))
def test_any_text_is_worked_out_or_refused(said: str) -> None:
    try:
        calculate(said)
    except ToolError as failure:
        assert str(failure).endswith(".")
