from __future__ import annotations

import json
from pathlib import Path

import pytest
from tokenizers import Tokenizer as BpeTokenizer

from dlm.language.chat_format import Dialect, JsonCalls, MarkedCalls
from dlm.language.chat_template import ChatTemplate
from dlm.language.messages import Answer, Call, Turn
from tests.dlm.loading.families import tokenizers
from tests.dlm.tiny import TIMER, WEATHER, template

ANSWER = Answer("Sure.", (Call("set_timer", {"duration": "ten minutes"}), Call("get_weather", {})))


@pytest.fixture(params=["marks", "chat"])
def dialect(request: pytest.FixtureRequest, tmp_path: Path) -> Dialect:
    if request.param == "marks":
        return template()
    return ChatTemplate(tokenizers.write(tmp_path), 259, [256])


def test_ids_are_in_their_places(dialect: Dialect) -> None:
    assert dialect.end in dialect.ends
    assert dialect.mask in dialect.never
    assert not dialect.ends.intersection(dialect.never)
    assert max(dialect.never) < dialect.size
    assert isinstance(dialect.calls, JsonCalls | MarkedCalls)


def test_a_prompt_goes_on_from_the_dialogue_before(dialect: Dialect) -> None:
    turns = [Turn("user", "hello"), Turn("assistant", "Hi."), Turn("user", "bye")]
    ended, prompt = dialect.ended(turns), dialect.prompt(turns)
    assert ended[-1] == dialect.end
    assert prompt[: len(ended)] == ended and len(prompt) > len(ended)


def test_an_answer_spelled_is_an_answer_read(dialect: Dialect) -> None:
    ids = dialect.spell(ANSWER)
    assert dialect.answer(ids, [TIMER, WEATHER]) == ANSWER
    words = dialect.words(ids)
    assert words == ids[: len(words)]
    assert dialect.decode(words).strip() == "Sure."


def test_the_end_of_a_message_is_that_of_an_answer(dialect: Dialect) -> None:
    turns = [Turn("user", "hello"), Turn("assistant", "Hi.")]
    assert dialect.ended(turns)[-len(dialect.spell(Answer("Hi.", ()))) :] == dialect.spell(
        Answer("Hi.", ())
    )


def test_no_text_spells_a_special_token_of_the_grammars_tokenizer(dialect: Dialect) -> None:
    raw = json.loads(json.dumps(dialect.unspellable()))
    spelled = {token["content"]: token["id"] for token in raw["added_tokens"]}
    assert spelled and all(text.startswith("\0") for text in spelled)
    odd = BpeTokenizer.from_str(json.dumps(raw))
    for text in spelled:
        assert not set(odd.encode(text[1:]).ids).intersection(spelled.values())
