"""Every option of the agent: one frozen model per part, read from TOML, overrides and environment.

An option's name, unit, default and meaning are written here alone; docs/configuration.md is
generated from them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from voice.config.agent import AgentConfig as AgentConfig
from voice.config.cluster import ClusterConfig
from voice.config.compare import CompareConfig
from voice.config.flow import hint, mistakes
from voice.config.mcp import McpServerConfig
from voice.config.moments import ShippedMoments
from voice.config.options import (
    Section,
    Url,
    check_url,
    find_file,
    key_of,
    read_options,
    with_overrides,
)
from voice.config.server import ServerConfig, WebRtcConfig
from voice.config.telephony import TelephonyConfig
from voice.errors import ConfigError

CONFIGS_DIR = Path(__file__).resolve().parents[2] / "configs"


class VadConfig(Section):
    """Voice activity detection."""

    engine: Literal["webrtc", "silero"] = "silero"
    """silero is a small network that ships with faster-whisper. webrtc is lighter, but takes noise
    for speech."""
    telephone: Literal["webrtc", "silero"] = "webrtc"
    """The detector for audio of 8 kHz, or with nothing above 4 kHz: silero misses words there."""
    aggressiveness: int = Field(default=2, ge=0, le=3)
    """webrtc only: 0 lets most audio through, 3 rejects most."""
    threshold: float = Field(default=0.5, gt=0, lt=1)
    """Probability at or above which a frame counts as speech."""


class EndpointingConfig(Section):
    """When a turn begins and ends."""

    start_ms: int = Field(default=80, ge=20)
    """Amount of speech in the start window that begins a turn."""
    start_window_ms: int = Field(default=200, ge=20)
    """Window in which `start_ms` of speech must fall."""
    pre_roll_ms: int = Field(default=300, ge=0)
    """Audio before the detected start that the recogniser also gets."""
    pause_ms: int = Field(default=60, ge=20)
    """Silence after which the final decode starts, without ending the turn."""
    profile: Literal["eager", "balanced", "patient"] = "balanced"
    """How soon a pause counts as the end of the turn, given the words and the language model's
    expectation. docs/turn-taking.md has the latency and false cutoffs of each profile."""
    barge_in_ms: int = Field(default=900, ge=20)
    """Speech of this length stops the agent, whatever the words are. For shorter speech the words
    decide."""
    longest_turn_s: float = Field(default=30.0, gt=0)
    """A turn ends after this time, even if the user is still speaking."""

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.start_ms > self.start_window_ms:
            raise ValueError(
                f"got start_ms {self.start_ms}; expected at most"
                f" start_window_ms ({self.start_window_ms}), or no turn ever begins"
            )
        return self


class SphinxConfig(Section):
    """The embedded recogniser."""

    min_confidence: float = Field(default=0.4, ge=0, le=1)
    """A transcript with a lower confidence counts as not understood."""
    interim_ms: int = Field(default=240, ge=20)
    """Interval between interim transcripts."""
    cache_dir: str = ""
    """Folder for the language models that are built; empty means the user's cache directory."""


class WhisperConfig(Section):
    """faster-whisper."""

    model: str = "tiny.en-short"
    """tiny.en-short (English) comes with the installation, and so does tiny.en, from which it was
    made. base (multilingual) comes with the extra `base`. Otherwise a local directory or a name on
    the Hugging Face hub."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Device on which it runs."""
    compute_type: str = "auto"
    """CTranslate2 compute type; auto means int8 on a CPU and float16 on CUDA."""
    language: str = ""
    """Language code of the speech. Empty detects the language, and takes English if in doubt. It
    has no effect on English-only weights."""
    interim_ms: int = Field(default=240, ge=100)
    """Interval at which the growing window is decoded again."""
    window_s: float = Field(default=0.0, ge=0, le=30)
    """Encoder context in seconds: audio is padded to this length, and longer audio is used as it
    is. 0 takes the value in the weights' config.json, or else 8, which works for stock weights
    although they were trained with 30."""
    no_speech_threshold: float = Field(default=0.6, ge=0, le=1)
    """Text with a higher probability of being no speech is dropped, unless its mean log probability
    is above half of `log_prob_threshold`."""
    log_prob_threshold: float = -1.0
    """Text with a lower mean log probability is dropped."""
    compression_ratio_threshold: float = Field(default=2.4, gt=0)
    """Text with a higher compression ratio is dropped, because it repeats itself."""
    beam_size: int = Field(default=5, ge=1)
    """Beams of the final decode; interim decodes are greedy."""


