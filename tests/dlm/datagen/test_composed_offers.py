from dlm.datagen import composed_offers
from dlm.datagen.composed_words import ALL_ACTIONS, ALL_KINDS, ALL_THINGS


def test_offers_stand_beside_the_other_groups() -> None:
    assert len(ALL_THINGS["offer"]) > 40
    actions = [a for a in ALL_ACTIONS if a.group == "offer"]
    assert len(actions) == len(composed_offers.ACTIONS.strip().replace("\\\n", "").splitlines())


def test_types_are_read_off_the_values() -> None:
    assert ALL_KINDS["rooms"].typed == "integer" and ALL_KINDS["rooms"].value == "count"
    assert ALL_KINDS["wifi"].typed == "boolean" and ":" not in ALL_KINDS["wifi"].value
    assert ALL_KINDS["genre"].typed == ""
    for kind in ALL_KINDS.values():
        if kind.typed == "boolean":
            yes = [
                v for v in kind.value.split("|") if not v.startswith(("without ", "no ", "not "))
            ]
            assert yes and kind.said == ("{}",)
