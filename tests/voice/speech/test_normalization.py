from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.speech.normalization import spoken, spoken_words
from voice.speech.normalization.markup import strip_markup

SENTENCES = [
    ("It costs $49.95.", "It costs forty nine dollars and ninety five cents."),
    ("Alarm set for 7:00 AM tomorrow.", "Alarm set for seven a m tomorrow."),
    ("5 miles is 8.05 kilometers.", "five miles is eight point zero five kilometers."),
    ("Apple is at 87.20 dollars.", "Apple is at eighty seven dollars and twenty cents."),
    ("9 minutes 30 seconds left.", "nine minutes thirty seconds left."),
    ("Dr. Smith, e.g., is in the U.S.", "doctor Smith, for example, is in the U S."),
    ("Tomorrow is Sunday, November 22, 2026.",
     "Tomorrow is Sunday, November twenty second, twenty twenty six."),
    ("2 reminders: call mom, 5:00 PM today; buy milk.",
     "two reminders: call mom, five p m today; buy milk."),
]  # fmt: skip
NUMBERS = [
    ("0, 1234, 1,234.50", "zero, one thousand two hundred and thirty four,"
     " one thousand two hundred and thirty four point five zero"),
    (".5, -7 and 007", "zero point five, minus seven and zero zero seven"),
    ("9" * 16, " ".join(["nine"] * 16)),
    ("order 12345678 of 1000000", "order one two three four five six seven eight of one million"),
    ("Your code is 483920.", "Your code is four eight three nine two zero."),
    ("call 911, code 4821", "call nine one one, code four eight two one"),
    ("text STOP to 12345", "text STOP to one two three four five"),
    ("ending in 4242", "ending in four two four two"),
    ("Reno, NV 89501", "Reno, N V eight nine five zero one"),
    ("the call is 1200 words", "the call is one thousand two hundred words"),
    ("call 20 people", "call twenty people"),
    ("555-123-4567", "five five five, one two three, four five six seven"),
    ("(555) 123-4567", "five five five, one two three, four five six seven"),
    ("at 555 123 4567.", "at five five five, one two three, four five six seven."),
    ("+44 20 7946 0958", "plus four four, two zero, seven nine four six, zero nine five eight"),
    ("+1 2", "plus one two"),
    ("(02) 9999 8888", "zero two, nine nine nine nine, eight eight eight eight"),
    ("555-1234", "five five five, one two three four"),
    ("415.555.2671", "four one five, five five five, two six seven one"),
    ("Your order number is 48213.", "Your order number is four eight two one three."),
    ("4111 1111 1111 1111", ", ".join(["four one one one"] + ["one one one one"] * 3)),
    ("100 200 3000", "one hundred two hundred three thousand"),
    ("1/2, 3/4, 2½, 5 1/8", "one half, three quarters, two and a half, five and an eighth"),
    ("0/4, 17/20", "zero over four, seventeen over twenty"),
    ("24/7, 50/50", "twenty four seven, fifty fifty"),
    ("4.5/5 rating, a score of 85/100",
     "four point five out of five rating, a score of eighty five out of one hundred"),
    ("on 10/10, 4/5 of it", "on October tenth, four fifths of it"),
    ("1/5, 1/10", "one fifth, one tenth"),
    ("1st, 22nd, 103rd", "first, twenty second, one hundred and third"),
    ("3-5 and 10–12", "three to five and ten to twelve"),
    ("10k, 5M, 8.1B", "ten thousand, five million, eight point one billion"),
    ("5 x 3, 10x faster", "five times three, ten times faster"),
    ("3.11.2, 192.168.0.1",
     "three point eleven point two, one nine two dot one six eight dot zero dot one"),
    ("it is GMT-5, is UTC-03:30 and UTC+2",
     "it is G M T minus five, is U T C minus three thirty and U T C plus two"),
    ("seat 14B, B2B, COVID-19", "seat fourteen B, B two B, COVID nineteen"),
]  # fmt: skip
AMOUNTS = [
    ("$1, $0.99, $0.01, $0", "one dollar, ninety nine cents, one cent, zero dollars"),
    ("$1,234.56", "one thousand two hundred and thirty four dollars and fifty six cents"),
    ("-$5", "minus five dollars"),
    ("$1.5 million, $5k, €3bn",
     "one point five million dollars, five thousand dollars, three billion euros"),
    ("£1.01, 20 €, 50¢", "one pound and one penny, twenty euros, fifty cents"),
    ("US$5 or A$10.50", "five US dollars or ten Australian dollars and fifty cents"),
    ("$5/month, $12/hr, $3/lb",
     "five dollars per month, twelve dollars per hour, three dollars per pound"),
    ("5 USD, 1 EUR, CHF 20", "five US dollars, one euro, twenty Swiss francs"),
    ("0.86 euros, 17.12 euros", "zero point eight six euros, seventeen euros and twelve cents"),
    ("$0.005", "zero point zero zero five dollars"),
    ("5 km, 1 km, 5km.", "five kilometers, one kilometer, five kilometers."),
    ("12°C, -5 °F, 12°",
     "twelve degrees Celsius, minus five degrees Fahrenheit, twelve degrees"),
    ("30%, 16 GB, 40 sq ft", "thirty percent, sixteen gigabytes, forty square feet"),
    ("60 km/h and 3 mg/l", "sixty kilometers per hour and three milligrams per liter"),
    ("6'2\", 5'0\", 1' 1\"", "six feet two inches, five feet, one foot one inch"),
    ('a 12" pizza, 65".', "a twelve inch pizza, sixty five inches."),
    ("at 5 in the morning", "at five in the morning"),
    ("½ tsp salt, 1½ tsp", "one half teaspoon salt, one and a half teaspoons"),
    ("1h 30m, 2h 1m", "one hour thirty minutes, two hours one minute"),
    ("≈ 10 km², 5 m³", "about ten square kilometers, five cubic meters"),
    ("3,50 € or €1.000,50", "three euros and fifty cents or one thousand euros and fifty cents"),
    ("EUR 2,50, $1,234", "two point five zero euros, one thousand two hundred and thirty four"
     " dollars"),
    ("₩5000, 5 ₽, 5 µg", "five thousand South Korean won, five Russian rubles, five micrograms"),
]  # fmt: skip
DATES = [
    ("November 21, 2026", "November twenty first, twenty twenty six"),
    ("Nov. 21, May 5th, May 5.", "November twenty first, May fifth, May fifth."),
    ("21 November 2026", "the twenty first of November, twenty twenty six"),
    ("the 1st of May, November 2026", "the first of May, November twenty twenty six"),
    ("May 32, 32 May", "May thirty two, thirty two May"),
    ("2026-11-21", "November twenty first, twenty twenty six"),
    ("2026-11-21T15:30:00Z", "November twenty first, twenty twenty six, fifteen thirty"),
    ("2026-02-30", "two zero two six, zero two, three zero"),
    ("11/21, 2/29, by 1/2",
     "November twenty first, February twenty ninth, by January second"),
    ("21/11/2026", "November twenty first, twenty twenty six"),
    ("2025/12/25, 12/25/25", "December twenty fifth, twenty twenty five,"
     " December twenty fifth, twenty twenty five"),
    ("on 21.11.2026.", "on November twenty first, twenty twenty six."),
    ("Nov 21-23, 2026", "November twenty first to twenty third, twenty twenty six"),
    ("from 1939 to 1945", "from nineteen thirty nine to nineteen forty five"),
    ("In 1999, the 2026 cup, 2009 items",
     "In nineteen ninety nine, the twenty twenty six cup, two thousand and nine items"),
    ("2019-2021", "twenty nineteen to twenty twenty one"),
    ("the 1500s, the 1990s", "the fifteen hundreds, the nineteen nineties"),
    ("the '80s, the 2000s", "the eighties, the two thousands"),
    ("Highs in the mid 70s or low 80s. Wait 30s.",
     "Highs in the mid seventies or low eighties. Wait thirty seconds."),
    ("in her 30s, in the 60s and 70s", "in her thirties, in the sixties and seventies"),
    ("Mon–Fri, Monday-Friday", "Monday to Friday, Monday to Friday"),
    ("Mon, Nov 23, Tue. at noon", "Monday, November twenty third, Tuesday at noon"),
    ("Sat 5 people sat", "Sat five people sat"),
    ("3:35, 10:00, 15:00", "three thirty five, ten o'clock, fifteen hundred"),
    ("3:05 PM, 12:30am, 9.30am", "three oh five p m, twelve thirty a m, nine thirty a m"),
    ("It is 7 p.m. Then go.", "It is seven p m. Then go."),
    ("3:35:10, 24:00", "three thirty five and ten seconds, twenty four hundred"),
    ("16:9, 25:61, 25:00", "sixteen to nine, twenty five to sixty one, twenty five to zero"),
]  # fmt: skip
NAMES = [
    ("anna.lee42@example.com.", "anna dot lee forty two at example dot com."),
    ("a_b-c@x.co.uk", "a underscore b dash c at x dot c o dot u k"),
    ("https://www.example.com/docs/a1?x=1#y", "example dot com slash docs slash a one"),
    ("config.toml, v1.2, end.Next", "config dot toml, v one point two, end. Next"),
    ("World War II, The IV drip", "World War two, The I V drip"),
    ("Louis XIV, Malcolm X, Size XX", "Louis fourteen, Malcolm X, Size X X"),
    ("12 Elm Dr, 5 Main St, 5th Ave", "twelve Elm drive, five Main street, fifth avenue"),
    ("Mr. and Mrs. Lee vs. Prof. Ray", "mister and missus Lee versus professor Ray"),
    ("St. Mary on Oak St. and Elm Dr.", "saint Mary on Oak street and Elm drive."),
    ("tea, etc. and so on, etc.", "tea, et cetera and so on, et cetera."),
    ("the U.S. Army, J. Smith, 10 a.m.", "the U S Army, J Smith, ten a m."),
    ("No. 5. No. Yes. I am. So am I.", "number five. No. Yes. I am. So am I."),
    ("tea w/ milk w/o sugar", "tea with milk without sugar"),
    ("a USB stick, it is OK, ASAP, NASA, a PIN",
     "a U S B stick, it is okay, A S A P, NASA, a PIN"),
    ("the GPUs, a TV's USB-C", "the G P U's, a T V's U S B C"),
    ("STOP RIGHT THERE NOW", "stop right there now"),
]  # fmt: skip
SIGNS = [
    ("Settings > Privacy, a > b", "Settings, Privacy, a greater than b"),
    ("order #A-1023, #7 and #tag",
     "order number A one thousand and twenty three, number seven and hashtag tag"),
    ("salt & pepper, and/or, TCP/IP", "salt and pepper, and or, T C P slash I P"),
    ("5 + 3 = 8, 5 - 3, 5*3, 6 / 2", "five plus three equals eight, five minus three,"
     " five times three, six divided by two"),
    ("10² and x^2, x³", "ten squared and x squared, x cubed"),
    ("10⁶, 10⁻⁶ and e^-x", "ten to the power of six, ten to the power of minus six"
     " and e to the power of minus x"),
    ("~5 and < 7", "about five and less than seven"),
    ("x != 5, x <= 5, x >= 5, x == 5",
     "x is not five, x at most five, x at least five, x equals five"),
    (">=5\n>5\n> quoted", "at least five, greater than five, quoted"),
    ("Settings -> Audio", "Settings, Audio"),
    ("yes—no – ok - fine (or not)", "yes, no, ok, fine, or not,"),
    ("Well... maybe. Well... Maybe", "Well, maybe. Well. Maybe"),
    ("Milk\nEggs\n\nDone", "Milk, Eggs. Done"),
    ("What?! Oh.", "What? Oh."),
]  # fmt: skip
RANGES = [
    ("Open 9 AM – 5 PM.", "Open nine a m to five p m."),
    ("9am-5pm, noon–1pm", "nine a m to five p m, noon to one p m"),
    ("from 10 - 12 PM", "from ten to twelve p m"),
    ("Open 9:00 - 17:00 daily", "Open nine o'clock to seventeen hundred daily"),
    ("20°C–25°C, 5% - 10%",
     "twenty degrees Celsius to twenty five degrees Celsius, five percent to ten percent"),
    ("$2M-$3M, $20 – $30",
     "two million dollars to three million dollars, twenty dollars to thirty dollars"),
    ("Dec 25–Jan 2", "December twenty fifth to January second"),
    ("We have 3 – May I?", "We have three, May I?"),
    ("Save 20% – $5 off", "Save twenty percent, five dollars off"),
    ("10 - 5 = 5", "ten minus five equals five"),
]  # fmt: skip
READINGS = [*SENTENCES, *NUMBERS, *AMOUNTS, *DATES, *NAMES, *SIGNS, *RANGES]


