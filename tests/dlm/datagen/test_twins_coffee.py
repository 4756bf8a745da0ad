from random import Random

from dlm.datagen.twins import TWINS
from dlm.datagen.world import World
from tests.dlm.datagen.worlds import told, world


def test_an_order_from_first_to_last() -> None:
    here = world()
    assert here.call("read_order", {}).text == "The order is empty."
    assert here.call("confirm_order", {"name": "anna"}).text == "Error: The order is empty."
    latte = {"drink": "latte", "size": "large", "roast": "dark roast", "milk": "oat milk"}
    assert here.call("order_drink", latte | {"sweetener": "sugar"}).text == (
        "Added: large dark roast latte with oat milk and sugar."
    )
    mochas = {"drink": "mochas", "size": "small", "quantity": "two"}
    assert here.call("order_drink", mochas).text == "Added: 2 small mochas."
    assert here.call("read_order", {}).text == (
        "The order is: 1 large dark roast latte with oat milk and sugar; 2 small mochas."
    )
    assert here.call("remove_drink", {"drink": "the latte"}).text == "Removed: latte."
    assert here.call("remove_drink", {"drink": "tea"}).text == (
        "Error: There is no tea in the order."
    )
    assert here.call("confirm_order", {"name": "anna"}).text == (
        "Order confirmed for Anna: 2 small mochas."
    )
    assert here.call("read_order", {}).text == "The order is empty."


def test_additions_are_written_as_on_a_cup() -> None:
    assert told("order_drink", drink="tea", milk="no milk", sweetener="two sugars") == (
        "Added: tea with 2 sugars."
    )
    assert told("order_drink", drink="latte", shots="double shot", extras="no foam") == (
        "Added: latte with a double shot."
    )
    assert told("order_drink", drink="latte", quantity="one") == "Added: latte."


def test_a_drink_off_the_menu_is_mostly_refused() -> None:
    rng = Random(3)
    order = {"drink": "purple mountain"}
    texts = [World(rng, TWINS).call("order_drink", order).text for _ in range(100)]
    assert texts.count("Error: We do not have purple mountain.") > 70


def test_transfer() -> None:
    assert told("transfer_call") == "Transferring you to a person."
    assert told("transfer_call", to="manager") == "Transferring you to the manager."