class AsrConfig(Section):
    """Speech recognition."""

    engine: Literal["auto", "sphinx", "whisper"] = "auto"
    """auto is whisper, or sphinx where the machine is too slow for it."""
    sphinx: SphinxConfig = SphinxConfig()
    """The embedded recogniser, pocketsphinx."""
    whisper: WhisperConfig = WhisperConfig()
    """faster-whisper."""


class RemoteConfig(Section):
    """A remote OpenAI-compatible model."""

    base_url: str = "https://api.inceptionlabs.ai/v1"
    """Base URL of the API."""
    model: str = "mercury-2"
    """Model name sent with each request."""
    api_key_env: str = "INCEPTION_API_KEY"
    """Environment variable that holds the key; set it to any text if the server needs none."""
    timeout_s: float = Field(default=10.0, gt=0)
    """Longest silence before a reply begins or within it; keep-alive lines count as silence."""
    extra_body: dict[str, Any] = Field(default_factory=dict)
    """Additional fields sent with each request."""


class LlmConfig(Section):
    """The language model."""

    engine: Literal["embedded", "remote"] = "embedded"
    """embedded runs a checkpoint in this process; remote calls an OpenAI-compatible server."""
    checkpoint: str = ""
    """Directory in the Hugging Face layout; empty means the shipped checkpoint."""
    device: str = "auto"
    """torch device; auto uses CUDA if there is any."""
    dtype: Literal["auto", "float32", "bfloat16", "float16", "int8"] = "auto"
    """auto picks a type that is fast on the device; int8 rounds the matrices on a CPU."""
    kernels: Literal["auto", "eager", "fused"] = "auto"
    """auto uses the project's own kernels if the device is CUDA and they can run there; fused
    requires them; eager does not use them."""
    threads: int = Field(default=0, ge=0)
    """torch threads, at most one per core. 0 means one thread for a model as small as the shipped
    one, otherwise one per core, at most 4."""
    reasoning_effort: Literal["instant", "low", "medium", "high"] = "instant"
    """Refinement steps per block."""
    max_reply_tokens: int = Field(default=96, ge=8)
    """Longest reply in tokens."""
    tool_replies: Literal["auto", "exact", "rephrased"] = "auto"
    """How a tool's result is spoken. exact uses a rule that keeps every value. rephrased uses the
    model's own words, of which only the numbers are checked. auto means exact for an embedded model
    and rephrased for a remote one."""
    prompt_cache_mib: int = Field(default=256, ge=0)
    """Memory in MiB for prompts that were already processed, so that a dialogue's next turn
    processes only its new words."""
    remote: RemoteConfig = RemoteConfig()
    """A remote OpenAI-compatible model."""

    @property
    def rephrases(self) -> bool:
        """Whether the model's words are said of a tool's result."""
        if self.tool_replies == "auto":
            return self.engine == "remote"
        return self.tool_replies == "rephrased"

    @field_validator("threads")
    @classmethod
    def _check_threads(cls, threads: int) -> int:
        # They compute and never wait, so that more than cores only slow each other down; and torch
        # ends the process, without a word, when the system refuses it one of thousands.
        cores = os.cpu_count() or 1
        if threads > cores:
            raise ValueError(f"got {threads}; expected at most {cores}, one per core")
        return threads


class PiperConfig(Section):
    """Piper voices."""

    voice: str = "en_US-lessac-medium"
    """Path of an .onnx voice, or a name on the hub; en_US-joe-medium can also be installed as a
    package."""


