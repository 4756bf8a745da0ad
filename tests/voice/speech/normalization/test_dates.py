from __future__ import annotations

import pytest

from voice.speech.normalization import spoken


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("November 21, 2026", "November twenty first, twenty twenty six"),
        ("Nov. 21", "November twenty first"),
        ("May 5th", "May fifth"),
        ("May 5.", "May fifth."),
        ("21 November 2026", "the twenty first of November, twenty twenty six"),
        ("the 1st of May", "the first of May"),
        ("November 2026", "November twenty twenty six"),
        ("2026-11-21", "November twenty first, twenty twenty six"),
        ("2026-11-21T15:30:00Z", "November twenty first, twenty twenty six, fifteen thirty"),
        ("2026-02-30", "two zero two six, zero two, three zero"),
        ("11/21", "November twenty first"),
        ("21/11/2026", "November twenty first, twenty twenty six"),
        ("2/29", "February twenty ninth"),
        ("2025/12/25", "December twenty fifth, twenty twenty five"),
        ("on 21.11.2026.", "on November twenty first, twenty twenty six."),
        ("Nov 21-23, 2026", "November twenty first to twenty third, twenty twenty six"),
        ("from 1939 to 1945", "from nineteen thirty nine to nineteen forty five"),
        ("In 1999, it", "In nineteen ninety nine, it"),
        ("the 1500s", "the fifteen hundreds"),
        ("Mon–Fri", "Monday to Friday"),
        ("Monday-Friday", "Monday to Friday"),
        ("Mon, Nov 23", "Monday, November twenty third"),
        ("Sat 5 people sat", "Sat five people sat"),
        ("9.30am", "nine thirty a m"),
        ("by 1/2", "by January second"),
        ("in 1999", "in nineteen ninety nine"),
        ("the 2026 cup", "the twenty twenty six cup"),
        ("1999 items", "one thousand nine hundred and ninety nine items"),
        ("2019-2021", "twenty nineteen to twenty twenty one"),
        (
            "the 1990s, the '80s, the 2000s",
            "the nineteen nineties, the eighties, the two thousands",
        ),
        ("wait 30s", "wait thirty seconds"),
        ("Highs in the mid 70s.", "Highs in the mid seventies."),
        ("mid-70s, low 60s", "mid seventies, low sixties"),
        ("the late 90s", "the late nineties"),
        ("in her 30s or early 40s", "in her thirties or early forties"),
        ("in the 60s and 70s", "in the sixties and seventies"),
        ("low to upper 80s", "low to upper eighties"),
        ("set a 30s timer", "set a thirty seconds timer"),
        ("It is late. 30s are left.", "It is late. thirty seconds are left."),
        ("Mon. at noon", "Monday at noon"),
    ],
)
def test_dates(text: str, said: str) -> None:
    assert spoken(text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("3:35", "three thirty five"),
        ("10:00", "ten o'clock"),
        ("15:00", "fifteen hundred"),
        ("12:30am", "twelve thirty a m"),
        ("7 p.m. sharp", "seven p m sharp"),
        ("It is 7 p.m. Then go.", "It is seven p m. Then go."),
        ("3:35:10", "three thirty five and ten seconds"),
        ("16:9", "sixteen to nine"),
        ("25:61", "twenty five to sixty one"),
        ("10:30-11:30, 7–9 PM", "ten thirty to eleven thirty, seven to nine p m"),
        ("13:00 PM", "thirteen hundred p m"),
    ],
)
def test_times(text: str, said: str) -> None:
    assert spoken(text) == said
