from voice.demo.turn_report import Received, ToolUse, answer, item_of, report, understood_nothing

TRANSCRIBED = "conversation.item.input_audio_transcription.completed"


def events(*kinds_and_fields):
    return [
        Received(float(at), {"type": kind, **fields})
        for at, (kind, fields) in enumerate(kinds_and_fields)
    ]


STARTED = ("input_audio_buffer.speech_started", {"item_id": "u"})
COMMITTED = ("input_audio_buffer.committed", {"item_id": "u"})


def done(response_id, status="completed"):
    return ("response.done", {"response": {"id": response_id, "status": status}})


def said(text):
    return (TRANSCRIBED, {"item_id": "u", "transcript": text})


def test_the_answer_follows_the_last_commit():
    assert answer(events(STARTED)) is None
    assert answer(events(STARTED, COMMITTED)) is None
    assert answer(events(STARTED, COMMITTED, done("a"))).event["response"]["id"] == "a"
    assert answer(events(done("greeting"), STARTED, COMMITTED)) is None


def test_a_cancelled_reply_answers_nothing():
    cut = events(STARTED, COMMITTED, done("a", "cancelled"))
    assert answer(cut) is None
    again = events(STARTED, COMMITTED, STARTED, done("a"), COMMITTED, done("b"))
    assert answer(again).event["response"]["id"] == "b"


def test_a_turn_in_two_parts_is_reported_whole():
    turn = report(
        events(
            STARTED,
            COMMITTED,
            said("set a"),
            STARTED,
            done("a", "cancelled"),
            COMMITTED,
            said(" timer "),
            ("quicksilver.tool_call", {"call_id": "1", "name": "t", "arguments": {"x": "y"}}),
            ("quicksilver.tool_call", {"call_id": "2", "name": "u", "arguments": {}}),
            ("quicksilver.tool_result", {"call_id": "1", "name": "t", "content": "Set."}),
            ("response.output_audio_transcript.done", {"response_id": "a", "transcript": "No"}),
            ("response.output_audio_transcript.done", {"response_id": "b", "transcript": "Yes "}),
            done("b"),
            ("quicksilver.latency", {"turn_id": 2, "marks_ms": {"first_audio": 300.0}}),
        ),
        speech_end_s=3.5,
        first_audible_s=4.0,
    )
    assert turn.transcript == "set a timer"
    assert turn.tools == (ToolUse("t", {"x": "y"}, "Set."), ToolUse("u", {}, ""))
    assert (turn.reply, turn.status) == ("Yes", "completed")
    assert turn.marks_ms == {"first_audio": 300.0}
    assert turn.voice_to_voice_ms == 500
    assert turn.after_commit_ms == -1000
    assert (turn.commits, turn.early_commits) == (2, 1)


def test_no_reply_is_reported_as_none():
    turn = report(events(STARTED, COMMITTED, said("")), speech_end_s=0.0, first_audible_s=None)
    assert (turn.status, turn.reply, turn.voice_to_voice_ms) == ("none", "", None)
    assert turn.marks_ms == {}


def test_only_an_empty_transcript_counts_as_nothing_understood():
    assert understood_nothing(events(said("  ")))
    assert not understood_nothing(events(said(""), said("yes")))
    assert not understood_nothing(events(COMMITTED))


def test_the_item_of_a_response_is_that_of_its_audio():
    deltas = events(
        ("response.output_audio.delta", {"response_id": "a", "item_id": "i"}),
        ("response.output_audio.delta", {"response_id": "b", "item_id": "j"}),
    )
    assert item_of(deltas, "b") == "j"
    assert item_of(deltas, "c") is None
