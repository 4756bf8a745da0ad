from voice.config import load_config
from voice.config_telephony import TelephonyConfig


def test_no_door_is_open_by_default() -> None:
    config = load_config().telephony
    assert config == TelephonyConfig()
    assert config.doors == ()
    assert config.audiosocket_port == 0


def test_secrets_are_named_and_not_held() -> None:
    names = [name for name in TelephonyConfig.model_fields if "token" in name or "key" in name]
    assert names
    assert all(name.endswith("_env") for name in names)
