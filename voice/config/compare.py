"""Options that differ by session: two or more variants of the agent, side by side."""

from __future__ import annotations

from pydantic import Field

from voice.config.options import Section


class VariantConfig(Section):
    """One variant, by its name."""

    share: float = Field(default=1.0, gt=0)
    """Share of the sessions, relative to the shares of the other variants."""
    set: tuple[str, ...] = ()
    """Options that differ in this variant, each SECTION.KEY=VALUE as for `--set`."""


class CompareConfig(Section):
    """Variants of the agent side by side; `python -m voice.compare` says which does better."""

    variants: dict[str, VariantConfig] = Field(default_factory=dict)
    """Two or more variants, by name; the others are compared with the first. Callers known by a
    name or a number keep their variant; for all others one is drawn for each session. Needs
    `metrics.json_lines`."""
