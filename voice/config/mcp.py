"""Options of MCP servers whose tools the agent may call, a part of `voice.config`."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from voice.config.options import Section


class McpServerConfig(Section):
    """An MCP server; NAME is yours to choose (docs/mcp.md)."""

    command: str = ""
    """Program that runs the server over its standard input and output; set either this or `url`."""
    args: tuple[str, ...] = ()
    """Arguments of the program."""
    env: tuple[str, ...] = ()
    """Names of environment variables that the program gets besides PATH, HOME and the like."""
    url: str = ""
    """Address of a server over streamable HTTP; set either this or `command`."""
    headers_env: dict[str, str] = Field(default_factory=dict)
    """HTTP headers → names of the environment variables that hold their values."""
    agents: tuple[str, ...] = ()
    """Names of the agents that have its tools; empty means all."""
    allow: tuple[str, ...] = ()
    """Names of the tools that are offered, with * and ? as in file names; empty means all."""
    deny: tuple[str, ...] = ()
    """Names of tools that are not offered, even if `allow` has them."""
    read_only: tuple[str, ...] = ()
    """Names of tools that change nothing, so that a draft may call them while the user speaks."""
    trust_annotations: bool = False
    """Whether tools that the server itself declares read-only count as read-only too."""
    start_timeout_s: float = Field(default=10.0, gt=0)
    """Longest time for each attempt to connect; the start waits for the first attempt. A server
    that always needs longer is never connected."""
    timeout_s: float = Field(default=30.0, gt=0)
    """Longest time for a call. An answer waits for it no longer than `turn.tool_timeout_s`."""
    max_calls: int = Field(default=4, ge=1)
    """Calls that run at once; further calls wait."""

    @model_validator(mode="after")
    def _check_address(self) -> Self:
        if bool(self.command) == bool(self.url):
            got = "both" if self.command else "neither"
            raise ValueError(f"got {got}; expected either command or url")
        if self.url and not self.url.startswith(("http://", "https://")):
            raise ValueError(f"url: got {self.url!r}; expected http:// or https://")
        return self
