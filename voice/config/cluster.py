"""The parts of a cluster, and how many there are of each."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from voice.config.options import Section


class ReplicasConfig(Section):
    """One kind of part."""

    least: int = Field(default=1, ge=1)
    """Fewest replicas."""
    most: int = Field(default=1, ge=1)
    """Most replicas, when there is more to do."""
    ongoing: float = Field(default=4.0, gt=0)
    """Average number of calls or answers at a time on each replica above which replicas are
    added."""
    cpus: float = Field(default=0.25, ge=0)
    """Cores that Ray reserves for each replica. It starts no more replicas than its machines have
    cores for."""
    gpus: float = Field(default=0.0, ge=0)
    """GPUs reserved for each replica; with a fraction, replicas share one."""

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.least > self.most:
            raise ValueError(f"got most {self.most}; expected at least `least` ({self.least})")
        return self


class SoundReplicasConfig(ReplicasConfig):
    """A kind of part that works on one piece of sound at a time."""

    ongoing: float = Field(default=1.0, gt=0)
    """Average number of decodes or sentences at a time on each replica above which replicas are
    added."""


class ClusterConfig(Section):
    """`python -m voice.cluster`: the server's parts as processes on any number of machines."""

    ingress: ReplicasConfig = ReplicasConfig()
    """The conversations: sockets, turns and tools. `server.max_sessions` applies to each
    replica."""
    engine: ReplicasConfig = ReplicasConfig()
    """The language model."""
    ears: SoundReplicasConfig = SoundReplicasConfig()
    """The recogniser."""
    voice: SoundReplicasConfig = SoundReplicasConfig()
    """The voices."""
    drain_s: float = Field(default=600.0, gt=0)
    """How long calls may continue on a replica that is replaced or no longer needed."""
