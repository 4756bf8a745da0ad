"""A chat model as the caller's mind: it decides what the caller says next, instead of the lines.

Any server with OpenAI's chat completions API will do. How words sound and how calls are judged is
not known here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import httpx

from voice.errors import VoiceError
from voice.prove.scenario import MARK, Scenario
from voice.prove.script import Script

HANGS_UP = "HANG UP"
LONGEST_CHARS = 300
"""Most characters that a caller says at once; the rest is cut off."""
WAIT_S = 60.0
BRIEF = """\
You play a person on the telephone with a voice agent. Say what this person says next: one or two
short spoken sentences, nothing else. Never play the agent. When your goal is reached, or clearly
cannot be reached, answer {hangs_up} alone.
Who you are: {caller}
Your goal: {goal}
What you know: {facts}
Such a caller might say, if it fits: {lines}"""


@dataclass(slots=True)
class Mind:
    """A caller's side of one conversation.

    Attributes:
        url: Base URL of the server, up to and including ``/v1``.
        seed: Sent along, so that a server that supports it answers the same again.
    """

    url: str
    model: str
    api_key: str | None
    seed: int
    said: list[dict[str, str]] = field(default_factory=list)

    async def after(self, script: Script, heard: str) -> tuple[Script, str | None]:
        """What the caller says after the agent has said something; as `Script.after`.

        Raises:
            VoiceError: The model's server fails, or its answer is malformed.
        """
        self.said.append({"role": "user", "content": heard or "(silence)"})
        brief = {"role": "system", "content": _brief(script.scenario)}
        body = {"model": self.model, "messages": [brief, *self.said], "seed": self.seed}
        text = await self._asked({**body, "temperature": 0, "max_tokens": 100})
        self.said.append({"role": "assistant", "content": text})
        text = " ".join(MARK.sub(" ", text).split())[:LONGEST_CHARS]
        # Hang up only for the capitals or these words alone, not for "please don't hang up".
        if not text or HANGS_UP in text or text.strip(" .!").upper() == HANGS_UP:
            return script, None
        return script.saying(text)

    async def _asked(self, body: dict[str, Any]) -> str:
        headers = {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}
        try:
            async with httpx.AsyncClient(timeout=WAIT_S, headers=headers) as http:
                answer = await http.post(f"{self.url.rstrip('/')}/chat/completions", json=body)
            answer.raise_for_status()
            return str(answer.json()["choices"][0]["message"]["content"] or "")
        except (httpx.HTTPError, ValueError, LookupError, TypeError) as error:
            raise VoiceError(f"the caller's mind at {self.url}: {error!r}") from error


def _brief(scenario: Scenario) -> str:
    facts = "; ".join(f"{name}: {', '.join(told)}" for name, told in scenario.facts.items())
    lines = " / ".join(MARK.sub(" ", text) for line in scenario.lines for text in line.says)
    return BRIEF.format(
        hangs_up=HANGS_UP,
        caller=scenario.caller,
        goal=scenario.goal,
        facts=facts or "nothing else",
        lines=" ".join(lines.split()),
    )
