"""A connection to Ray, which is started for the length of a block unless it already runs."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from voice.access.keys import check_exposure
from voice.config import Config, secret
from voice.errors import ConfigError, VoiceError, to_install

_SETTINGS = {
    # Ray would otherwise report its usage to its makers.
    "RAY_USAGE_STATS_ENABLED": "0",
    # Ray's own processes would otherwise give way to any other program of the machine, by 15.
    "RAY_worker_niceness": "0",
    # On a busy machine the process that opens the port needs more than five seconds to start.
    "RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S": "60",
}


@contextmanager
def connected(config: Config, address: str | None = None) -> Iterator[str]:
    """Connect to Ray for a configuration's parts, starting it if need be; yields its address.

    Args:
        config: The configuration to deploy.
        address: Where Ray runs, or "auto" to find it; None starts it. The environment variable
            `RAY_ADDRESS` takes precedence.

    Raises:
        VoiceError: The configuration is wrong, Ray is not installed or not reachable, or something
            in the block fails because of Ray.
    """
    check_exposure(config.server, secret(config.server.api_key_env))
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError as error:
        raise ConfigError(f"ray is not installed: {to_install('ray')}") from error
    from voice.cluster.deployments import check

    check(config)
    ends = signal.getsignal(signal.SIGTERM)
    try:
        found = ray.init(address, include_dashboard=False, log_to_driver=False)
    except Exception as error:  # Ray raises no narrower one
        raise VoiceError(f"Ray does not start, or cannot be reached: {error}") from error
    # Ray has its own, by which a program ends as if it had failed.
    signal.signal(signal.SIGTERM, ends)
    try:
        yield os.environ.get("RAY_ADDRESS") or found.address_info["gcs_address"]
    except (RuntimeError, TimeoutError, ray.exceptions.RayError) as error:
        raise VoiceError(f"the parts cannot be started: {error}") from error
    finally:
        ray.shutdown()