class EspeakConfig(Section):
    """The embedded voice."""

    voice: str = "en-us"
    """espeak-ng voice name."""
    pitch: int = Field(default=50, ge=0, le=99)
    """espeak-ng pitch."""


class HibariConfig(Section):
    """hibari voices."""

    voice: str = "heart"
    """heart comes with the package; emma, fable, fenrir and kore are downloaded."""


class TtsConfig(Section):
    """Speech synthesis."""

    engine: Literal["auto", "hibari", "espeak", "piper"] = "auto"
    """auto uses hibari, or espeak if hibari cannot be loaded; it never uses the network."""
    speed: float = Field(default=1.0, ge=0.25, le=4)
    """Speaking rate; 1 is the voice's own."""
    hibari: HibariConfig = HibariConfig()
    """hibari voices."""
    piper: PiperConfig = PiperConfig()
    """Piper voices."""
    espeak: EspeakConfig = EspeakConfig()
    """The embedded voice, espeak-ng."""


class TurnConfig(Section):
    """How turns are taken and tools are run."""

    interrupt: bool = True
    """Whether the user's speech stops the agent's."""
    idle_timeout_s: float = Field(default=15.0, ge=0)
    """If nobody speaks for this long, the agent asks whether anyone is there, and after the same
    time again it says goodbye. 0 means never, as in `python -m voice.local`."""
    tool_timeout_s: float = Field(default=5.0, gt=0)
    """Longest time that an answer waits for a tool. A read-only tool is then abandoned."""
    tool_finish_s: float = Field(default=60.0, gt=0)
    """Longest time that a tool with side effects may run. If it takes longer than `tool_timeout_s`,
    the agent reports the outcome when it is done."""
    filler_after_ms: int = Field(default=700, ge=0)
    """If a tool takes longer than this, the agent says "One moment." meanwhile; 0 means never."""
    max_tool_calls: int = Field(default=12, ge=1)
    """Most tool calls in one turn; after them the agent must answer in words."""
    max_history_messages: int = Field(default=24, ge=2)
    """Number of the dialogue's newest messages that the model sees."""


class DraftingConfig(Section):
    """Replies that are worked out while the user still speaks."""

    enabled: bool = True
    """Whether replies are drafted from the words heard so far. If not, the model is asked only when
    the turn is over."""
    remote: bool = False
    """Whether drafts are requested from a remote model too. Each is a request that you pay for."""
    min_words: int = Field(default=2, ge=1)
    """Number of words from which drafts are made while the user speaks. At a pause any number will
    do."""
    least_likely: float = Field(default=0.01, ge=0, lt=1)
    """While the user speaks, a draft is made only if the model expects, with at least this
    probability, that the message is complete. 0 does not ask the model. A client that is shown
    drafts gets them for all words."""
    tools: bool = True
    """Whether read-only tools run inside a draft."""
    speech: bool = True
    """Whether the first segment of a draft is synthesised in advance."""
    max_requests: int = Field(default=3, ge=1)
    """With this many unfinished requests to the model, over all conversations, no draft is begun.
    While the user speaks, a draft is begun only if there are none."""
    max_replying: float = Field(default=0.25, gt=0)
    """Replies being made at a time, averaged over the last seconds and over all conversations
    together, above which no draft is begun, because it would delay them for longer than it
    saves."""
    max_lag_ms: float = Field(default=40.0, gt=0)
    """Lateness of the event loop above which no draft is begun, because the machine is busy."""


