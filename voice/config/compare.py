"""Options that differ by session: two or more variants of the agent, side by side."""

from __future__ import annotations

from pydantic import Field

from voice.config.options import Section


class VariantConfig(Section):
    """One of the sides, by its name."""

    share: float = Field(default=1.0, gt=0)
    """Of the sessions, in proportion to the shares of the others."""
    set: tuple[str, ...] = ()
    """Options that this one has otherwise, each SECTION.KEY=VALUE as `--set` takes it."""


class CompareConfig(Section):
    """Variants of the agent side by side; `python -m voice.compare` says which does better."""

    variants: dict[str, VariantConfig] = Field(default_factory=dict)
    """By name, two or more; the first is what the others are compared with. Who is known by a name
    or a number keeps a variant, everybody else is given one for each session. Needs
    `metrics.json_lines`."""
