from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
import torch

from dlm.decoding.decoder import Decoder
from dlm.decoding.forwards import Eager, Steps, drive
from dlm.effort import Effort
from dlm.engine.request import RequestJob
from dlm.engine.request_setup import DRAFT_CHARACTERS, MOST_CHECKED, RequestSetup
from dlm.grammar.formats import JsonSchema, Regex
from dlm.language.chat_template import ChatTemplate
from dlm.language.messages import Answer, Tool, Turn
from dlm.language.template import Template
from dlm.language.tokenizer import Mark
from dlm.network.model import Transformer
from tests.dlm.asking import SAID, TIMER_CALL, request
from tests.dlm.loading.families import tokenizers
from tests.dlm.tiny import DIALOGUES, TOOLS, model, taught, template, tokenizer, tool


def start(
    begun: RequestSetup, job: RequestJob, running: Iterable[Decoder]
) -> tuple[Decoder, Steps[None]]:
    return begun.start(job, begun.matcher(job), running)


def setup(made: Transformer) -> RequestSetup:
    return RequestSetup(made.config, template(), Eager(made))


def live(*turns: Turn | str, **options: object) -> RequestJob:
    return RequestJob(request(*(turns or (SAID,)), **options), lambda event: None, template())


def answered(made: Transformer, begun: RequestSetup, wanted: RequestJob) -> list[int]:
    """Run a request to its end by itself; its tokens."""
    decoder, steps = start(begun, wanted, ())
    drive(made, decoder.cache, steps)
    begun.keep(decoder)
    return decoder.progress.tokens


def test_what_was_kept_need_not_be_forwarded_again() -> None:
    made = taught()
    begun = setup(made)
    answered(made, begun, live())
    decoder, _ = start(begun, live(), ())
    assert decoder.cache.length == len(decoder.prompt) - 1
    # Another that is under way lends what it knows as well.
    other, _ = start(begun, live(), [decoder])
    assert other.cache.length == decoder.cache.length
    assert other.cache is not decoder.cache


def test_only_who_thinks_may_close_a_thought() -> None:
    made = model(reasons=True)
    begun = setup(made)
    thinks = request(SAID, effort=Effort.HIGH)
    thought = begun.reasoning_marks(thinks)
    assert thought == template().reasoning
    assert begun.reasoning_marks(request(SAID)) is None
    assert begun.room(thinks) == begun.room(request(SAID)) - 1
    assert setup(model()).reasoning_marks(thinks) is None
    closing = template().reasoning.closing
    never = [begun.decoder([1], 8, (), marks).vocabulary.never for marks in (None, thought)]
    assert [closing in banned for banned in never] == [True, False]


def test_there_is_room_for_as_much_as_is_said_and_for_no_more() -> None:
    begun = setup(model())
    room = begun.room(request(SAID))
    start(begun, live(max_tokens=room), ())
    with pytest.raises(ValueError, match="got 4097 positions, expected at most 4096"):
        start(begun, live(max_tokens=room + 1), ())
    prefix = "Well then"
    assert begun.room(request(SAID, prefix=prefix)) == room - len(template().text(prefix))


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"tool_choice": "nobody"}, "tool_choice: got 'nobody'"),
        ({"format": Regex("a"), "verified": False}, "unverified drafts"),
        ({"format": Regex("(")}, "format: "),
        ({"max_tokens": 5000}, "positions"),
    ],
)
def test_what_cannot_begin_costs_nothing_that_is_known(wrong: dict[str, object], told: str) -> None:
    made = taught()
    begun = setup(made)
    answered(made, begun, live(max_tokens=1))
    dialogue = (SAID, Turn("assistant", calls=(TIMER_CALL,)), "thanks")
    known = len(template().prompt([Turn("user", SAID)], request(SAID).tools))
    with pytest.raises(ValueError, match=told):
        start(begun, live(*dialogue, **wrong), ())
    # All of it is in the new prompt, so its cache itself would have been handed over.
    again, _ = start(begun, live(*dialogue), ())
    assert again.cache.length == known


