from __future__ import annotations

import sys
from types import FrameType

import pytest

from voice.dialogue.history import MAX_ENTRIES, ROOT, Entry, History
from voice.errors import ProtocolError
from voice.types import Message, Role, ToolCall
from voice.understanding.english import LONGEST_MESSAGE

CALL = ToolCall("c1", "get_time", {})


def _user(text: str) -> Message:
    return Message(Role.USER, text)


def _agent(text: str) -> Message:
    return Message(Role.AGENT, text)


def _ids(dialogue: History) -> list[str]:
    return [entry.item_id for entry in dialogue]


def test_a_long_dialogue_forgets_its_beginning() -> None:
    dialogue = History()
    for number in range(MAX_ENTRIES):
        dialogue.add(f"user_{number}", _user("one"))
    dialogue.say("agent_0", "two")
    assert len(list(dialogue)) == MAX_ENTRIES
    assert _ids(dialogue)[:1] == ["user_1"]
    assert dialogue.last_id == "agent_0"
    with pytest.raises(ProtocolError):
        dialogue.get("user_0")


def test_entries_go_to_the_end_the_front_or_behind_another() -> None:
    dialogue = History()
    dialogue.add("a", _user("one"))
    dialogue.add("b", _user("two"), ROOT)
    dialogue.add("c", _user("three"), "b")
    assert _ids(dialogue) == ["b", "c", "a"]
    assert dialogue.last_id == "a"


def test_unknown_and_repeated_ids_are_refused() -> None:
    dialogue = History()
    dialogue.add("a", _user("one"))
    with pytest.raises(ProtocolError, match="exists"):
        dialogue.add("a", _user("two"))
    with pytest.raises(ProtocolError) as missing:
        dialogue.add("b", _user("two"), "nowhere")
    assert missing.value.param == "previous_item_id"
    for lookup in (dialogue.get, dialogue.delete):
        with pytest.raises(ProtocolError) as missing:
            lookup("nowhere")
        assert missing.value.code == "item_not_found"
    assert _ids(dialogue) == ["a"]


def test_saying_changes_an_entry_or_adds_one_of_the_agents() -> None:
    dialogue = History()
    dialogue.add("u", Message(Role.USER))
    dialogue.say("u", "hello")
    dialogue.say("x", "Hi.")
    assert dialogue.get("u") == _user("hello")
    assert dialogue.get("x") == _agent("Hi.")


def test_deleting_removes_an_entry() -> None:
    dialogue = History()
    dialogue.add("a", _user("one"))
    dialogue.delete("a")
    assert len(list(dialogue)) == 0
    assert dialogue.last_id is None


@pytest.mark.parametrize("message", [Message(Role.USER), Message(Role.AGENT, "Hel")])
def test_what_is_still_said_of_a_deleted_entry_is_not_kept(message: Message) -> None:
    dialogue = History()
    dialogue.add("a", message)
    dialogue.delete("a")
    dialogue.say("a", "Hello.")
    dialogue.copy().say("a", "Hello.")
    assert len(list(dialogue)) == 0
    dialogue.add("a", _user("again"))
    dialogue.say("a", "anew")
    assert dialogue.get("a") == _user("anew")


def test_the_view_leaves_out_what_nobody_said() -> None:
    dialogue = History()
    dialogue.add("a", _user("hello"))
    dialogue.add("b", _agent(" "))
    assert dialogue.view(10) == (_user("hello"),)


def test_the_view_joins_what_the_user_said_in_two_goes() -> None:
    dialogue = History()
    dialogue.add("a", _user("set a timer"))
    dialogue.add("b", _agent(""))
    dialogue.add("c", _user("for ten minutes"))
    assert dialogue.view(10) == (_user("set a timer for ten minutes"),)
    assert dialogue.get("a") == _user("set a timer")


