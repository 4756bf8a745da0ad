"""The agent's tools, and `say` and `listen`, as an MCP server. Transports are not handled here.

Calls are those of the local user: lists and timers are those of `python -m voice.local`. Tools that
end a conversation are left out, since there is none, and so are those that always ask the user
before they run.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import cached_property, partial
from typing import Any

import mcp_types as types
import numpy as np
from mcp.server import Server, ServerRequestContext

from voice.callers import LOCAL
from voice.config import AgentConfig, Config
from voice.errors import VoiceError
from voice.hearing.asr import Recognizer, make_recognizer
from voice.hearing.passages import passages
from voice.hearing.vad import make_vad
from voice.mcp.sound import Sound, utterance
from voice.speech.normalization import spoken
from voice.speech.tts import Synthesizer, make_synthesizer
from voice.tools import SessionScope, Toolbox
from voice.types import Segment, ToolCall, ToolSpec

LONGEST_TEXT = 2000
"""Most characters said at once."""
LONGEST_LISTEN_S = 60

_SAY = ToolSpec(
    "say",
    "Say a text aloud to the user, and return when it was heard.",
    {
        "type": "object",
        "properties": {"text": {"type": "string", "maxLength": LONGEST_TEXT}},
        "required": ["text"],
    },
)
_LISTEN = ToolSpec(
    "listen",
    "Listen to the user until they have said something, and return their words.",
    {
        "type": "object",
        "properties": {"seconds": {"type": "number", "minimum": 1, "maximum": LONGEST_LISTEN_S}},
    },
)


class AgentServer:
    """Answers MCP requests.

    Args:
        config: Configures voice, recogniser and detector, which are loaded when first needed.
        agent: The agent whose tools are offered.
        toolbox: Runs the tools.
        sound: The devices or files for `say` and `listen`.
    """

    def __init__(self, config: Config, agent: AgentConfig, toolbox: Toolbox, sound: Sound) -> None:
        self._config = config
        self._agent = agent
        self._toolbox = toolbox
        self._sound = sound
        self._scope = SessionScope("mcp", agent.name, LOCAL, agent.shop)
        self._numbers = itertools.count(1)
        # One thread, because the microphone would hear the loudspeaker. A request that its client
        # cancels keeps the thread until it is done.
        self._sounding = ThreadPoolExecutor(1, thread_name_prefix="sound")
        names = (name for name in agent.tools if name not in ("say", "listen"))
        offered = [spec for spec in toolbox.specs(names, self._scope) if not _converses(spec)]
        self._specs = {spec.name: spec for spec in (*offered, _SAY, _LISTEN)}

    def server(self) -> Server[Any]:
        """The server, for one of the SDK's transports."""
        return Server(
            "quicksilver",
            instructions="Tools of a voice assistant. say speaks to its user, listen hears them.",
            on_list_tools=self._list,
            on_call_tool=self._call,
        )

    async def _list(
        self, context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        tools = [
            types.Tool(
                name=spec.name,
                description=spec.description,
                input_schema=spec.parameters,
                annotations=types.ToolAnnotations(read_only_hint=spec.read_only),
            )
            for spec in self._specs.values()
        ]
        return types.ListToolsResult(tools=tools)

    async def _call(
        self, context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        arguments = params.arguments or {}
        try:
            match params.name:
                case "say":
                    words = await self._blocking(partial(self._say, arguments.get("text")))
                case "listen":
                    seconds = arguments.get("seconds", 10)
                    words = await self._blocking(partial(self._listen, seconds))
                case name if name in self._specs:
                    return await self._run(name, arguments)
                case name:
                    return _result(f"There is no tool {name[:64]}.", failed=True)
        except (VoiceError, ValueError) as error:
            return _result(str(error), failed=True)
        return _result(words)

    async def _run(self, name: str, arguments: dict[str, Any]) -> types.CallToolResult:
        call = ToolCall(f"call_{next(self._numbers)}", name, arguments)
        result = await self._toolbox.run(call, self._scope)
        if result.unfinished:
            # Nobody needs an interim answer here.
            result = await self._toolbox.outcome(call, self._scope)
        return _result(result.content, result.error)

    async def _blocking(self, work: Callable[[], str]) -> str:
        return await asyncio.get_running_loop().run_in_executor(self._sounding, work)

    def _say(self, text: object) -> str:
        if not isinstance(text, str) or not 0 < len(text) <= LONGEST_TEXT:
            raise ValueError(f"text: expected 1 to {LONGEST_TEXT} characters")
        voice = self._voice
        chunks = list(voice.synthesize(Segment(0, 0, text, spoken(text))))
        samples = np.concatenate([chunk.samples for chunk in chunks])
        if not len(samples):
            raise ValueError("text: there is nothing to speak")
        self._sound.play(samples, voice.sample_rate_hz)
        return "Said."

    def _listen(self, seconds: object) -> str:
        known = isinstance(seconds, int | float) and not isinstance(seconds, bool)
        if not known or not 1 <= float(str(seconds)) <= LONGEST_LISTEN_S:
            raise ValueError(f"seconds: expected a number from 1 to {LONGEST_LISTEN_S}")
        recognizer, config = self._recognizer, self._config.vad
        # Closed at once: the microphone is not to be open while the recogniser works.
        with closing(self._sound.blocks()) as blocks:
            heard = utterance(blocks, make_vad(config), config.threshold, float(str(seconds)))
        found = passages(heard, make_vad(config), recognizer.transcribe, config.threshold)
        return " ".join(passage.text for passage in found) or "Nothing was said."

    @cached_property
    def _voice(self) -> Synthesizer:
        return make_synthesizer(self._config.tts)[0]

    @cached_property
    def _recognizer(self) -> Recognizer:
        return make_recognizer(self._config.asr, self._agent)[0]


def _converses(spec: ToolSpec) -> bool:
    return spec.ends or (spec.confirmation is not None and spec.confirmation.always)


def _result(text: str, failed: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=failed)
