"""Planted faults: each must stand in the judgement, in the scorecard, and beside a sound one."""

import base64
from dataclasses import replace

import numpy as np
import pytest

from voice.audio import pcm16_from_samples
from voice.demo.turn_report import Received
from voice.demo.virtual_audio import Sounding
from voice.errors import ConfigError
from voice.prove.call import Recording, Said
from voice.prove.call import heard as heard_words
from voice.prove.figures import FIGURES, against, read
from voice.prove.judge import judge
from voice.prove.scenario import Scenario, Take
from voice.prove.words import words

RATE_HZ = 24_000
ORDER = {"tool": "order", "arguments": {"drink": "(?:a )?latte", "count": "two"}}
REPLY = "One latte, two of them, and the rest of it you never hear."


def take(seed=1, **expected) -> Take:
    told = {"calls": [ORDER], "store": {"orders": [{"drink": "latte"}]}, **expected}
    lines = [{"says": "two lattes"}]
    scenario = {"caller": "c", "goal": "g", "lines": lines, "expected": told}
    return Take("latte", "coffee", Scenario.model_validate(scenario), seed)


def at(at_s: float, kind: str, **fields) -> Received:
    return Received(at_s, {"type": kind, **fields})


def called(at_s: float, call_id: str = "c1", **arguments) -> Received:
    given = {"drink": "latte", "count": "2", **arguments}
    return at(at_s, "quicksilver.tool_call", call_id=call_id, name="order", arguments=given)


def heard(at_s: float, transcript: str) -> Received:
    kind = "conversation.item.input_audio_transcription.completed"
    return at(at_s, kind, transcript=transcript)


def reply(at_s: float, seconds: float = 1.0, item: str = "i1", text: str = REPLY):
    """Events of a reply, and its sound, which begins with 50 ms of silence."""
    sound = np.concatenate(
        [np.zeros(1200, np.int16), np.full(round(seconds * RATE_HZ) - 1200, 900)]
    )
    delta = base64.b64encode(pcm16_from_samples(sound.astype(np.int16))).decode()
    events = (
        at(at_s, "response.output_audio_transcript.delta", item_id=item, delta=text),
        at(at_s, "response.output_audio.delta", item_id=item, delta=delta),
    )
    return events, Sounding(item, at_s, sound.astype(np.int16))


def call(latency_s: float = 0.5, **changes) -> Recording:
    """A call in which all is well: said from 1 to 2 s, answered for a second."""
    events, sounding = reply(2.0 + latency_s - 0.05)
    recording = Recording(
        said=(Said("two lattes", "line", 1.0, 2.0),),
        events=(heard(2.1, "two lattes"), called(2.2), *events),
        agent=(sounding,),
        seconds=5.0,
        store={"orders": [{"drink": "latte"}]},
    )
    return replace(recording, **changes)


def wrong(recording: Recording, **expected) -> list[str]:
    return judge(take(**expected), recording)["wrong"]


def figure(judged, name: str) -> float | None:
    [row] = [figure for figure in FIGURES if figure.name == name]
    value = row.of([judged])
    return None if np.isnan(value) else value


def test_a_call_in_which_all_is_well():
    judged = judge(take(), call())
    assert (judged["wrong"], judged["passed"], judged["calls_exact"]) == ([], True, True)
    [turn] = judged["turns"]
    assert turn["voice_to_voice_ms"] == 500
    assert (turn["word_errors"], turn["cut_off"], turn["dead_air_s"]) == (0, False, 0.0)
    assert figure(judged, "task success") == figure(judged, "nothing done twice") == 100
    assert figure(judged, "false cutoffs") == figure(judged, "word errors") == 0
    assert figure(judged, "barge-in to silence, p50") is None


def test_a_doubled_side_effect_is_seen_in_the_calls():
    fine = call()
    judged = judge(take(), replace(fine, events=(*fine.events, called(3.0, "c2"))))
    assert judged["wrong"] == ["order ran 2 times; expected 1"]
    assert (judged["passed"], judged["exactly_once"]) == (False, False)
    assert figure(judged, "nothing done twice") == 0


