from dlm.datagen.schemas import TOOLS
from dlm.datagen.twins import TWINS


def test_every_tool_has_its_twin() -> None:
    assert set(TWINS) == set(TOOLS)
