from dlm.datagen.phrasings_home import SAY
from tests.dlm.datagen.phrases import check


def test_phrasings_fit_their_tools() -> None:
    for tool, sources in SAY.items():
        check(tool, sources)


def test_frequent_tools_are_asked_for_in_many_ways() -> None:
    for tool in ("get_weather", "set_device", "add_to_list", "calculate", "convert_units"):
        assert len(SAY[tool]) >= 25, tool
