from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

from tests.support.embedded import embedded_config
from voice.config import variant_configs
from voice.errors import ConfigError, ModelError
from voice.session.resources import Resources
from voice.session.session import Session
from voice.speech.tts import Synthesizer, Voices


async def test_the_embedded_parts_load_and_say_what_they_are(embedded_parts: Resources) -> None:
    recogniser, model, voice, calls = embedded_parts.describe()
    assert calls == "calls: 8 at once, as configured (server.max_sessions)"
    assert "whisper tiny.en-short" in recogniser
    assert "quicksilver-small" in model
    assert "hibari" in voice


async def test_a_number_of_calls_that_is_not_set_is_measured() -> None:
    parts = Resources.load(embedded_config("asr.engine=sphinx", "server.max_sessions=0"))
    assert parts.describe()[-1].startswith(f"calls: {parts.conversations} at once, by ")
    await parts.close()


async def test_a_session_begins_as_configuration_and_agent_say(embedded_parts: Resources) -> None:
    options = embedded_parts.options()
    assert options.instructions == embedded_parts.agent.instructions
    assert options.agent_tools == embedded_parts.agent.tools
    assert options.effort == "instant"
    assert Session(embedded_parts).options == options


def test_each_session_has_a_detector_of_its_own(embedded_parts: Resources) -> None:
    assert embedded_parts.vad() is not embedded_parts.vad()


async def test_another_agent_shares_all_but_its_language_model() -> None:
    """pocketsphinx has one of each agent's domain."""
    assistant = Resources.load(embedded_config("asr.engine=sphinx"))
    coffee = assistant.for_agent("coffee")
    assert coffee.agent.name == "coffee"
    assert coffee.model is assistant.model
    assert coffee.toolbox is assistant.toolbox
    assert coffee.recognizer is not assistant.recognizer
    again = assistant.for_agent("coffee")
    assert again.recognizer is coffee.recognizer
    assert coffee.for_agent("assistant").recognizer is assistant.recognizer
    assert "coffee" in coffee.describe()[0]
    assert "order_drink" in coffee.options().agent_tools
    with pytest.raises(ConfigError, match=r"server\.agents: butler: got an unknown"):
        assistant.for_agent("butler", "server.agents")
    await assistant.close()


async def test_variants_share_what_their_options_leave_alone(embedded_parts: Resources) -> None:
    changes = [
        "metrics.json_lines=measured.jsonl",
        "compare.variants.now.share=1",
        'compare.variants.coffee.set=["agent=coffee", "llm.max_reply_tokens=50"]',
        'compare.variants.espeak.set=["tts.engine=espeak", "tts.speed=1.2"]',
    ]
    config = embedded_config(*changes)
    parts = embedded_parts.comparing(variant_configs(config))
    assert parts.variants is not None
    now, coffee, espeak = parts.variants.resources.values()
    assert now.recognizer is coffee.recognizer is espeak.recognizer is parts.recognizer
    assert now.model is coffee.model is espeak.model is parts.model
    assert now.synthesizer is coffee.synthesizer is parts.synthesizer
    assert "espeak" in espeak.synthesizer.name
    assert coffee.agent.name == "coffee"
    assert coffee.options().max_reply_tokens == 50
    assert espeak.options().speed == 1.2
    assert "voice of its own" in parts.describe()[-1]
    # A call that names its agent keeps it, whatever variant its session has.
    ordering = parts.for_agent("coffee").variants
    assert ordering is not None
    assert {one.agent.name for one in ordering.resources.values()} == {"coffee"}


async def test_the_voice_of_a_variants_agent_is_loaded_before_it_is_heard(
    embedded_parts: Resources, tmp_path: Path
) -> None:
    for name in ("other", "unheard"):
        text = f'name = "{name}"\ninstructions = "Speak."\nvoice = "{name}"\n'
        (tmp_path / f"{name}.toml").write_text(text, encoding="utf-8")
    loaded: list[str] = []

    def load() -> Synthesizer:
        loaded.append("other")
        return embedded_parts.synthesizer

    config = embedded_config(
        "metrics.json_lines=measured.jsonl",
        f'compare.variants.one.set=["agent={tmp_path}/other.toml"]',
        f'compare.variants.two.set=["agent={tmp_path}/unheard.toml"]',
    )
    parts = replace(embedded_parts, voices=Voices({"hibari:other": load}))
    lines = parts.comparing(variant_configs(config)).describe()
    assert loaded == ["other"]
    assert "voice unheard: not on this machine" in lines[-1]


def test_an_unknown_agent_is_named() -> None:
    with pytest.raises(ConfigError, match="butler"):
        Resources.load(embedded_config("agent=butler"))


def test_a_missing_checkpoint_is_named() -> None:
    with pytest.raises(ModelError, match="nowhere"):
        Resources.load(embedded_config("llm.checkpoint=/nowhere"))


def test_a_tool_that_the_model_cannot_call_is_named_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = """
        from voice.tools.registry import tool

        @tool()
        def gather(words: set[str]) -> str:
            \"\"\"Gather words.\"\"\"
            return "Done."
    """
    (tmp_path / "gathering.py").write_text(dedent(module), encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    agent = tmp_path / "gatherer.toml"
    agent.write_text('name = "gatherer"\ninstructions = "Gather."\ntools = ["gather"]\n')
    with pytest.raises(ConfigError, match=r"gather\.words: .*uniqueItems"):
        Resources.load(embedded_config(f"agent={agent}", 'tools.modules=["gathering"]'))


async def test_the_tool_in_the_documentation_is_served(
    repo_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (repo_root / "docs" / "fine-tuning.md").read_text(encoding="utf-8")
    for kind, name in (("python", "garden.py"), ("toml", "garden.toml")):
        (tmp_path / name).write_text(text.split(f"```{kind}\n")[1].split("```")[0])
    monkeypatch.syspath_prepend(str(tmp_path))
    agent = tmp_path / "garden.toml"
    parts = Resources.load(embedded_config(f"agent={agent}", 'tools.modules=["garden"]'))
    (spec, _) = parts.toolbox.specs(parts.agent.tools)
    assert (spec.name, spec.parameters["required"]) == ("water_garden", ["plants"])
    await parts.close()
