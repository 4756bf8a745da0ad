from dlm.datagen import phrasings_home, phrasings_time
from dlm.datagen.phrasings_wide import SAY
from tests.dlm.datagen.phrases import check


def test_phrasings_fit_their_tools_and_are_said_nowhere_else() -> None:
    for tool, sources in SAY.items():
        known = (phrasings_time.SAY | phrasings_home.SAY)[tool]
        check(tool, sources + known)