def test_of_a_draft_no_more_is_spelled_than_an_answer_may_hold() -> None:
    lengths = []

    class Listening(Template):
        def spell(self, answer: Answer, tools: Sequence[Tool] = ()) -> list[int]:
            lengths.append(len(answer.content))
            return super().spell(answer, tools)

    made = taught()
    begun = RequestSetup(made.config, Listening(tokenizer()), Eager(made))
    for draft in ("ten minutes", "ten minutes " * 1000):
        start(begun, live(max_tokens=8, draft=draft), ())
    assert lengths == [11, 8 * DRAFT_CHARACTERS]


def test_a_second_reply_to_a_result_takes_fewer_forwards() -> None:
    made = taught()
    *turns, expected = DIALOGUES[2]
    wanted, forwards = template().dialogue([*turns, expected], TOOLS), []
    begun = setup(made)
    for _ in range(3):
        one = live(*turns, copy_sources=(SAID,))
        decoder, steps = start(begun, one, ())
        drive(made, decoder.cache, steps)
        first, end = wanted.answers[-1]
        assert decoder.progress.tokens == wanted.ids[first:end]
        forwards.append(decoder.progress.forwards)
    assert forwards[2] == forwards[1] < forwards[0]


def test_the_coldest_sampling_takes_the_likeliest() -> None:
    made = model()
    begun = setup(made)
    likeliest = answered(made, begun, live(tools=(), max_tokens=12))
    assert answered(made, begun, live(tools=(), max_tokens=12, temperature=1e-40)) == likeliest


def test_of_many_schemas_only_some_are_filled_with_what_was_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun = setup(model())
    checked: list[object] = []
    monkeypatch.setattr(begun._grammars, "accepts", lambda schema: checked.append(schema) or len)
    sizes = [{"type": "string", "maxLength": size} for size in range(MOST_CHECKED + 9)]
    asked = request(SAID, tools=(), format=JsonSchema({"type": "array", "prefixItems": sizes}))
    made, _ = begun.with_json_call(asked)
    assert isinstance(made.format, JsonSchema)
    assert len(checked) == MOST_CHECKED
    assert made.format.schema["prefixItems"][MOST_CHECKED:] == sizes[MOST_CHECKED:]


TABLE = tool("table", ["rows"], rows={"type": "array", "items": {"type": "integer"}})
NOTE = tool("note", ["text"], text={"type": "string"})


@pytest.mark.parametrize("called", [TABLE, NOTE])
def test_words_in_the_place_of_a_call_may_be_cut_and_the_call_not(called: Tool) -> None:
    begun = setup(model())
    words = template().text("two minutes please")
    assert len(words) > 3
    matcher = begun.matcher(live(tools=(called,), max_tokens=4))
    assert matcher is not None
    for word in words[:3]:
        assert matcher.advance(word) == []
    assert matcher.takes(words[3])
    matcher = begun.matcher(live(tools=(called,), max_tokens=30))
    assert matcher is not None
    digit, count = torch.zeros(352), 1
    digit[tokenizer().encode("1")[-1]] = 1.0
    token = int(Mark.CALL)
    while token != Mark.END:
        followers = matcher.advance(token)
        count += 1 + len(followers)
        token = followers[-1] if Mark.END in followers else matcher.best(digit)
    assert count <= 30


def test_a_prefix_may_begin_with_an_indentation(tmp_path: Path) -> None:
    chat = ChatTemplate(tokenizers.write(tmp_path), 259, [256])
    made = model(vocab_size=272, mask_token_id=259, eos_token_id=256)
    begun = RequestSetup(made.config, chat, Eager(made))
    asked = request(tools=(), prefix="\n    return x", max_tokens=5)
    matcher = begun.matcher(RequestJob(asked, lambda event: None, chat))
    assert matcher is not None and matcher.takes(chat.text("y")[0])
