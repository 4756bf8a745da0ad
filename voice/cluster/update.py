"""``python -m voice.cluster.update``: another configuration, or new code, for a running cluster.

Takes the arguments of `python -m voice.cluster`, and finds Ray on this machine or at `RAY_ADDRESS`.
New calls go to the new version once it has started; the command ends with the old one's last call.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

from voice.cluster.connection import connected
from voice.config import Config
from voice.config.cluster import ClusterConfig
from voice.errors import VoiceError
from voice.serve import main


def update(config: Config) -> None:
    """Replace what a cluster runs, and wait for the calls that were under way.

    Raises:
        VoiceError: The configuration is wrong, no cluster is found, or a part cannot be started;
            what ran before then goes on.
    """
    with connected(config, "auto") as address:
        import ray

        from voice.cluster.deployments import deploy, runs

        if not runs():
            raise VoiceError(
                f"no cluster runs at {address}: start one with python -m voice.cluster"
            )
        _check_room(config.cluster, ray.available_resources())
        print(f"Starting {config.agent}; waiting for the last call of before", flush=True)
        deploy(config)


def _check_room(config: ClusterConfig, free: Mapping[str, float]) -> None:
    """Refuse an update that would wait for room for as long as the old version runs."""
    parts = (config.ingress, config.engine, config.ears, config.voice)
    for kind, needed in (
        ("CPU", sum(part.least * part.cpus for part in parts)),
        ("GPU", sum(part.least * part.gpus for part in parts)),
    ):
        if needed > (has := free.get(kind, 0.0)):
            raise VoiceError(
                f"cluster: beside what runs there has to be room for {needed:g} {kind}; got {has:g}"
            )


if __name__ == "__main__":
    sys.exit(main(run=update, program="voice.cluster.update", description=__doc__ or ""))
