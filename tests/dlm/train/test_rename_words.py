from dlm.train.rename_words import DESCRIPTIONS, NAMES, PARAMETERS
from dlm.train.schemas import TOOLS


def test_every_tool_and_parameter_has_other_names() -> None:
    assert set(NAMES) == set(DESCRIPTIONS) == set(TOOLS)
    for verbs, nouns in NAMES.values():
        assert len(verbs) * len(nouns) >= 15
    used = {p for tool in TOOLS.values() for p in tool["parameters"]["properties"]}
    assert used <= set(PARAMETERS)
    assert all(len(set(names)) >= 3 for names in PARAMETERS.values())
