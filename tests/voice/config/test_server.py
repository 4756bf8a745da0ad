import re

import pytest

from voice.config import load_config
from voice.config.server import ServerConfig
from voice.errors import ConfigError


def test_the_defaults_are_for_a_machine_of_ones_own() -> None:
    config = load_config().server
    assert config == ServerConfig()
    assert config.host == "127.0.0.1"
    assert (config.allowed_origins, config.allowed_hosts, config.trusted_proxies) == ((), (), ())


def test_one_address_cannot_take_all_connections() -> None:
    config = ServerConfig()
    assert config.max_sessions < config.max_connections_per_address < config.max_connections


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ('trusted_proxies=["::1", "proxy"]', "got 'proxy'; expected an address or a network"),
        ('allowed_origins=["http://[oops"]', "got 'http://[oops'; expected an origin: Invalid"),
    ],
)
def test_what_cannot_be_read_is_refused(override: str, told: str) -> None:
    option = override.partition("=")[0]
    with pytest.raises(ConfigError, match=re.escape(f"server.{option}: {told}")):
        load_config(overrides=[f"server.{override}"])