def test_a_doubled_side_effect_is_seen_in_the_store():
    twice = {"orders": [{"drink": "latte"}, {"drink": "latte"}]}
    assert wrong(call(store=twice)) == ["orders has a row too many: {'drink': 'latte'}"]
    assert "orders has no row of" in wrong(call(store={"orders": []}))[0]
    assert wrong(call(store=None)) == []
    # The row of any drink leaves the latte to the row that only a latte fits.
    two = {"orders": [{"drink": "latte"}, {"drink": "mocha"}]}
    assert wrong(call(store=two), store={"orders": [{"drink": ".+"}, {"drink": "latte"}]}) == []


def test_a_call_that_failed_and_was_made_again_is_no_doubled_one():
    fine = call()
    failed = at(2.2, "quicksilver.tool_result", call_id="c1", error=True)
    judged = judge(take(), replace(fine, events=(*fine.events, failed, called(3.0, "c2"))))
    assert judged["wrong"] == []
    assert [made["failed"] for made in judged["calls"]] == [True, False]


def test_a_forgotten_correction_is_told_with_what_was_called():
    fine = call()
    kept = tuple(r for r in fine.events if r.type != "quicksilver.tool_call")
    judged = judge(take(), replace(fine, events=(*kept, called(2.2, count="three"))))
    assert "called 0 of 1 times: order(" in judged["wrong"][0]
    assert "count='three'" in judged["wrong"][0]
    assert (figure(judged, "task success"), figure(judged, "nothing done twice")) == (0, 100)


def test_a_call_that_nobody_asked_for_is_not_exact():
    fine = call()
    other = at(3.0, "quicksilver.tool_call", call_id="x", name="pay", arguments={"sum": 5})
    more = replace(fine, events=(*fine.events, other))
    judged = judge(take(), more)
    assert (judged["passed"], judged["calls_exact"]) == (True, False)
    assert wrong(more, may_call=["pay"]) == []
    assert wrong(more, must_not_call=["pay"]) == ["called pay(sum=5), which it must not"]


def test_calls_handed_to_the_client_count_like_those_of_the_server():
    fine = call()
    kept = tuple(r for r in fine.events if r.type != "quicksilver.tool_call")
    item = {"type": "function_call", "name": "order", "call_id": "c1"}
    item["arguments"] = '{"drink": "a latte", "count": 2}'
    handed = at(2.2, "response.output_item.done", item=item)
    assert wrong(replace(fine, events=(*kept, handed))) == []
    twice = replace(fine, events=(*kept, handed, replace(handed, at_s=2.4)))
    assert wrong(twice) == ["order ran 2 times; expected 1"]


def test_what_must_and_must_not_be_said():
    assert wrong(call(), must_say=["two of them"], must_not_say=["three"]) == []
    assert wrong(call(), must_say=["three"]) == ["never said 'three'"]
    assert wrong(call(), must_not_say=["two|three"]) == ["said 'two', which it must not"]


def test_only_what_was_heard_is_known_to_the_caller_and_counts_as_said():
    cut = interrupted("interruption", 1.2, None)
    never, _ = reply(5.0, item="i2", text="Nobody hears this.")
    cut = replace(cut, events=(*cut.events, *never))
    assert heard_words(cut.events, cut.agent) == "One latte, two of"
    assert wrong(cut, must_say=["two of", "you never hear", "nobody"]) == [
        "never said 'you never hear'", "never said 'nobody'"
    ]  # fmt: skip
    assert wrong(cut, must_not_say=["you never hear"]) == [
        "said 'you never hear', which it must not"
    ]


def test_arguments_that_are_no_json_object_are_a_call_that_failed():
    fine = call()
    kept = tuple(r for r in fine.events if r.type != "quicksilver.tool_call")
    for text in ('{"drink": "lat', "[]", "null"):
        item = {"type": "function_call", "name": "order", "call_id": "c1", "arguments": text}
        bad = at(2.2, "response.output_item.done", item=item)
        told = wrong(replace(fine, events=(*kept, bad)))
        assert "called 0 of 1 times: order(" in told[0]
        assert told[0].endswith("got order() failed")


def test_an_agent_that_answers_before_the_sentence_is_over_cuts_it_off():
    fine = call()
    early, sounding = reply(1.4, 0.3, "i0", "Two?")
    cut = replace(fine, events=(*early, *fine.events), agent=(sounding, *fine.agent))
    judged = judge(take(), cut)
    assert judged["turns"][0]["cut_off"]
    # Nor does its time count among those of turns that were waited for.
    assert (figure(judged, "false cutoffs"), figure(judged, "voice to voice, p50")) == (100, None)