def test_the_view_hides_calls_without_an_answer() -> None:
    dialogue = History()
    dialogue.add("a", _user("what time is it"))
    dialogue.add("b", Message(Role.AGENT, tool_calls=(CALL,)))
    assert dialogue.view(10) == (_user("what time is it"),)
    dialogue.add("c", Message(Role.TOOL, "It is 3:42 PM.", call_id="c1"))
    assert [m.role for m in dialogue.view(10)] == [Role.USER, Role.AGENT, Role.TOOL]


def test_the_view_makes_one_message_of_calls_that_stand_together() -> None:
    other = ToolCall("c2", "get_date", {})
    dialogue = History()
    dialogue.add("a", Message(Role.AGENT, tool_calls=(CALL,)))
    dialogue.add("b", Message(Role.AGENT, tool_calls=(other,)))
    dialogue.add("c", Message(Role.TOOL, "one", call_id="c1"))
    dialogue.add("d", Message(Role.TOOL, "two", call_id="c2"))
    assert dialogue.view(10)[0].tool_calls == (CALL, other)


def _called(*calls: ToolCall) -> Message:
    return Message(Role.AGENT, tool_calls=calls)


def _result(call_id: str, content: str = "done") -> Message:
    return Message(Role.TOOL, content, call_id=call_id)


def _viewed(*messages: Message) -> tuple[Message, ...]:
    dialogue = History()
    for number, message in enumerate(messages):
        dialogue.add(f"item_{number}", message)
    return dialogue.view(20)


def test_a_call_stands_before_the_result_that_came_late() -> None:
    asked, other = _user("what time is it"), ToolCall("c2", "get_date", {})
    view = _viewed(
        asked, _called(CALL), _called(other), _result("c2"), _agent("One moment."), _result("c1")
    )
    late = (_agent("One moment."), _called(CALL), _result("c1"))
    assert view == (asked, _called(other), _result("c2"), *late)


def test_a_result_behind_another_answers_call_stands_with_its_own() -> None:
    other, third = ToolCall("c2", "get_date", {}), ToolCall("c3", "get_date", {})
    view = _viewed(
        *(_called(CALL), _called(other), _result("c1"), _called(third)),
        *(_result("c2"), _result("c3")),
    )
    second = (_called(third, other), _result("c2"), _result("c3"))
    assert view == (_called(CALL), _result("c1"), *second)


def test_what_nobody_heard_does_not_part_a_call_from_its_result() -> None:
    view = _viewed(_called(CALL), _agent(""), _result("c1"))
    assert view == (_called(CALL), _result("c1"))


def _two_rounds() -> History:
    """A reply that speaks, calls, speaks, calls and speaks again."""
    dialogue = History()
    dialogue.say("reply", "Let me look.")
    dialogue.break_off("reply", "b")
    dialogue.add("b", _called(CALL))
    dialogue.add("c", _result("c1"))
    dialogue.say("reply", "Let me look. And the date.")
    dialogue.break_off("reply", "d")
    dialogue.add("d", _called(ToolCall("c2", "get_date", {})))
    dialogue.add("e", _result("c2"))
    dialogue.say("reply", "Let me look. And the date. It is noon.")
    return dialogue


def test_what_a_reply_says_behind_a_call_stands_behind_it_for_the_model() -> None:
    dialogue = _two_rounds()
    dialogue.add("f", _user("thanks"))
    calls = _called(CALL), _called(ToolCall("c2", "get_date", {}))
    assert dialogue.view(20) == (
        *(_agent("Let me look."), calls[0], _result("c1")),
        *(_agent("And the date."), calls[1], _result("c2"), _agent("It is noon."), _user("thanks")),
    )
    assert dialogue.copy().view(20) == dialogue.view(20)
    assert dialogue.get("reply") == _agent("Let me look. And the date. It is noon.")


@pytest.mark.parametrize(
    ("heard", "seen"),
    [("", []), ("Let me", ["Let me"]), ("Let me look. And the", ["Let me look.", "And the"])],
)
def test_of_a_reply_in_parts_the_model_sees_what_was_heard(heard: str, seen: list[str]) -> None:
    dialogue = _two_rounds()
    dialogue.say("reply", heard)
    assert [m.content for m in dialogue.view(20) if m.content and m.role is Role.AGENT] == seen
    assert sum(m.role is Role.TOOL for m in dialogue.view(20)) == 2


