from dlm.datagen.rename_wide import TABLE
from dlm.datagen.rename_words import OTHERS
from dlm.datagen.schemas import TOOLS


def test_every_tool_has_more_names_and_descriptions() -> None:
    lines = TABLE.strip().replace("\\\n", "").splitlines()
    assert len(lines) % 3 == 0 and set(lines[::3]) == set(TOOLS)
    for name in TOOLS:
        verbs, nouns, told = OTHERS["train"][name]
        assert len(told) >= 7 and len(verbs) * len(nouns) >= 80
        assert all(len(set(words)) == len(words) for words in (verbs, nouns, told))
        assert all(not set(old) - set(new) for old, new in zip(
            OTHERS["heldout"][name], OTHERS["train"][name], strict=True
        ))  # fmt: skip
