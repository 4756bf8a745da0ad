"""The loaded models and tools that all conversations share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from voice.callers import Caller
from voice.config import (
    AgentConfig,
    AsrConfig,
    Config,
    LlmConfig,
    TtsConfig,
    load_team,
    variant_configs,
)
from voice.dialogue.team import Team
from voice.flow.checks import team_specs
from voice.hearing.asr import MakesRecognizer, Recognizer, Recognizers, make_recognizer
from voice.hearing.asr.domain import ANYTHING, Domain
from voice.hearing.vad import Vad, make_vad
from voice.inputs import SessionOptions
from voice.llm.base import Prompt, ReplyModel
from voice.llm.loading import load_model
from voice.session.capacity import capacity
from voice.session.load_monitor import RECOGNITION_THREADS, LoadMonitor
from voice.session.variants import Assigned, Variants, resident_mib
from voice.speech.tts import Synthesizer, Voices, installed_voices, make_synthesizer
from voice.tools import SessionScope, Toolbox
from voice.types import Message, Position, Role, ToolSpec

# These threads compute rather than wait, so more of them than cores would not help.
SYNTHESIS_THREADS = 2


@dataclass(frozen=True, slots=True)
class Loaders:
    """Functions that load the parts that compute.

    They load them in this process, or make stand-ins for those elsewhere (`voice.cluster`).

    Attributes:
        model: As `voice.llm.loading.load_model`.
        recogniser: As `voice.hearing.asr.make_recognizer`.
        synthesizer: As `voice.speech.tts.make_synthesizer`.
        voices: As `voice.speech.tts.installed_voices`.
        recognition_threads: Number of threads that run the recogniser or wait for a remote one.
        synthesis_threads: The same for voices.
    """

    model: Callable[[LlmConfig], tuple[ReplyModel, str]] = load_model
    recogniser: MakesRecognizer = make_recognizer
    synthesizer: Callable[[TtsConfig], tuple[Synthesizer, str]] = make_synthesizer
    voices: Callable[[TtsConfig, Synthesizer], Voices] = installed_voices
    recognition_threads: int = RECOGNITION_THREADS
    synthesis_threads: int = SYNTHESIS_THREADS


IN_PROCESS = Loaders()


@dataclass(slots=True)
class Resources:
    """Everything slow to load, loaded once and shared by all sessions.

    Attributes:
        lines: A line for each part that tells what was chosen and why.
        load_monitor: How busy the machine is.
        recognizers: The recognisers loaded for all agents.
        voices: Voices that a session may ask for instead of `synthesizer`.
        domain: What users of the agent are likely to say.
        variants: Variants that sessions get instead of these, if some are compared.
        conversations: How many conversations the machine holds at once.
        others: The team's other agents, which may take over the conversation.
    """

    config: Config
    agent: AgentConfig
    recognizer: Recognizer
    model: ReplyModel
    synthesizer: Synthesizer
    toolbox: Toolbox
    lines: list[str]
    recognition_threads: ThreadPoolExecutor
    synthesis_threads: ThreadPoolExecutor
    load_monitor: LoadMonitor = field(default_factory=LoadMonitor)
    recognizers: Recognizers = field(default_factory=Recognizers)
    voices: Voices = field(default_factory=Voices)
    domain: Domain = ANYTHING
    variants: Variants[Resources] | None = None
    conversations: int = 1
    others: tuple[AgentConfig, ...] = ()

    @classmethod
    def load(cls, config: Config, loaders: Loaders = IN_PROCESS) -> Resources:
        """Load what the configuration names; slow.

        Raises:
            ConfigError: An option or the agent's file is wrong, or the model cannot call a tool.
            ModelError: A model cannot be loaded.
        """
        compared = variant_configs(config)
        agent, *others = load_team(config.agent)
        toolbox = Toolbox(config.tools, config.turn, memory=config.memory)
        team = Team((agent, *others))
        domain = _domain(team, toolbox)
        recognizers = Recognizers(loaders.recogniser)
        with ThreadPoolExecutor(3, thread_name_prefix="load") as pool:
            # In parallel, because each may wait seconds for a hub that does not answer.
            hearing = pool.submit(_ears, recognizers, config.asr, agent, domain)
            speaking = pool.submit(loaders.synthesizer, config.tts)
            detector = pool.submit(make_vad, config.vad)
            model, model_line = loaders.model(config.llm)
            mcp_lines = toolbox.connect(lambda tools: model.check_tools(tools, "tool"))
            warm_up(model, toolbox, team)
            recognizer, ear_line = hearing.result()
            synthesizer, voice_line = speaking.result()
            detector.result()
        held, capacity_line = capacity(recognizer, config.server.max_sessions)
        loaded = cls(
            config=config,
            agent=agent,
            recognizer=recognizer,
            model=model,
            synthesizer=synthesizer,
            toolbox=toolbox,
            lines=[f"recogniser: {ear_line}", model_line, voice_line, capacity_line, *mcp_lines],
            recognition_threads=ThreadPoolExecutor(
                loaders.recognition_threads, thread_name_prefix="recognition"
            ),
            synthesis_threads=ThreadPoolExecutor(
                loaders.synthesis_threads, thread_name_prefix="synthesis"
            ),
            recognizers=recognizers,
            voices=loaders.voices(config.tts, synthesizer),
            domain=domain,
            conversations=held,
            others=tuple(others),
        )
        loaded._load_voices()
        return loaded.comparing(compared) if compared else loaded

    def assign(self, caller: Caller | None) -> Assigned[Resources]:
        """The resources for a caller's session: these, or a variant's if some are compared."""
        return self.variants.assign(caller) if self.variants else Assigned(self)

    def comparing(self, configs: Mapping[str, Config]) -> Resources:
        """These resources with variants for sessions.

        Args:
            configs: From `voice.config.variant_configs`.

        Raises:
            ConfigError: As `variant`.
            ModelError: As `variant`.
        """
        found, lines = {}, []
        shares = {n: one.compare.variants[n].share for n, one in configs.items()}
        for name, config in configs.items():
            before = resident_mib()
            found[name] = self.variant(config)
            cost = found[name]._cost_beside(self, resident_mib() - before)
            share = shares[name] / sum(shares.values())
            changed = ", ".join(config.compare.variants[name].set) or "nothing changed"
            lines.append(f"variant {name}, {share:.0%} of sessions: {changed}; {cost}")
            lines += found[name].lines
        return replace(self, variants=Variants(found, shares), lines=[*self.lines, *lines])

    def variant(self, config: Config) -> Resources:
        """Resources for another configuration, sharing what it does not change.

        Slow if a model has to be loaded.

        Raises:
            ConfigError: As `load`.
            ModelError: As `load`.
        """
        own = self.config
        agent, others = self.agent, self.others
        if config.agent != own.agent:
            agent, *after = load_team(config.agent)
            others = tuple(after)
        model, voices, synthesizer = self.model, self.voices, self.synthesizer
        if _weights(config) != _weights(own):
            model, _ = load_model(config.llm)
        if _voice(config) != _voice(own):
            synthesizer, _ = make_synthesizer(config.tts)
            voices = installed_voices(config.tts, synthesizer)
        recognizer, domain, _ = self._hearing(model, config.asr, Team((agent, *others)))
        found = replace(
            self,
            config=config,
            agent=agent,
            others=others,
            model=model,
            recognizer=recognizer,
            synthesizer=synthesizer,
            voices=voices,
            domain=domain,
            lines=[],
        )
        found._load_voices()
        return found

    def _hearing(
        self, model: ReplyModel, config: AsrConfig, team: Team
    ) -> tuple[Recognizer, Domain, str]:
        """Warm the model up for a team; return its recogniser, domain and the recogniser's line."""
        warm_up(model, self.toolbox, team)
        domain = _domain(team, self.toolbox)
        recognizer, line = _ears(self.recognizers, config, team.front, domain)
        return recognizer, domain, line

    def _cost_beside(self, other: Resources, mib: float) -> str:
        """What these resources do not share with others, and the memory ``mib`` that it took."""
        parts = {
            "language model": self.model is other.model,
            "recogniser": self.recognizer is other.recognizer,
            "voice": self.synthesizer is other.synthesizer,
        }
        more = [name for name, shared in parts.items() if not shared]
        return f"{' and '.join(more)} of its own, {mib:.0f} MiB" if more else "no other weights"

    def describe(self) -> list[str]:
        """A line for each part: which is used and why."""
        return list(self.lines)

    def voice(self, name: str) -> Synthesizer:
        """The voice of a name, or else the server's own; slow if it has to be loaded.

        Raises:
            ModelError: The voice cannot be loaded.
        """
        return self.voices.of(name) or self.synthesizer

    def vad(self) -> Vad:
        """A new detector, for one session."""
        return make_vad(self.config.vad)

    def telephone_vad(self) -> Vad:
        """A new detector for audio of telephone bandwidth."""
        config = self.config.vad
        return make_vad(config.model_copy(update={"engine": config.telephone}))

    def options(self) -> SessionOptions:
        """A session's initial options, from the configuration and the agent."""
        config = self.config
        return SessionOptions(
            instructions=self.agent.instructions,
            moments=self.agent.fixed_words,
            calls=self.agent.calls,
            answers=self.agent.answers,
            voice=self.agent.voice,
            agent_tools=tuple(spec.name for spec in self.toolbox.specs_for(self.agent)),
            interrupt_response=config.turn.interrupt,
            vad_threshold=config.vad.threshold,
            profile=config.endpointing.profile,
            pre_roll_ms=config.endpointing.pre_roll_ms,
            speed=config.tts.speed,
            max_reply_tokens=config.llm.max_reply_tokens,
            effort=config.llm.reasoning_effort,
            idle_timeout_s=config.turn.idle_timeout_s,
        )

    @property
    def team(self) -> Team:
        """The agent, and those that may take over from it."""
        return Team((self.agent, *self.others))

    def team_specs(self, scope: SessionScope) -> dict[str, ToolSpec]:
        """Declarations, by name, of all tools of the team for a conversation."""
        return team_specs(self.team, self.toolbox, scope)

    def _load_voices(self) -> None:
        """Load the agents' voices now, because a hand-over needs one in the middle of a reply."""
        for voice in {agent.voice for agent in (self.agent, *self.others)} - {""}:
            if self.voices.of(voice) is None:
                has = ", ".join(self.voices.names)
                self.lines.append(f"voice {voice}: not on this machine, which has {has}")

    @property
    def draft_words(self) -> int:
        """Fewest words for which a draft is made; 0 turns drafts off."""
        drafting = self.config.drafting
        wanted = drafting.enabled and (drafting.remote or self.config.llm.engine != "remote")
        return drafting.min_words if wanted else 0

    def for_agent(self, name_or_path: str, option: str = "agent") -> Resources:
        """The same models and tools for another agent; slow if a recogniser has to be loaded.

        Args:
            option: The option that names it, for errors.

        Raises:
            ConfigError: The agent's file is wrong, or the model cannot call one of its tools.
            ModelError: The recogniser cannot be loaded, or the agent's instructions and tools
                leave no room for a dialogue.
        """
        agent, *others = load_team(name_or_path, option)
        team = Team((agent, *others))
        recognizer, domain, line = self._hearing(self.model, self.config.asr, team)
        lines = [f"recogniser of {agent.name}: {line}"]
        variants = self.variants
        if variants is not None:
            them = {name: one.for_agent(name_or_path) for name, one in variants.resources.items()}
            variants = Variants(them, variants.shares)
        found = replace(
            self,
            agent=agent,
            others=tuple(others),
            recognizer=recognizer,
            lines=lines,
            domain=domain,
            variants=variants,
        )
        found._load_voices()
        return found

    async def close(self) -> None:
        """Release everything; sessions must have ended."""
        compared = self.variants.resources.values() if self.variants else ()
        for model in {id(one.model): one.model for one in (self, *compared)}.values():
            await model.close()
        await self.toolbox.close()
        self.recognition_threads.shutdown(wait=False, cancel_futures=True)
        self.synthesis_threads.shutdown(wait=False, cancel_futures=True)


