"""Options of MCP servers whose tools the agent may call, a part of `voice.config`."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from voice.config.options import Section


class McpServerConfig(Section):
    """A server that speaks the Model Context Protocol; NAME is yours to choose (docs/mcp.md)."""

    command: str = ""
    """Program that is the server, over its standard input and output; or else `url`."""
    args: tuple[str, ...] = ()
    """Its arguments."""
    env: tuple[str, ...] = ()
    """Names of environment variables that it gets besides PATH, HOME and the like."""
    url: str = ""
    """Address of a server that is reached over streamable HTTP; or else `command`."""
    headers_env: dict[str, str] = Field(default_factory=dict)
    """HTTP headers → names of the environment variables that hold their values."""
    agents: tuple[str, ...] = ()
    """Names of the agents that have its tools; empty is all."""
    allow: tuple[str, ...] = ()
    """Names of the tools that are offered, * and ? as in file names; empty is all."""
    deny: tuple[str, ...] = ()
    """Names of tools that are not offered, though allowed."""
    read_only: tuple[str, ...] = ()
    """Names of tools that change nothing, so that a draft may call them while the user speaks."""
    trust_annotations: bool = False
    """Whether a tool counts as read-only as well where the server says so."""
    start_timeout_s: float = Field(default=10.0, gt=0)
    """Longest that each attempt to connect it may take; the start waits for the first one. A server
    that always needs longer is never connected."""
    timeout_s: float = Field(default=30.0, gt=0)
    """Longest that a call may take; an answer waits for it no longer than `turn.tool_timeout_s`."""
    max_calls: int = Field(default=4, ge=1)
    """Calls that run at once; further ones wait for their turn."""

    @model_validator(mode="after")
    def _check_address(self) -> Self:
        if bool(self.command) == bool(self.url):
            got = "both" if self.command else "neither"
            raise ValueError(f"got {got}; expected either command or url")
        if self.url and not self.url.startswith(("http://", "https://")):
            raise ValueError(f"url: got {self.url!r}; expected http:// or https://")
        return self
