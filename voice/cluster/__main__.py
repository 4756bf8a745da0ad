"""``python -m voice.cluster``: the server as processes that Ray starts, here or on many machines.

Takes the arguments of `python -m voice.serve`. Where `RAY_ADDRESS` names a cluster it runs there.
"""

from __future__ import annotations

import os
import sys
from threading import Event

from voice.access.keys import check_exposure
from voice.config import Config, secret
from voice.errors import ConfigError, VoiceError
from voice.serve import listen, main, url_of

_RAY_SETTINGS = {
    # Ray would tell its makers how it is used.
    "RAY_USAGE_STATS_ENABLED": "0",
    # A busy machine needs more than five seconds to start the process that has the port.
    "RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S": "60",
}


def run(config: Config) -> None:
    """Start the cluster's parts, and serve until SIGINT or SIGTERM.

    Raises:
        VoiceError: The configuration is wrong, Ray is not installed, or a part cannot be started.
    """
    check_exposure(config.server, secret(config.server.api_key_env))
    for name, value in _RAY_SETTINGS.items():
        os.environ.setdefault(name, value)
    try:
        import ray
        from ray import serve
    except ImportError as error:
        raise ConfigError("ray is not installed: pip install 'quicksilver-voice[ray]'") from error
    from voice.cluster.deployments import application

    parts = application(config)
    with listen(config.server) as found:
        host, port = found.getsockname()[:2]
        url = url_of(found)
    try:
        ray.init(include_dashboard=False, log_to_driver=False)
    except Exception as error:  # Ray raises no narrower one
        raise VoiceError(f"Ray does not start, or cannot be reached: {error}") from error
    try:
        serve.start(http_options={"host": host, "port": port})
        serve.run(parts, name="quicksilver")
        print(f"Serving {config.agent} at {url}", flush=True)
        Event().wait()
    except (RuntimeError, ray.exceptions.RayError) as error:
        raise VoiceError(f"the parts cannot be started: {error}") from error
    finally:
        serve.shutdown()
        ray.shutdown()


if __name__ == "__main__":
    sys.exit(main(run=run))
