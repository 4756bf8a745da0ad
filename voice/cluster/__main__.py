"""``python -m voice.cluster``: the server as processes that Ray starts, here or on many machines.

Takes the arguments of `python -m voice.serve`. If `RAY_ADDRESS` names a cluster, it runs there.
"""

from __future__ import annotations

import sys
from threading import Event

from voice.cluster.connection import connected
from voice.config import Config
from voice.serve import listen, main, url_of


def run(config: Config) -> None:
    """Start the cluster, and serve until SIGINT or SIGTERM.

    Raises:
        VoiceError: The configuration is wrong, Ray is not installed, or a part cannot be started.
    """
    with listen(config.server) as found:
        host, port = found.getsockname()[:2]
        url = url_of(found)
    with connected(config) as address:
        from ray import serve

        from voice.cluster.deployments import deploy

        try:
            serve.start(http_options={"host": host, "port": port})
            deploy(config)
            print(f"Ray is at {address}")
            print(f"Serving {config.agent} at {url}", flush=True)
            Event().wait()
        finally:
            serve.shutdown()


if __name__ == "__main__":
    sys.exit(main(run=run, program="voice.cluster", description=__doc__ or ""))
