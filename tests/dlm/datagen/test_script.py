from random import Random

from dlm.datagen.script import Script, calls_of, ordered
from dlm.datagen.values import Values
from dlm.datagen.world import Result

ORDER = ["item", "list"]


def script(seed: int = 1) -> Script:
    return Script(Random(seed), Values(), "train")


def test_numbered_slots_are_calls_of_their_own_in_schema_order() -> None:
    values = {"list": "work", "item": "pens", "item2": "ink"}
    assert calls_of("add_to_list", values, ORDER) == [
        ("add_to_list", {"item": "pens", "list": "work"}),
        ("add_to_list", {"item": "ink", "list": "work"}),
    ]
    assert ordered({"list": "a", "item": "b"}, ORDER) == {"item": "b", "list": "a"}
    assert calls_of("get_time", {}, ["place"]) == [("get_time", {})]


def test_a_turn_is_written_down_as_user_call_result_and_reply() -> None:
    talk = script()
    values = talk.ask("calculate", ("what is {expression}?",))
    talk.answer([("calculate", values)])
    assert [m["role"] for m in talk.messages] == ["user", "assistant", "tool", "assistant"]
    assert talk.messages[1]["content"] is None
    assert talk.messages[1]["tool_calls"] == [{"name": "calculate", "arguments": values}]
    assert talk.messages[3]["content"] == talk.last_reply
    assert talk.used == {"calculate"}


def test_errors_are_told() -> None:
    error = Result("Error: The order is empty.", "error", {"error": "The order is empty."})
    replies = {script(seed).reply("read_order", error) for seed in range(30)}
    assert len(replies) > 1
    assert all("order is empty." in reply for reply in replies)


def test_replies_quote_the_result() -> None:
    done = Result("Timer set for 10 minutes.", "done", {"duration": "10 minutes"})
    replies = [script(seed).reply("set_timer", done) for seed in range(30)]
    assert all("10 minutes" in r and r[0] == r[0].upper() for r in replies)
    assert len(set(replies)) > 4
