"""Structured answers have the layout of the engine's, and hold what the text tells."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from random import Random

import pytest
import torch

from dlm.datagen.extraction import composed_extraction
from dlm.datagen.extraction.documents import KINDS, extraction, field_of, kinds, names_of
from dlm.datagen.extraction.rows import Extraction
from dlm.datagen.language.phrases import template as phrase
from dlm.decoding.forwards import Eager
from dlm.engine.json_call import JsonCall
from dlm.engine.request import Request, RequestJob
from dlm.engine.request_setup import RequestSetup
from dlm.language.template import tools_of, turns_of
from dlm.language.tokenizer import Mark
from dlm.server.bodies import ChatRequest
from dlm.server.conversion import chat_requests
from tests.dlm.tiny import model, template

Write = Callable[[Random, str], Extraction]
WRITERS = pytest.mark.parametrize("write", [extraction, composed_extraction.extraction])


def made(split: str, count: int, write: Write = extraction) -> Iterator[Extraction]:
    rng = Random(1)
    return (write(rng, split) for _ in range(count))


DATES = ("date", "time", "date-time")


def asked(one: Extraction) -> Request:
    """What the server makes of the row's dialogue, sent as a client does."""
    system = [{"role": "system", "content": one.row["system"]}] if one.row["system"] else []
    wanted = {"name": "answer", "schema": one.schema, "strict": True}
    body = {
        "model": "any",
        "messages": [*system, one.row["messages"][0]],
        "response_format": {"type": "json_schema", "json_schema": wanted},
        "max_tokens": 1000,
    }
    (request,) = chat_requests(ChatRequest.model_validate(body))
    return request


@WRITERS
@pytest.mark.parametrize(("split", "declarations"), [("train", 1), ("train", 2), ("heldout", 2)])
def test_rows_have_the_tokens_of_requests_and_answers(
    write: Write, split: str, declarations: int
) -> None:
    chat, network = template(declarations), model()
    begun = RequestSetup(network.config, chat, Eager(network))
    vocabulary = network.config.vocab_size
    for one in made(split, 100, write):
        request, call = begun.with_json_call(asked(one))
        assert isinstance(call, JsonCall)
        tools = tools_of(one.row["tools"])
        row = chat.dialogue(turns_of(one.row), tools)
        ((start, end),) = row.answers
        assert row.ids[:start] == chat.prompt(request.turns, request.tools)
        answer = row.ids[start:end]
        assert chat.answer(answer, tools).calls
        matcher = begun.matcher(RequestJob(request, lambda event: None, chat, None, call))
        assert matcher is not None
        for token in answer:
            likely = torch.nn.functional.one_hot(torch.tensor(token), vocabulary).float()
            assert matcher.best(likely) == token, (one, chat.decode(answer))
            if token != Mark.END:
                matcher.follow([token])
        text = call.read(chat.answer(answer, request.tools)).content
        assert json.loads(text) == one.answer


@WRITERS
def test_what_is_told_is_in_the_text(write: Write) -> None:
    untold = 0
    for one in made("train", 2000, write):
        text = one.row["messages"][0]["content"]
        (call,) = one.row["messages"][1]["tool_calls"]
        (tool,) = one.row["tools"]
        properties = tool["parameters"]["properties"]
        assert set(tool["parameters"]["required"]) <= set(call["arguments"]) <= set(properties)
        untold += len(call["arguments"]) < len(properties)
        for key, value in call["arguments"].items():
            schema = properties[key]
            if "enum" in schema:
                assert value in schema["enum"]
            elif schema["type"] == "string" and schema.get("format") not in DATES:
                assert value in text
    assert untold > 200


def test_every_field_is_told_by_some_text_in_whole_words() -> None:
    for name, kind in KINDS.items():
        assert 3 <= len(kind.texts) <= 6 and len(kind.fields) >= 3, name
        names = [one for source in kind.fields.values() for one in field_of(source).names]
        assert len(names) == len(set(names)), (name, names)
        slots = frozenset().union(*(phrase(text).slots for text in kind.texts))
        for field, source in kind.fields.items():
            told = (
                source.partition(":")[0].removeprefix("currency ")
                if "currency " in source
                else field
            )
            assert told in slots, (name, field)
        for text in kind.texts:
            assert not re.search(r"(?<=[\w'])\{|\}(?=[\w'])", text), text


def test_kinds_and_names_are_held_out() -> None:
    train, rest = set(kinds("train")), set(kinds("heldout"))
    assert len(train) >= 70 and len(rest) >= 4 and not train & rest
    every = [field_of(source) for kind in KINDS.values() for source in kind.fields.values()]
    hidden = {n for one in every for n in one.names} - {
        n for one in every for n in names_of(one, "train")
    }
    assert len(hidden) > 5
    shown = {
        key
        for one in made("train", 3000)
        for key in one.row["tools"][0]["parameters"]["properties"]
    }
    assert not shown & hidden