def _weights(config: Config) -> dict[str, object]:
    """The options for which another language model would have to be loaded."""
    return config.llm.model_dump(exclude={"reasoning_effort", "max_reply_tokens", "tool_replies"})


def _voice(config: Config) -> dict[str, object]:
    """The options for which another voice would have to be loaded."""
    return config.tts.model_dump(exclude={"speed"})


def _ears(
    recognizers: Recognizers, config: AsrConfig, agent: AgentConfig, domain: Domain
) -> tuple[Recognizer, str]:
    """An agent's recogniser, ready for its domain, and a line that tells which it is and why."""
    recognizer, line = recognizers.of(config, agent)
    recognizer.open(0, domain)
    return recognizer, line


def _domain(team: Team, toolbox: Toolbox) -> Domain:
    """What users are likely to say to a team's agents."""
    named = {
        "phrases": tuple(dict.fromkeys(one for agent in team.agents for one in agent.phrases)),
        "values": {slot: said for agent in team.agents for slot, said in agent.values.items()},
    }
    return Domain.of(team.front.model_copy(update=named)).including(
        tuple(team_specs(team, toolbox).values())
    )


def warm_up(model: ReplyModel, toolbox: Toolbox, team: Team) -> None:
    """Warm the model up with the prompt of each agent in each of its steps.

    Also checks that their tools can be called.
    """
    specs = team_specs(team, toolbox)
    for agent in team.agents:
        for step in agent.steps or ("",):
            here = Position(agent.name, step)
            offered = team.offered(here, specs, exact=bool(team.step(here).needs))
            told = team.instructions(here)
            messages = (Message(Role.SYSTEM, told), Message(Role.USER, "hello"))
            tools = tuple(specs[name] for name in offered)
            model.warm_up(Prompt(messages, tools, max_tokens=1))