def test_a_reply_whose_call_was_deleted_stands_in_one_piece() -> None:
    dialogue = _two_rounds()
    dialogue.delete("d")
    agent = [m.content for m in dialogue.view(20) if m.content and m.role is Role.AGENT]
    assert agent == ["Let me look.", "And the date. It is noon."]
    dialogue.delete("b")
    assert dialogue.view(20) == (_agent("Let me look. And the date. It is noon."),)


def test_only_a_call_that_stands_in_the_dialogue_has_others_beside_it() -> None:
    dialogue = _two_rounds()
    assert [dialogue.behind_calls(one) for one in ("b", "e")] == ["e", "e"]
    with pytest.raises(ProtocolError):
        dialogue.behind_calls("nowhere")


def test_a_result_without_its_call_before_it_is_not_shown_nor_is_the_call() -> None:
    asked = _user("what time is it")
    assert _viewed(asked, _result("c1")) == (asked,)
    assert _viewed(asked, _result("c1"), _called(CALL)) == (asked,)


def test_a_long_dialogue_is_cut_to_begin_with_the_user() -> None:
    dialogue = History()
    for number in range(6):
        dialogue.add(f"u{number}", _user(f"question {number}"))
        dialogue.add(f"a{number}", _agent(f"answer {number}"))
    view = dialogue.view(5)
    assert view[0] == _user("question 4")
    assert view[-1] == _agent("answer 5")


def test_a_copy_goes_its_own_way() -> None:
    dialogue = History()
    dialogue.add("u", Message(Role.USER, "hello"))
    other = dialogue.copy()
    other.add("a", Message(Role.AGENT, "hi"))
    other.say("u", "good morning")
    assert [entry.message.content for entry in dialogue] == ["hello"]
    assert [entry.message.content for entry in other] == ["good morning", "hi"]


def test_a_dialogue_is_picked_from_entries_and_messages() -> None:
    dialogue = History()
    dialogue.add("a", _user("one"))
    dialogue.add("b", _agent("two"))
    picked = dialogue.picked(["b", _user("three"), "gone", "a"])
    assert [entry.message.content for entry in picked] == ["two", "three", "one"]
    picked.delete(picked.last_id or "")
    assert _ids(dialogue) == ["a", "b"]


def test_a_picked_reply_in_parts_keeps_its_order() -> None:
    dialogue = _two_rounds()
    assert dialogue.picked(_ids(dialogue)).view(20) == dialogue.view(20)
    alone = dialogue.picked(["reply"])
    assert alone.view(20) == (_agent("Let me look. And the date. It is noon."),)
    assert dialogue.picked(["reply", "reply"]).view(20) == alone.view(20) * 2


@pytest.mark.parametrize("nothing", ["", " \n"])
def test_a_tool_that_answers_with_nothing_has_answered(nothing: str) -> None:
    dialogue = History()
    dialogue.add("a", _user("open the garage"))
    dialogue.add("b", Message(Role.AGENT, tool_calls=(CALL,)))
    dialogue.add("c", Message(Role.TOOL, nothing, call_id="c1", name="get_time"))
    assert dialogue.view(10)[1:] == (
        Message(Role.AGENT, tool_calls=(CALL,)),
        Message(Role.TOOL, "Done.", call_id="c1", name="get_time"),
    )
    assert dialogue.get("c").content == nothing


