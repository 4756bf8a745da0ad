import re

import pytest

from voice.config import load_config
from voice.config.telephony import TelephonyConfig
from voice.errors import ConfigError


def test_no_door_is_open_by_default() -> None:
    config = load_config().telephony
    assert config == TelephonyConfig()
    assert config.doors == ()
    assert config.audiosocket_port == 0


def test_secrets_are_named_and_not_held() -> None:
    names = [name for name in TelephonyConfig.model_fields if "token" in name or "key" in name]
    assert names
    assert all(name.endswith("_env") for name in names)


@pytest.mark.parametrize("url", ["https://voice.example.com", "https://a.example:8443/", ""])
def test_an_origin_is_taken(url: str) -> None:
    assert load_config(overrides=[f"telephony.public_url={url}"]).telephony.public_url == url


@pytest.mark.parametrize("url", ["http://[oops", "https://a.example:99999", "a.example", "https:"])
def test_what_is_no_origin_is_refused(url: str) -> None:
    message = f"--set: telephony.public_url: got {url!r}; expected an origin such as https://"
    with pytest.raises(ConfigError, match="^" + re.escape(message)):
        load_config(overrides=[f"telephony.public_url={url}"])


def test_peers_are_addresses_and_networks() -> None:
    peers = ("192.0.2.1", "10.0.0.0/8", "::1")
    assert TelephonyConfig(audiosocket_peers=peers).audiosocket_peers == peers
    message = "telephony.audiosocket_peers: got 'foo'; expected an address or a network"
    with pytest.raises(ConfigError, match=message):
        load_config(overrides=['telephony.audiosocket_peers=["::1", "foo"]'])
