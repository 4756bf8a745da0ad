from dlm.datagen.phrasings_coffee import AGAIN, BARE, CLEAR, FIX, MORE, SAY, SWAP, WITHOUT
from tests.dlm.datagen.phrases import check


def test_phrasings_fit_their_tools() -> None:
    for table in (SAY, MORE, FIX):
        for tool, sources in table.items():
            check(tool, sources)
    for sources in (AGAIN, CLEAR, SWAP, WITHOUT, BARE["order_drink"]["drink"]):
        check("order_drink", sources)


def test_drinks_are_ordered_in_many_ways() -> None:
    assert len(SAY["order_drink"]) >= 60


def test_what_is_left_out_is_named_once() -> None:
    assert all(source.count("{what}") == 1 for source in WITHOUT)