def test_the_users_last_words_are_seen_however_many_tools_have_answered_them() -> None:
    dialogue = History()
    dialogue.add("before", _user("hello"))
    dialogue.add("words", _user("what time is it"))
    for number in range(3):
        call = ToolCall(f"c{number}", "get_time", {})
        dialogue.add(f"call{number}", Message(Role.AGENT, tool_calls=(call,)))
        result = Message(Role.TOOL, "Noon.", call_id=call.call_id, name=call.name)
        dialogue.add(f"result{number}", result)
    view = dialogue.view(4)
    assert [m.role for m in view] == [Role.USER, *[Role.AGENT, Role.TOOL] * 3]
    assert dialogue.view(7) == view
    dialogue.add("answer", _agent("It is noon."))
    dialogue.add("thanks", _user("thanks"))
    assert dialogue.view(4) == (_user("thanks"),)


def test_rules_read_the_end_of_a_long_message_without_runs_of_blanks() -> None:
    history = History()
    history.add("a", Message(Role.USER, "a" * 5000 + " set a timer" + " " * 100 + "please"))
    (read,) = history.user_texts(1)
    assert read.endswith("a set a timer        please")
    assert len(read) < LONGEST_MESSAGE
    assert history.unanswered() == read
    assert len(history.view(1)[0].content) > 5000


def _long(turns: int) -> History:
    """A dialogue whose first call is answered last, and whose replies calls have interrupted."""
    dialogue = History()
    for turn in range(turns):
        dialogue.add(f"user_{turn}", _user(f"question {turn}"))
        dialogue.say(f"agent_{turn}", "Let me look.")
        dialogue.break_off(f"agent_{turn}", f"call_{turn}")
        call = ToolCall(f"c_{turn}", "get_time", {})
        dialogue.add(f"call_{turn}", Message(Role.AGENT, tool_calls=(call,)))
        if turn:
            dialogue.add(f"result_{turn}", _result(f"c_{turn}"), f"call_{turn}")
        dialogue.say(f"agent_{turn}", "Let me look. It is noon.")
    dialogue.add("user_last", _user("and now"))
    dialogue.add("result_0", _result("c_0"))
    return dialogue


@pytest.mark.parametrize("limit", [2, 5, 24, 60])
def test_the_view_of_a_long_dialogue_is_the_end_of_the_whole(limit: int) -> None:
    dialogue = _long(100)
    whole, view = dialogue.view(MAX_ENTRIES), dialogue.view(limit)
    assert view == whole[-len(view) :]
    assert view[0].role is Role.USER
    assert view[-3:] == (_user("and now"), _called(ToolCall("c_0", "get_time", {})), _result("c_0"))
    # A message more would be too many, or none of the user's.
    assert len(view) <= max(limit, 3) < len(view) + 5


def test_the_view_of_a_dialogue_of_hours_takes_no_more_work() -> None:
    def work(dialogue: History) -> int:
        calls = 0

        def count(frame: FrameType, event: str, arg: object) -> None:
            nonlocal calls
            calls += event == "call"

        sys.setprofile(count)
        try:
            dialogue.view(24)
        finally:
            sys.setprofile(None)
        return calls

    assert work(_long(MAX_ENTRIES // 5)) < 4 * work(_long(40))


def test_what_the_user_said_last_is_not_a_turn_without_words() -> None:
    dialogue = History()
    for number, text in enumerate(("one", "two", "", "three", "")):
        dialogue.add(f"user_{number}", _user(text))
    assert dialogue.newest_said == "three"
    assert dialogue.user_texts(2) == ("three", "two")


def test_who_goes_on_at_once_goes_on_with_the_same_message_unless_calls_stand_between() -> None:
    dialogue = History()
    dialogue.add("a", _user("add"))
    dialogue.say("b", "")
    dialogue.add("c", _user("milk"), goes_on=True)
    assert [_ids_of(one) for one in dialogue.said()] == [["a", "c"]]
    assert dialogue.user_texts(2) == ("add milk",)
    dialogue.add("d", Message(Role.AGENT, tool_calls=(CALL,)))
    dialogue.add("e", _user("please"), goes_on=True)
    assert [_ids_of(one) for one in dialogue.said()] == [["e"], ["a", "c"]]


def _ids_of(entries: list[Entry]) -> list[str]:
    return [entry.item_id for entry in entries]