@pytest.mark.parametrize(("text", "said"), READINGS)
def test_text_is_written_out_as_it_is_spoken(text: str, said: str) -> None:
    assert spoken(text) == said


@pytest.mark.parametrize(
    "text",
    ["hello there", "don't worry, be happy", "a well-known café, naïve. Really? Yes!", "I am"],
)
def test_plain_words_stay_as_they_are(text: str) -> None:
    assert spoken(text) == text


@pytest.mark.parametrize("text", ["", "  \n", "👍🏽", "---", "\x00\x07", "\ud800", "...", "()"])
def test_nothing_is_spoken_where_nothing_can_be(text: str) -> None:
    assert spoken(text) == ""


WRITTEN = st.one_of(
    st.text(max_size=200),
    st.text("0123456789.,:/-+$€%#*@_()[]<>&^~'\"| \nabpmAMxkK°", max_size=80),
)


@given(WRITTEN)
def test_only_words_and_marks_come_out_each_with_the_end_of_a_written_word(text: str) -> None:
    words = spoken_words(text)
    for word in words:
        assert word.text[0] not in ",.;:!?"
        for char in word.text:
            assert char in "'-,.;:!?" or unicodedata.category(char)[0] in "LM", (word, char)
    ends = [word.end_char for word in words]
    assert ends == sorted(ends)
    for end in ends:
        assert 0 < end <= len(text)
        assert not text[end - 1].isspace()
        assert end == len(text) or text[end].isspace()