class ToolsConfig(Section):
    """What the tools work with."""

    modules: tuple[str, ...] = ()
    """Python modules that add tools."""
    database: str = ""
    """SQLite file for callers' data, such as timers, lists, orders and facts. Empty means a file in
    the user's data directory; ":memory:" keeps nothing. postgresql://USER@HOST/NAME is a database
    that several servers can share."""
    keep_alerts_days: float = Field(default=30.0, gt=0, le=36_500)
    """How long a timer, alarm or reminder that is due waits for a conversation of its owner. Once
    announced, it is deleted within an hour."""
    keep_lists_days: float = Field(default=365.0, gt=0, le=36_500)
    """How long a list item is kept, and a reminder that has no time or repeats. A stranger's are
    deleted with the conversation."""
    keep_orders_days: float = Field(default=7.0, gt=0, le=36_500)
    """How long a placed order is kept, and an appointment after it is over. This applies to
    strangers too."""
    keep_flows_minutes: float = Field(default=60.0, gt=0, le=525_600)
    """How long a caller who hung up in the middle of a flow can continue it."""
    documents_dir: str = ""
    """Folder that search_documents reads: Markdown, HTML, PDF and plain text."""
    weather_url: str = "https://api.open-meteo.com/v1/forecast"
    """Open-Meteo forecast endpoint."""
    geocoding_url: str = "https://geocoding-api.open-meteo.com/v1/search"
    """Open-Meteo geocoding endpoint."""
    currency_url: str = "https://api.frankfurter.app/latest"
    """Frankfurter exchange-rate endpoint."""
    stock_url: str = "https://stooq.com/q/l/"
    """Stooq quote endpoint."""
    http_timeout_s: float = Field(default=2.0, gt=0)
    """Longest time to wait for a public service."""
    home_place: str = ""
    """Place of the weather report if the user names none."""
    home_assistant_url: str = ""
    """Base URL of a Home Assistant instance; empty means a small simulated house in memory."""
    home_assistant_token_env: str = "HOME_ASSISTANT_TOKEN"
    """Environment variable that holds Home Assistant's token."""
    result_max_chars: int = Field(default=600, ge=80)
    """Length in characters to which a tool's result is cut."""
    mcp: dict[str, McpServerConfig] = Field(default_factory=dict)
    """MCP servers whose tools the agent may call; see docs/mcp.md."""
    mcp_hosts: tuple[str, ...] = ()
    """Hosts of the MCP servers that a Realtime client may name, with the port if it is not the
    usual one. Empty allows none, because the server would otherwise send requests wherever a client
    wants."""


class MemoryConfig(Section):
    """What callers ask to be remembered; docs/memory.md."""

    keep: bool = True
    """Whether an agent with the memory tools remembers what a caller asks it to. What a stranger
    asks is kept until the conversation ends, and the stranger is told so."""
    keep_days: float = Field(default=365.0, gt=0, le=36_500)
    """How long a fact is kept after it was last said or corrected."""
    most_facts: int = Field(default=100, ge=1, le=1000)
    """Most facts that are kept for one caller. A caller who has that many must have one forgotten
    first."""


class LocalConfig(Section):
    """`python -m voice.local`."""

    input_device: str = ""
    """Name or number of the microphone; empty means the system's default."""
    output_device: str = ""
    """Name or number of the loudspeaker; empty means the system's default."""
    echo: Literal["auto", "cancel", "half_duplex", "headset"] = "auto"
    """cancel removes the loudspeaker's sound from the microphone's. half_duplex does not listen
    while the agent speaks, so the agent cannot be interrupted. headset listens as if there were no
    loudspeaker. auto means cancel if the canceller is installed, otherwise half_duplex. For some
    seconds after a dropout, cancel works like half_duplex."""


class MetricsConfig(Section):
    """What is measured and kept."""

    json_lines: str = ""
    """File to which each turn's latencies and each session's outcome are appended; empty writes
    none."""
    transcripts: bool = False
    """Whether transcripts are written to that file too."""


class TelemetryConfig(Section):
    """Traces and metrics for OpenTelemetry; docs/deployment.md says what is sent."""

    endpoint: Url = ""
    """Collector that takes OTLP over HTTP, such as http://127.0.0.1:4318. Empty uses the
    environment variable OTEL_EXPORTER_OTLP_ENDPOINT; without either nothing is sent."""
    content: bool = False
    """Whether spans also contain words, and the arguments and results of tools."""

    @property
    def collector(self) -> str:
        """Where traces and metrics go; empty for nowhere.

        Raises:
            ConfigError: The environment variable is not the address of a server.
        """
        if os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
            return ""
        variable = "OTEL_EXPORTER_OTLP_ENDPOINT"
        try:
            return self.endpoint or check_url(os.environ.get(variable, ""))
        except ValueError as error:
            raise ConfigError(f"{variable}: {error}") from error

    def describe(self) -> list[str]:
        """A line for the start of the program, if anything is sent."""
        # A user and a password may stand before the host.
        host = urlsplit(self.collector).netloc.rpartition("@")[2]
        words = "with" if self.content else "without"
        return [f"telemetry: traces and metrics to {host}, {words} words"] if self.collector else []


