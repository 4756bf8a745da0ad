"""What a caller says next."""

import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from tests.support.serving import serving
from voice.errors import VoiceError
from voice.prove.mind import Mind
from voice.prove.scenario import Scenario
from voice.prove.script import Script


def script(*lines, **more) -> Script:
    told = {"caller": "c", "goal": "g", "lines": lines, **more}
    return Script(Scenario.model_validate(told), seed=1)


def conversation(script: Script, *heard: str) -> list[str | None]:
    said = []
    for text in heard:
        script, words = script.after(text)
        said.append(words)
    return said


def test_lines_are_said_in_order_and_those_with_a_cue_at_their_cue():
    caller = script({"says": "a latte"}, {"hears": "name", "says": "anna"}, {"says": "that is all"})
    heard = ("What can I get you?", "Anything else?", "What name is it?", "What name is it?")
    assert conversation(caller, *heard) == ["a latte", "that is all", "anna", None]


def test_cues_are_heard_in_plain_words():
    caller = script({"hears": "ten am", "says": "no eleven"}, {"says": "hello"})
    assert conversation(caller, "At 10 AM?")[0] == "no eleven"


def test_an_agent_that_understood_nothing_is_told_again_but_not_for_ever():
    caller = script({"says": "a latte"}, {"says": "bye"})
    heard = ("Hello.", "", "Sorry, I didn’t catch that.", "Pardon?", "Well.")
    assert conversation(caller, *heard) == ["a latte", "a latte", "a latte", "bye", None]


def test_silence_that_was_meant_is_not_repeated():
    caller = script({"says": "[pause 900]"}, {"says": "hello"})
    assert conversation(caller, "Hello.", "") == ["[pause 900]", "hello"]


def test_a_question_that_nothing_fits_is_put_off_twice():
    caller = script({"hears": "name", "says": "anna"}, otherwise="no idea", goodbye="bye")
    heard = ("What colour?", "What size?", "What shape?", "Goodbye.")
    assert conversation(caller, *heard) == ["no idea", "no idea", "bye", None]


def test_who_gets_nowhere_gives_up():
    caller = script({"hears": "again", "says": "this", "times": 9}, turns=3)
    for _ in range(3):
        caller, said = caller.after("again")
        assert said == "this"
    # Nothing is left to say, after as many turns as there are.
    assert not caller.gave_up
    caller, _ = caller.after("again")
    assert caller.gave_up


def test_of_several_ways_to_say_it_the_seed_chooses():
    says = [f"way {number}" for number in range(9)]
    told = {"caller": "c", "goal": "g", "lines": [{"says": says}]}
    scenario = Scenario.model_validate(told)
    first = [Script(scenario, seed).after("")[1] for seed in range(20)]
    assert first == [Script(scenario, seed).after("")[1] for seed in range(20)]
    assert len(set(first)) > 3


async def test_a_chat_model_says_what_a_caller_says_until_it_hangs_up():
    asked = []
    answers = iter(["A large one, [cough] please.", "Please don't hang up!", "Bye. HANG UP"])

    async def answer(request):
        asked.append((await request.json(), request.headers.get("authorization")))
        return JSONResponse({"choices": [{"message": {"content": next(answers)}}]})

    app = Starlette(routes=[Route("/v1/chat/completions", answer, methods=["POST"])])
    caller = script({"says": "[cough] a latte"})
    async with serving(app) as host:
        mind = Mind(f"http://{host}/v1", "small", "k", seed=3)
        first, text = await mind.after(caller, "What size?")
        assert (text, first.turns) == ("A large one, please.", 1)
        first, text = await mind.after(first, "Goodbye.")
        assert text == "Please don't hang up!"
        assert await mind.after(first, "") == (first, None)
    with pytest.raises(VoiceError, match="mind"):
        await mind.after(first, "Hello?")
    body, key = asked[1]
    assert (body["model"], body["seed"], key) == ("small", 3, "Bearer k")
    assert [one["role"] for one in body["messages"]] == ["system", "user", "assistant", "user"]
    assert "a latte" in body["messages"][0]["content"]
