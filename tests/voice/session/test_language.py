"""The language that a client says is spoken, on virtual time."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from tests.support.virtual_parts import Model, Recognizer, Stream, Tape, calling, parts
from tests.support.virtual_time import virtual
from voice.dialogue.other_language import SPEAKS_ENGLISH
from voice.errors import ProtocolError
from voice.events import ReplyAudio, ReplyEnded
from voice.hearing.asr.domain import ANYTHING, Domain
from voice.types import Transcript


class OfManyLanguages(Recognizer):
    """Hears the language that it is told to expect, else English."""

    languages = ("en", "de")

    def open(self, turn_id: int, domain: Domain = ANYTHING) -> Stream:
        stream = Stream(self, turn_id)
        finish = stream.finish

        def told() -> Transcript:
            return replace(finish(), language=domain.language or "en")

        stream.finish = told  # type: ignore[method-assign]
        return stream


@virtual
async def test_a_sessions_language_is_what_its_recogniser_is_to_hear() -> None:
    model = Model(lambda _: "Fine.")
    heard = OfManyLanguages(Tape())
    async with calling(parts(model, None, heard)) as german, calling(parts(model)) as english:
        german.session.update(language="de")
        await asyncio.sleep(0.1)
        await german.say("wie geht es dir")
        assert (await german.next(ReplyEnded)).text == SPEAKS_ENGLISH
        assert german.of(ReplyAudio)
        await english.say("how are you")
        assert (await english.next(ReplyEnded)).text == "Fine."
        german.session.update(language="en")
        await asyncio.sleep(0.1)
        await german.say("how are you then")
        assert (await german.next(ReplyEnded)).text == "Fine."


@virtual
async def test_a_language_that_nobody_here_hears_is_refused() -> None:
    async with calling(parts(Model(lambda _: "Fine."))) as line:
        with pytest.raises(ProtocolError, match="got 'de'; this server hears en") as refused:
            line.session.update(language="de")
        assert refused.value.param == "session.audio.input.transcription.language"
        assert line.session.options.language == ""