class RecordsConfig(Section):
    """Conversations that are kept, and the console that shows them; docs/operations.md."""

    keep_days: float = Field(default=0.0, ge=0, le=36_500)
    """How long a conversation is kept: its sound, words, tool calls and latencies. 0 records none,
    and leaves what was kept before untouched."""
    folder: str = ""
    """Folder that has a folder for each conversation; empty means one in the user's data
    directory."""


class Config(Section):
    """All options."""

    agent: str = "assistant"
    """Name of a file in configs/agents, or a path."""
    server: ServerConfig = ServerConfig()
    """The HTTP and WebSocket server."""
    vad: VadConfig = VadConfig()
    """Voice activity detection."""
    endpointing: EndpointingConfig = EndpointingConfig()
    """When a turn begins and ends."""
    asr: AsrConfig = AsrConfig()
    """Speech recognition."""
    llm: LlmConfig = LlmConfig()
    """The language model."""
    tts: TtsConfig = TtsConfig()
    """Speech synthesis."""
    turn: TurnConfig = TurnConfig()
    """How turns are taken and tools are run."""
    drafting: DraftingConfig = DraftingConfig()
    """Replies that are prepared while the user is still speaking."""
    tools: ToolsConfig = ToolsConfig()
    """Data, services and limits of the tools."""
    memory: MemoryConfig = MemoryConfig()
    """Facts that callers ask the agent to remember; see docs/memory.md."""
    local: LocalConfig = LocalConfig()
    """`python -m voice.local`."""
    metrics: MetricsConfig = MetricsConfig()
    """What is measured, and where it is written."""
    telemetry: TelemetryConfig = TelemetryConfig()
    """Traces and metrics for OpenTelemetry, off by default; see docs/deployment.md."""
    records: RecordsConfig = RecordsConfig()
    """Recordings of conversations, off by default; see docs/operations.md."""
    telephony: TelephonyConfig = TelephonyConfig()
    """Telephone lines; docs/telephony.md says how to connect each."""
    webrtc: WebRtcConfig = WebRtcConfig()
    """Calls by WebRTC; see docs/webrtc.md."""
    compare: CompareConfig = CompareConfig()
    """Variants of the agent side by side; see docs/comparing.md."""
    cluster: ClusterConfig = ClusterConfig()
    """The server's parts as processes on any number of machines; see docs/scaling.md."""


def load_config(
    path: str | Path | None = None,
    overrides: Iterable[str] = (),
    given: Mapping[str, tuple[str, object]] = MappingProxyType({}),
) -> Config:
    """Read a configuration file and apply ``section.key=value`` overrides.

    Args:
        path: A TOML file, or the bare name of one in configs/; None means configs/default.toml.
        overrides: Each ``dotted.key=value``; the value is read as TOML, or else as a string.
        given: Options that the user typed → their dotted key and value; applied last.

    Raises:
        ConfigError: A file is missing or malformed, a key is unknown, or a value is out of range.
    """
    file = find_file(path or "default", CONFIGS_DIR, "--config")
    return read_options(Config, file, overrides, given)


_BY_SESSION = ("agent", "vad", "endpointing", "asr", "llm", "tts", "turn", "drafting")
_BY_PROCESS = ("llm.threads", "turn.tool_timeout_s", "turn.tool_finish_s")


