from __future__ import annotations

import re
from pathlib import Path

import pytest

from voice import config
from voice.config import Config, EndpointingConfig, load_agent, load_config, secret
from voice.errors import ConfigError

CONFIGS = [path.stem for path in sorted(config.CONFIGS_DIR.glob("*.toml"))]
AGENTS = [path.stem for path in sorted((config.CONFIGS_DIR / "agents").glob("*.toml"))]


@pytest.mark.parametrize("name", CONFIGS)
def test_a_shipped_file_is_valid(name: str) -> None:
    assert load_agent(load_config(name).agent).name


def test_the_default_file_says_what_the_defaults_are() -> None:
    assert load_config() == load_config("default") == Config()


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_has_all_slots_of_its_phrases(name: str) -> None:
    agent = load_agent(name)
    slots = {part.split("}")[0] for phrase in agent.phrases for part in phrase.split("{")[1:]}
    assert agent.phrases
    assert agent.tools
    assert slots <= set(agent.values)


def test_a_slot_that_no_list_fills_is_told(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    head = 'name = "mine"\ninstructions = "Be brief."\nphrases = ["the {drug} for {pet}"]\n'
    file.write_text(f'{head}[values]\npet = ["nero"]\ndrug = []\n')
    with pytest.raises(ConfigError) as failure:
        load_agent(str(file))
    what = "got {drug} in 'the {drug} for {pet}', for which values has no words"
    assert str(failure.value) == f"{file}: phrases: {what}; expected one of ['pet']"


def test_a_path_and_overrides_are_read(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("[asr.whisper]\nmodel = 'tiny.en'\n[server]\nport = 1234\n")
    loaded = load_config(file, ["server.port=0", "asr.engine=whisper", "local.input_device=2"])
    assert (loaded.asr.engine, loaded.asr.whisper.model) == ("whisper", "tiny.en")
    assert loaded.server.port == 0
    assert loaded.local.input_device == "2"


def test_one_option_of_a_part_leaves_the_others_defaults() -> None:
    ears = load_config(overrides=["cluster.ears.least=1", "cluster.ears.most=3"]).cluster.ears
    assert (ears.most, ears.ongoing) == (3, 1.0)


def test_an_unknown_name_lists_those_that_exist() -> None:
    with pytest.raises(ConfigError, match=r"hubb: got an unknown name; .*'hub'"):
        load_config("hubb")
    with pytest.raises(ConfigError, match=r"barista: got an unknown name; .*'coffee'"):
        load_agent("barista")


def test_a_wrong_value_names_what_is_expected() -> None:
    with pytest.raises(ConfigError, match=r"asr.engine: got 'wisper'; expected 'auto', 'sphi"):
        load_config(overrides=["asr.engine=wisper"])


def test_a_start_window_too_short_for_its_speech_is_refused() -> None:
    message = r"endpointing: got start_ms 300; expected at most start_window_ms \(200\)"
    with pytest.raises(ConfigError, match=message):
        load_config(overrides=["endpointing.start_ms=300"])
    assert EndpointingConfig(start_ms=200, start_window_ms=200).start_ms == 200


def test_more_threads_than_cores_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    assert load_config(overrides=["llm.threads=8"]).llm.threads == 8
    with pytest.raises(ConfigError, match=r"--set: llm.threads: got 9; expected at most 8, one "):
        load_config(overrides=["llm.threads=9"])


def test_a_secret_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    # As of a file that ends in a line break.
    monkeypatch.setenv("QUICKSILVER_TEST_SECRET", "s3cret\n")
    assert secret("QUICKSILVER_TEST_SECRET") == "s3cret"
    monkeypatch.setenv("QUICKSILVER_TEST_SECRET", "\n")
    assert secret("QUICKSILVER_TEST_SECRET") is None
    monkeypatch.delenv("QUICKSILVER_TEST_SECRET")
    assert secret("QUICKSILVER_TEST_SECRET") is None


def test_an_agent_has_a_tool_once(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('name = "x"\ninstructions = "y"\ntools = ["roll_dice", "a", "roll_dice"]\n')
    with pytest.raises(ConfigError, match=r"mine.toml: tools: got 'roll_dice' more than once"):
        load_agent(str(file))


@pytest.mark.parametrize(
    ("override", "told"),
    [
        (
            'server.trusted_proxies=["::1", "proxy"]',
            "got 'proxy'; expected an address or a network",
        ),
        ('telephony.audiosocket_peers=["::1", "foo"]', "got 'foo'; expected an address or a"),
        ('server.allowed_origins=["http://[oops"]', "got 'http://[oops'; expected an origin: Inv"),
        ('webrtc.ice_servers=["stun.example"]', "got 'stun.example'; expected such as stun:host"),
    ],
)
def test_what_cannot_be_read_is_refused(override: str, told: str) -> None:
    option = override.partition("=")[0]
    with pytest.raises(ConfigError, match=re.escape(f"{option}: {told}")):
        load_config(overrides=[override])


@pytest.mark.parametrize("url", ["https://voice.example.com", "https://a.example:8443/", ""])
def test_an_origin_is_taken(url: str) -> None:
    assert load_config(overrides=[f"telephony.public_url={url}"]).telephony.public_url == url


@pytest.mark.parametrize("url", ["http://[oops", "https://a.example:99999", "a.example", "https:"])
def test_what_is_no_origin_is_refused(url: str) -> None:
    message = f"--set: telephony.public_url: got {url!r}; expected an origin such as https://"
    with pytest.raises(ConfigError, match="^" + re.escape(message)):
        load_config(overrides=[f"telephony.public_url={url}"])


def test_an_address_from_the_environment_is_refused_like_one_of_the_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for url, shown in (("http://[::1", "http://[::1"), ("user:secret@host:4318", "host:4318")):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        with pytest.raises(ConfigError) as caught:
            load_config().telemetry.describe()
        assert f"OTEL_EXPORTER_OTLP_ENDPOINT: got '{shown}'; expected" in str(caught.value)


def test_examples_of_an_agent_are_few_and_short(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    for examples in (["hello"] * 6, [" "], ["x" * 81]):
        file.write_text(f"name = 'mine'\ninstructions = 'Be brief.'\nexamples = {examples}\n")
        with pytest.raises(ConfigError, match="examples: "):
            load_agent(str(file))
