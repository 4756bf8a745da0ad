from dlm.datagen.rename_words import OTHERS, PARAMETERS
from dlm.datagen.schemas import TOOLS


def test_every_tool_and_parameter_has_other_names() -> None:
    for split in OTHERS.values():
        assert set(split) == set(TOOLS)
        for verbs, nouns, told in split.values():
            assert len(verbs) * len(nouns) >= 15 and len(told) >= 2
    used = {p for tool in TOOLS.values() for p in tool["parameters"]["properties"]}
    assert used <= set(PARAMETERS)
    assert all(len(set(names)) >= 3 for names in PARAMETERS.values())
