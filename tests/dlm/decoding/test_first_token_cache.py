from __future__ import annotations

import pytest

from dlm.decoding import first_token_cache as module
from dlm.decoding.first_token_cache import FirstTokenCache
from dlm.language.messages import Call, Turn
from dlm.language.tokenizer import Mark
from tests.dlm.tiny import template

ASKED = Turn("user", "set a timer for ten minutes")
TIMER = Turn("assistant", "", (Call("set_timer", {"duration": "ten minutes"}),))
WEATHER = Turn("assistant", "", (Call("get_weather", {}),))


def told(result: str, call: Turn = TIMER) -> list[Turn]:
    return [ASKED, call, Turn("tool", result)]


def test_whoever_asks_is_expected_to_get_a_call() -> None:
    cache = FirstTokenCache(template())
    assert cache.guess([ASKED]) == (int(Mark.CALL),)
    cache.learn([ASKED], [40, 41])
    assert cache.guess([ASKED]) == (int(Mark.CALL),)
    assert cache.guess([]) == ()
    assert cache.guess([Turn("system", "Be brief.")]) == ()


def test_a_result_is_expected_to_be_told_as_one_like_it_was() -> None:
    cache = FirstTokenCache(template())
    assert cache.guess(told("Timer set for 10 minutes.")) == ()
    cache.learn(told("Timer set for 10 minutes."), [40, 41, 42])
    cache.learn(told("Error: there are too many timers."), [50])
    assert cache.guess(told("Timer set for 5 hours.")) == (40,)
    assert cache.guess(told("Error: it is broken.")) == (50,)
    # Of another beginning, the tool's last reply.
    assert cache.guess(told("OK")) == (50,)
    assert cache.guess(told("Timer set for 10 minutes.", WEATHER)) == ()
    cache.learn(told("Timer set for 1 minute."), [60])
    assert cache.guess(told("Timer set for 5 hours.")) == (60,)


def test_what_was_met_long_ago_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT", 4)
    cache = FirstTokenCache(template())
    cache.learn(told("Done."), [40])
    cache.learn(told("Done.", WEATHER), [41])
    cache.learn(told("Done."), [40])
    cache.learn(told("Sunny.", WEATHER), [42])
    assert cache.guess(told("Done.")) == (40,)
    assert cache.guess(told("Sunny.", WEATHER)) == (42,)
    assert cache.guess(told("Done.", WEATHER)) == (42,)
