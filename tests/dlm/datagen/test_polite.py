from random import Random

from dlm.datagen.grammar import Piece
from dlm.datagen.polite import polite


def test_about_half_of_the_orders_stay_bare_and_slots_stay_whole() -> None:
    rng = Random(1)
    order = [Piece("call "), Piece("anna", "person")]
    said = [polite(rng, order) for _ in range(400)]
    assert all([p for p in pieces if p.slot] == [order[1]] for pieces in said)
    bare = sum(pieces == order for pieces in said)
    assert 150 < bare < 250
    assert any(p[0].text == "please " for p in said) and any(p[-1].text == " please" for p in said)