def variant_configs(config: Config) -> dict[str, Config]:
    """The options of each variant that is compared, by name; none where none are.

    Raises:
        ConfigError: An override is wrong, or of an option that cannot differ by session; there is a
            single variant, or no file for what is measured.
    """
    variants = config.compare.variants
    if len(variants) == 1:
        raise ConfigError(f"compare.variants: got {[*variants]}; expected two or more")
    if variants and not config.metrics.json_lines:
        raise ConfigError("compare.variants: what is measured needs a file: metrics.json_lines")
    found = {}
    for name, variant in variants.items():
        where = f"compare.variants.{name}.set"
        for key in map(key_of, variant.set):
            if key.split(".")[0] not in _BY_SESSION or key in _BY_PROCESS:
                some = ", ".join(_BY_SESSION)
                raise ConfigError(
                    f"{where}: {key} cannot differ by session; expected options of {some}, but not"
                    f" {', '.join(_BY_PROCESS)}"
                )
        found[name] = with_overrides(config, variant.set, where)
    return found


def load_agent(name_or_path: str) -> AgentConfig:
    """Read an agent file.

    Args:
        name_or_path: A path, or the bare name of a file in configs/agents/.

    Raises:
        ConfigError: As `load_config`, or a tool is named twice, an example of a moment fails, or
            the order of the steps is wrong.
    """
    return _read_agent(find_file(name_or_path, CONFIGS_DIR / "agents", "agent"))


def load_team(name_or_path: str, option: str = "agent") -> tuple[AgentConfig, ...]:
    """Read an agent's file, and those of the agents that it, and they, may hand over to.

    Args:
        option: The option that names it, for errors.

    Raises:
        ConfigError: As `load_agent`, or there is no file for an agent, or it has another name.
    """
    files = {"": find_file(name_or_path, CONFIGS_DIR / "agents", option)}
    team = {(front := _read_agent(files[""])).name: front}
    files = {front.name: files[""]}
    waiting = [front]
    while waiting:
        agent = waiting.pop()
        for name in agent.hand_over:
            if name not in team:
                files[name] = _file_beside(files[agent.name], name)
                team[name] = _read_agent(files[name])
                waiting.append(team[name])
            why = f"as {files[agent.name]} hands over to it"
            if team[name].name != name:
                got = f"got {team[name].name!r}; expected {name!r}"
                raise ConfigError(f"{files[name]}: name: {got}, {why}")
            if not team[name].takes_over.when:
                expected = 'expected a text such as "Hand over to a person."'
                raise ConfigError(f"{files[name]}: takes_over.when: got nothing; {expected}, {why}")
    return tuple(team.values())


def _file_beside(file: Path, name: str) -> Path:
    """The file of an agent that the agent of a file hands over to."""
    folders = CONFIGS_DIR / "agents", file.parent
    known = {one.stem: one for folder in folders for one in sorted(folder.glob("*.toml"))}
    if name not in known:
        raise ConfigError(
            f"{file}: hand_over: got {name!r}, for which there is no file;"
            f" {hint(name, known.keys() - {file.stem})}"
        )
    return known[name]


def _read_agent(file: Path) -> AgentConfig:
    agent = read_options(AgentConfig, file)
    shipped = read_options(ShippedMoments, find_file("english", CONFIGS_DIR / "moments"))
    wrong = [*agent.mistakes(), *mistakes(agent.steps, agent.hand_over, agent.kept)]
    if wrong:
        raise ConfigError("\n".join(f"{file}: {mistake}" for mistake in wrong))
    try:
        agent = agent.model_copy(update={"moments": shipped.under(agent.moments)})
        _ = agent.fixed_words, agent.takes_over.found
    except ValueError as error:
        raise ConfigError(f"{file}: {error}") from error
    return agent.of_file(file)


def data_path(name: str) -> Path:
    """Where something is kept for the user; ``XDG_DATA_HOME`` moves it."""
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(home) / "quicksilver" / name


def secret(env_name: str) -> str | None:
    """The value of an environment variable that holds a secret, or None when unset or empty.

    Without the line break that a secret's file may end in, which no header can hold.
    """
    return os.environ.get(env_name, "").strip() or None