def test_the_words_of_an_amount_end_with_it() -> None:
    text = "Pay **$5** now."
    ends = [(word.text, text[: word.end_char]) for word in spoken_words(text)]
    amount = "Pay **$5**"
    assert ends == [("Pay", "Pay"), ("five", amount), ("dollars", amount), ("now.", text)]


@pytest.mark.parametrize(
    "pattern",
    [
        *("1,", "a.a", "(", "5 ", "[a", "<a", "*a", "&a", "a@", "1-", "1/2", "+1 ", "1.2", "A."),
        *("|-", "$1", "http://", "1", "<!--", " \n", "x", "<a ="),
    ],
)
def test_the_time_is_linear_in_the_length(pattern: str) -> None:
    began = time.thread_time()
    spoken(pattern * (8000 // len(pattern)))
    assert time.thread_time() - began < 2.0


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("**bold**, *it*, ***both***, __b__ and _it_", "bold, it, both, b and it"),
        ("`code` and ~~old~~", "code and old"),
        ("# Title", "Title"),
        ("> said\n- one\n* two\n+ three\n- [x] done", "said\none\ntwo\nthree\ndone"),
        ("[label](http://x.y/z) ![a cat](cat.png)", "label a cat"),
        ("```python\nx\n```", "\nx\n"),
        ("<b>fish</b> &amp; chips<br/>", " fish  & chips "),
        ('<a href="x y">a</a><br /> if a<b and c>d', " a   if a<b and c>d"),
        ("a\n---\nb", "a\n\nb"),
        ("2*3*4, snake_case_name, 1 < 2 > 0", "2*3*4, snake_case_name, 1 < 2 > 0"),
        ("it’s “so”", 'it\'s "so"'),
        ("½ and 2½", " 1/2 and 2 1/2"),
        ("５ ﬁn ٣", "5 fin 3"),
        ("👍🏽ok\u200b", "  ok"),
        ("cafe\u0301, \u0301x", "café, x"),
    ],
)
def test_markup_is_stripped(text: str, plain: str) -> None:
    assert strip_markup(text).text == plain


def test_stripped_characters_have_their_origin() -> None:
    text = "a **bold** [x](y)"
    plain = strip_markup(text)
    assert [text[index] for index in plain.origin] == list(plain.text) == list("a bold x")
