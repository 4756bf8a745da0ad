from __future__ import annotations

import string

from dlm.datagen import reasons_words as words

SENTENCES = {
    words.HEARD: {"said"}, words.FITS: {"does", "name"}, words.SEVERAL: {"count"},
    words.UNSAID: {"keys"}, words.LACKS: {"key"}, words.MISSING: {"key"}, words.ASK: {"key"},
    words.RESULT: {"told"}, words.RESULTS: {"told"}, words.FAILED: {"told"},
    words.NOTHING_MORE: set(), words.NO_TOOL: set(), words.DECLINE: set(), words.NEEDLESS: set(),
    words.SILENT: set(), words.TELL: set(),
}  # fmt: skip


def fields(form: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(form) if name}


def test_each_form_has_its_fields_and_is_plain() -> None:
    for forms, expected in SENTENCES.items():
        for form in forms:
            assert fields(form) <= expected
            assert form == form.lower()
            assert len(form.split()) <= 9


def test_each_sentence_ends() -> None:
    alone = (words.AGAIN, words.ANSWER, words.ASK_IT, *(then for _, then in words.TALK))
    forms = [form for forms in SENTENCES if forms is not words.FITS for form in forms]
    # The cut at a budget looks for the end of a sentence.
    assert all(form.endswith(".") and form.count(".") == 1 for form in (*forms, *alone))
