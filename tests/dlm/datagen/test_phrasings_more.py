from dlm.datagen import catalog, phrasings_home, phrasings_time, phrasings_wide
from dlm.datagen.grammar import template
from dlm.datagen.phrasings_more import SAY
from dlm.datagen.slots import ALIASES, base


def test_phrasings_are_new_and_speak_of_the_tools_parameters() -> None:
    for tool, said in SAY.items():
        known = set(phrasings_wide.SAY.get(tool, ()))
        known |= set((phrasings_time.SAY | phrasings_home.SAY).get(tool, ()))
        assert not known & set(said) and len(set(said)) == len(said)
        for text in said:
            names = {base(slot)[0] for slot in template(text).slots}
            assert {ALIASES.get(n, n) for n in names} <= set(catalog.PARAMETERS[tool]), text


def test_they_are_among_the_requests() -> None:
    assert all(set(said) <= set(catalog.SAY[tool]) for tool, said in SAY.items())
