from dlm.datagen.catalog import BARE, CAN, FIX, MORE, PARAMETERS, SAY, SPECS, answers, question
from dlm.datagen.grammar import template
from dlm.datagen.inventions import INVENTIONS
from dlm.datagen.schemas import TOOLS
from tests.dlm.datagen.phrases import check


def test_every_tool_is_asked_for_and_described() -> None:
    assert set(SPECS) == set(PARAMETERS) == set(SAY) == {*TOOLS, *INVENTIONS}
    assert set(CAN) == set(SPECS) - {"end_conversation"}
    assert {*MORE, *FIX, *BARE} <= set(SPECS)


def test_invented_tools_are_phrased_like_the_others() -> None:
    for name, tool in INVENTIONS.items():
        check(name, tool.say)
        for source in tool.say:
            assert (
                tool.kinds.keys() - tool.optional <= {s.rstrip("23") for s in _slots(source)}
                or "(" in source
                or "[" in source
            ), (name, source)


def _slots(source: str) -> set[str]:
    return set(template(source.lstrip("!")).slots)


def test_missing_parameters_can_be_asked_for_and_given() -> None:
    for tool, missing in BARE.items():
        for parameter in missing:
            assert question(tool, parameter)
            assert all(f"{{{parameter}}}" in a for a in answers(tool, parameter))
