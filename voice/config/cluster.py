"""The parts of a cluster, and how many there are of each."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from voice.config.options import Section


class ReplicasConfig(Section):
    """One kind of part."""

    least: int = Field(default=1, ge=1)
    """How many there are at least."""
    most: int = Field(default=1, ge=1)
    """How many there are at most, as there is more to do."""
    ongoing: float = Field(default=4.0, gt=0)
    """Calls, answers, decodes or sentences at a time on each, on average, from which on there are
    more."""
    cpus: float = Field(default=0.25, ge=0)
    """Cores that Ray sets aside for each; it starts no more than a machine has."""
    gpus: float = Field(default=0.0, ge=0)
    """GPUs for each; a fraction shares one."""

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.least > self.most:
            raise ValueError(f"got most {self.most}; expected at least `least` ({self.least})")
        return self


class ClusterConfig(Section):
    """`python -m voice.cluster`: the server's parts as processes on any number of machines."""

    ingress: ReplicasConfig = ReplicasConfig()
    """What has the conversations: sockets, turns and tools. `server.max_sessions` is of each."""
    engine: ReplicasConfig = ReplicasConfig()
    """What has the language model."""
    ears: ReplicasConfig = ReplicasConfig(ongoing=1.0)
    """What has the recogniser."""
    voice: ReplicasConfig = ReplicasConfig(ongoing=1.0)
    """What has the voices."""
    drain_s: float = Field(default=600.0, gt=0)
    """How long calls may go on where a replica is replaced or no longer needed."""
