"""What the values of tools must be readable as, as a model and a conversation are told."""

from __future__ import annotations

import pytest

from dlm.grammar.readable_spans import readable
from dlm.language.messages import Reader
from tests.voice.tools.conftest import Call
from voice.tools import SessionScope, Toolbox
from voice.tools.registry import complaint, meaning
from voice.types import Reading


def reading(toolbox: Toolbox, scope: SessionScope, name: str) -> Reading:
    tool, parameter = name.split(".")
    (spec,) = toolbox.specs([tool], scope)
    return spec.readings[parameter]


@pytest.mark.parametrize(
    ("name", "message", "spans"),
    [
        ("set_timer.duration", "eleven minutes one for the fish", ["eleven minutes"]),
        ("set_timer.duration", "hour and a half for the roast", ["hour and a half"]),
        ("set_timer.duration", "ten minutes or an hour", ["ten minutes", "an hour", "hour"]),
        ("set_timer.duration", "a timer for the rice one", ["one"]),
        ("set_timer.duration", "a timer of minutes", []),
        ("set_alarm.when", "wake me tomorrow at half past seven", ["tomorrow at half past seven"]),
        ("set_alarm.when", "put another on for ten past", ["for ten past", "ten past"]),
        ("set_alarm.when", "wake me tomorrow", []),
        ("change_alarm.to", "an hour later", ["an hour later", "hour later"]),
        ("set_reminder.when", "call at nine tonight", ["at nine tonight", "nine tonight"]),
        ("days_until.date", "how long until christmas", ["christmas"]),
        ("calculate.expression", "so two plus two please", ["two plus two"]),
        ("calculate.expression", "sixteen", []),
        ("convert_units.amount", "two and a half pints", ["two and a half"]),
        ("convert_units.from_unit", "i am five foot eleven", ["foot eleven"]),
        ("convert_units.to_unit", "that as feet and inches", ["feet and inches"]),
        ("convert_currency.to_currency", "how many dollars", ["dollars"]),
        ("set_device.state", "is it fine open", ["open"]),
        ("order_drink.drink", "give me a damn latte", ["latte"]),
        ("order_drink.drink", "a mackiato single shot", ["a mackiato", "mackiato"]),
        ("order_drink.shots", "a mackiato single shot", ["single", "single shot", "shot"]),
        ("order_drink.size", "an extra large one", ["an extra large", "extra large"]),
        ("order_drink.quantity", "medium both with vanilla", []),
        ("order_drink.roast", "medium dark roast", ["dark", "dark roast"]),
        (
            "order_drink.milk",
            "tea with oat milk",
            ["with oat", "with oat milk", "oat", "oat milk", "milk"],
        ),
        ("order_drink.milk", "what milks have you got", []),
        ("order_drink.shots", "a shot of whiskey", ["a shot", "shot"]),
        ("order_drink.sweetener", "syrup out of caramel", ["syrup", "syrup out", "caramel"]),
        ("order_drink.milk", "all right for a nut allergy", []),
        ("order_drink.milk", "a normal espresso for my dad", []),
        ("order_drink.sweetener", "two sugars for my husband", ["two sugars", "sugars"]),
        ("order_drink.extras", "no wait hold the whipped cream", None),
        ("confirm_order.name", "he wants it bigger", []),
    ],
)
def test_the_spans_of_a_message_that_can_be_a_value(
    toolbox: Toolbox, scope: SessionScope, name: str, message: str, spans: list[str] | None
) -> None:
    one = reading(toolbox, scope, name)
    found = readable([message], Reader(one.read, one.hardly, one.whole))
    if spans is None:
        assert "hold the whipped cream" in found and "no wait" not in found
    else:
        assert set(found) == set(spans)


@pytest.mark.parametrize(
    ("name", "value", "question"),
    [
        ("set_timer.duration", "fifteen", ""),
        ("set_timer.duration", "a", "For how long?"),
        ("set_alarm.when", "ten percent on", "For what time?"),
        ("set_alarm.when", "tomorrow", "For what time?"),
        ("calculate.expression", "nonsense", ""),
        ("set_device.device", "kitchen lamp", ""),
        ("set_device.device", "back door", "There is no back door."),
        ("set_device.device", "now", "Sorry, which device do you mean?"),
        (
            "order_drink.drink",
            "sister",
            "Sorry, we do not have sister. Would you like coffee, latte, cappuccino, flat white,"
            " americano or espresso?",
        ),
        ("remove_drink.drink", "latte", "There is no latte in the order."),
        ("remove_drink.drink", "stays", "Sorry, which drink of the order do you mean?"),
        ("move_item.item", "eggs", ""),
        ("remove_from_list.item", "eggs", ""),
    ],
)
def test_what_is_asked_for_want_of_a_value(
    toolbox: Toolbox, scope: SessionScope, name: str, value: str, question: str
) -> None:
    assert reading(toolbox, scope, name).question(value) == question


async def test_what_is_there_can_be_named(
    call: Call, toolbox: Toolbox, scope: SessionScope
) -> None:
    ordered = reading(toolbox, scope, "change_drink.drink")
    listed = reading(toolbox, scope, "remove_from_list.item")
    noted = reading(toolbox, scope, "change_reminder.text")
    assert (ordered.read("latte"), listed.read("eggs"), noted.read("call mom")) == (None,) * 3
    await call("order_drink", drink="latte")
    await call("add_to_list", item="eggs and milk")
    await call("set_reminder", text="call mom")
    for named in (ordered.read("the latte"), ordered.read("it"), listed.read("milk and eggs")):
        assert named is True
    assert noted.read("the reminder to call mom") is True
    assert (ordered.read("mocha"), listed.read("tofu")) == (None, None)
    assert ordered.question("one of the lattes") == ""


def test_a_reader_that_fails_holds_nothing_back(caplog: pytest.LogCaptureFixture) -> None:
    def fail(said: str, *_: object) -> None:
        raise ZeroDivisionError(said)

    assert meaning(fail, "the user's words") is not None
    assert complaint(fail, "the user's words") == ""
    assert caplog.messages == ["a tool's reader failed: ZeroDivisionError"] * 2


def test_without_a_session_nothing_is_known(toolbox: Toolbox) -> None:
    assert not toolbox.specs(["order_drink"])[0].readings


async def test_the_database_is_not_read_for_every_span_of_a_message(
    toolbox: Toolbox, scope: SessionScope, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    await call("add_to_list", item="milk and eggs")
    found = reading(toolbox, scope, "remove_from_list.item")
    reads: list[object] = []
    read = toolbox.database.read
    monkeypatch.setattr(
        toolbox.database, "read", lambda query: (reads.append(query), read(query))[1]
    )
    said = "take the milk off my shopping list please and do not touch anything else that is on it"
    assert "milk" in readable([said], Reader(found.read, whole=found.whole))
    assert len(reads) < 10
    await call("remove_from_list", item="milk")
    assert found.read("milk") is None
