from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voice.speech.normalization.markup import strip_markup


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
        ("a\n---\nb", "a\n\nb"),
        ("2*3*4 and snake_case_name", "2*3*4 and snake_case_name"),
        ("1 < 2 > 0", "1 < 2 > 0"),
        ("it’s “so”", 'it\'s "so"'),
        ("½ and 2½", " 1/2 and 2 1/2"),
        ("５ ﬁn ٣", "5 fin 3"),
        ("10⁻⁶, x¹² and 5 m²", "10^-6, x^12 and 5 m^2"),
        ("👍🏽ok\u200b", "  ok"),
        ("cafe\u0301", "café"),
        ("\u0301x", "x"),
    ],
)
def test_strips(text: str, plain: str) -> None:
    assert strip_markup(text).text == plain


def test_remembers_where_characters_stood() -> None:
    text = "a **bold** [x](y)"
    plain = strip_markup(text)
    assert [text[index] for index in plain.origin] == list(plain.text) == list("a bold x")


@settings(deadline=None)
@given(st.text(max_size=200))
def test_origins_never_go_back(text: str) -> None:
    plain = strip_markup(text)
    assert len(plain.origin) == len(plain.text)
    assert list(plain.origin) == sorted(plain.origin)
    assert all(0 <= index < len(text) for index in plain.origin)
