"""Ray: started for the time of a block, or one that runs already."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from voice.access.keys import check_exposure
from voice.config import Config, secret
from voice.errors import ConfigError, VoiceError

_SETTINGS = {
    # Ray would tell its makers how it is used.
    "RAY_USAGE_STATS_ENABLED": "0",
    # A busy machine needs more than five seconds to start the process that has the port.
    "RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S": "60",
}


@contextmanager
def connected(config: Config, address: str | None = None) -> Iterator[str]:
    """Have Ray for the parts of a configuration; gives its address.

    Args:
        config: What is to be deployed.
        address: Where Ray is, "auto" for wherever it runs; None starts it. The environment variable
            `RAY_ADDRESS` comes first.

    Raises:
        VoiceError: The configuration is wrong, Ray is not installed or not there, or what is done
            in the block fails by Ray's fault.
    """
    check_exposure(config.server, secret(config.server.api_key_env))
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError as error:
        raise ConfigError("ray is not installed: pip install 'quicksilver-voice[ray]'") from error
    from voice.cluster.deployments import check

    check(config)
    try:
        found = ray.init(address, include_dashboard=False, log_to_driver=False)
    except Exception as error:  # Ray raises no narrower one
        raise VoiceError(f"Ray does not start, or cannot be reached: {error}") from error
    try:
        yield os.environ.get("RAY_ADDRESS") or found.address_info["gcs_address"]
    except (RuntimeError, TimeoutError, ray.exceptions.RayError) as error:
        raise VoiceError(f"the parts cannot be started: {error}") from error
    finally:
        ray.shutdown()
