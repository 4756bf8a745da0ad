from random import Random

from dlm.datagen.grammar import Piece, template
from dlm.datagen.slots import Drawing, base, fill_slots, plural
from dlm.datagen.twins import TWINS
from dlm.datagen.values import Values
from dlm.datagen.words import UNITS
from dlm.datagen.world import World


def drawing(seed: int) -> Drawing:
    rng = Random(seed)
    return Drawing(Values(), rng, World(rng, TWINS), digits=False)


def filled(
    tool: str, source: str, seed: int, known: dict[str, str] | None = None
) -> dict[str, str]:
    draw = drawing(seed)
    pieces = fill_slots(tool, template(source).expand(draw.rng), draw, known)
    return {p.slot: p.text for p in pieces if p.slot}


def test_base_splits_off_the_number_of_the_call() -> None:
    assert base("item2") == ("item", "2") and base("item") == ("item", "")


def test_units_fit_each_other_and_the_call_before() -> None:
    for seed in range(50):
        slots = filled("convert_units", "{amount} {from_unit} to {to_unit}", seed)
        assert UNITS[slots["from_unit"]][0] == UNITS[slots["to_unit"]][0]
        known = {"amount": "two", "from_unit": "miles", "to_unit": "feet"}
        more = filled("convert_units", "and in {to_unit}", seed, known)
        assert UNITS[more["to_unit"]][0] == "length"


def test_what_is_switched_is_on_or_off() -> None:
    states = {filled("set_device", "turn {state} the {device}", s)["state"] for s in range(60)}
    assert states == {"on", "off"}


def test_words_of_their_own_fill_the_parameter_they_stand_for() -> None:
    slots = filled("set_device", "{act} the {device}", 3)
    assert set(slots) == {"state", "device"}
    assert filled("cancel_timer", "cancel {every} timers", 1)["name"] in ("all", "both", "every")


def test_a_flavor_by_the_shot_is_an_extra_and_no_shot() -> None:
    slots = filled("order_drink", "{drink} with {flavor}", 1)
    assert set(slots) == {"drink", "extras"} and " of " in slots["extras"]


def test_several_drinks_are_plural_and_articles_fit() -> None:
    assert plural("mocha") == "mochas" and plural("mochas") == "mochas"
    for seed in range(40):
        assert filled("order_drink", "{quantity} {drink}", seed)["drink"].endswith("s")
        assert filled("order_drink", "{many} {drink}", seed)["drink"].endswith("s")
        draw = drawing(seed)
        pieces = fill_slots("order_drink", [Piece("a "), Piece("", "drink")], draw)
        vowel = pieces[1].text[0].lower() in "aeio"
        assert pieces[0].text == ("an " if vowel else "a ")


def test_what_is_taken_away_was_mostly_there() -> None:
    there = 0
    for seed in range(100):
        draw = drawing(seed)
        draw.seed("remove_from_list", {"item": "milk"})
        there += not draw.world.call("remove_from_list", {"item": "milk"}).error
    assert 60 < there < 95


def test_no_preposition_stands_before_in() -> None:
    rng = Random(8)
    values = Values()
    draw = Drawing(values, rng, World(rng, TWINS), digits=False)
    said = set()
    for _ in range(300):
        pieces = template("wake me up (at|) {when}").expand(rng)
        said.add("".join(p.text for p in fill_slots("set_alarm", pieces, draw)))
    texts = [" ".join(text.split()) for text in said]
    assert any("up in " in text for text in texts) and any("up at " in text for text in texts)
    assert not any("at in " in text for text in texts)