def test_an_agent_that_acts_before_the_sentence_is_over_cuts_it_off():
    fine = call()
    early = tuple(replace(r, at_s=1.5) if "tool_call" in r.type else r for r in fine.events)
    assert judge(take(), replace(fine, events=early))["turns"][0]["cut_off"]


def test_300_ms_more_are_told_from_noise():
    rng = np.random.default_rng(0)
    latencies = rng.normal(0.6, 0.05, 40)
    before = [judge(take(seed), call(s)) for seed, s in enumerate(latencies)]
    after = [judge(take(seed), call(s + 0.3)) for seed, s in enumerate(latencies)]
    again = [judge(take(seed), call(s)) for seed, s in enumerate(rng.permuted(latencies))]
    said = {d.figure.name: d for d in against(after, before)}
    slower = said["voice to voice, p50"]
    assert slower.says == "higher"
    assert slower.this - slower.other == pytest.approx(300, abs=2)
    assert slower.bounds[0] > 200
    assert said["task success"].says == "noise"
    assert {d.says for d in against(again, before)} == {"noise", "nothing measured"}


def test_silence_after_the_caller_is_dead_air_and_no_answer_has_no_time():
    late = judge(take(), call(2.6))["turns"][0]
    assert (late["dead_air_s"], late["voice_to_voice_ms"]) == (2.6, 2600)
    fine = call()
    never = judge(take(), replace(fine, events=fine.events[:2], agent=()))
    assert never["turns"][0]["dead_air_s"] == 3.0
    assert figure(never, "turns followed by dead air") == 100


def test_words_are_counted_against_those_that_were_said():
    fine = call()
    misheard = (heard(2.1, "two"), heard(2.2, "lettuces"), *fine.events[1:])
    judged = judge(take(), replace(fine, events=misheard))
    assert figure(judged, "word errors") == 50
    assert judged["turns"][0]["transcript"] == "two lettuces"


def test_words_are_compared_as_they_sound():
    assert words("I’d like 2") == words("i'd like two")
    # A recogniser that repeats itself has written a number that has no name.
    assert len(words("1" * 400)) > 400


def interrupted(kind: str, played_s: float, kept: str | None) -> Recording:
    """The agent speaks for 4 s from 2.5 s on, and is talked over at 3.5 s."""
    events, sounding = reply(2.5, 4.0)
    played = replace(sounding, samples=sounding.samples[: round(played_s * RATE_HZ)])
    said = (Said("two lattes", "line", 1.0, 2.0), Said("no", kind, 3.5, 3.8))
    return call(
        said=said,
        events=(heard(2.1, "two lattes"), called(2.2), *events),
        agent=(played,),
        kept={} if kept is None else {"i1": kept},
    )


def test_a_barge_in_is_measured_to_silence():
    judged = judge(take(), interrupted("interruption", 1.2, "One latte, two of"))
    assert judged["over"][0]["silence_ms"] == 200
    assert figure(judged, "interruptions obeyed") == 100
    assert figure(judged, "barge-in to silence, p50") == 200
    assert figure(judged, "unheard words remembered") == 0
    deaf = judge(take(), interrupted("interruption", 4.0, None))
    assert figure(deaf, "interruptions obeyed") == 0


def test_an_unheard_word_remembered_is_told():
    judged = judge(take(), interrupted("interruption", 1.2, REPLY))
    assert judged["over"][0]["unheard_words"] > 0
    assert figure(judged, "unheard words remembered") == 100


def test_a_backchannel_that_stops_the_agent_is_told():
    assert figure(judge(take(), interrupted("backchannel", 1.2, None)),
                  "stopped by a backchannel or a bystander") == 100  # fmt: skip
    assert figure(judge(take(), interrupted("bystander", 4.0, None)),
                  "stopped by a backchannel or a bystander") == 0  # fmt: skip


def test_a_call_that_breaks_or_leads_nowhere_has_failed():
    assert wrong(call(error="the server closed the connection: 1011")) == [
        "the server closed the connection: 1011"
    ]
    assert wrong(call(gave_up=True)) == ["the caller gave up: too many turns"]


def test_scorecards_of_other_conversations_and_other_files_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="no conversation in common"):
        against([judge(take(1), call())], [judge(take(2), call())])
    for text in ("{", "[]", '{"conversations": []}', '{"conversations": [{}]}'):
        file = tmp_path / "card.json"
        file.write_text(text)
        with pytest.raises(ConfigError, match=r"card\.json: not a scorecard"):
            read(file)
