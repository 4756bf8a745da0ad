import base64
import re
import time
from collections.abc import Callable

import pytest

from voice.access.keys import (
    MAX_EPHEMERAL_KEYS,
    AccessPolicy,
    EphemeralKeys,
    MakesKeys,
    chosen_subprotocol,
)
from voice.access.origins import AccessDenied
from voice.access.rate_limits import (
    AUDIO_BYTES_PER_S,
    ClientLimits,
    ReplyLimits,
    SessionSlots,
    TokenBucket,
)
from voice.callers import LOCAL, OPERATOR, Caller, CallerKind
from voice.cluster.sealed_keys import SealedKeys
from voice.config import ServerConfig
from voice.errors import ConfigError

KEY = "the-key-of-this-server"
OPEN = AccessPolicy(ServerConfig(), None)
KEYED = AccessPolicy(ServerConfig(host="0.0.0.0"), KEY)


def headers(host: str = "127.0.0.1:7860", **more: str) -> dict[str, str]:
    return {"host": host, **more}


def bearer(key: str) -> str:
    return f"Bearer {key}"


def code_of(policy: AccessPolicy, sent: dict[str, str], subprotocols: tuple[str, ...] = ()) -> str:
    with pytest.raises(AccessDenied) as raised:
        policy.check(sent, subprotocols)
    assert raised.value.status == (401 if "api_key" in raised.value.code else 403)
    return raised.value.code


def test_an_open_server_takes_programs_of_this_machine() -> None:
    assert OPEN.check(headers()).main_key
    assert OPEN.check(headers(authorization=bearer("anything"))).main_key
    assert code_of(OPEN, headers(authorization=bearer("ek_unknown"))) == "invalid_api_key"


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "::", "voice.example.com"])
def test_a_server_without_a_key_stays_on_loopback(host: str) -> None:
    with pytest.raises(ConfigError, match="QUICKSILVER_API_KEY"):
        AccessPolicy(ServerConfig(host=host), None)


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://127.0.0.1:7860", "127.0.0.1:7860"),
        ("http://localhost:7860", "localhost:7860"),
        ("http://LOCALHOST", "localhost"),
        ("https://localhost", "localhost:443"),
        ("http://[::1]:7860", "[::1]:7860"),
        ("https://app.example.com:443", "127.0.0.1:7860"),
        ("https://app.example.com", "app.example.com"),
    ],
)
def test_the_own_page_and_allowed_ones_may_come_in(origin: str, host: str) -> None:
    policy = AccessPolicy(ServerConfig(allowed_origins=("https://App.example.com",)), None)
    assert policy.check(headers(host, origin=origin)).main_key
    assert code_of(policy, headers(origin="http://app.example.com")) == "origin_not_allowed"


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "http://localhost:3000",
        "null",
        "",
        "garbage",
        "http://127.0.0.1:7861",
    ],
)
def test_another_sites_page_may_not(origin: str) -> None:
    assert code_of(OPEN, headers(origin=origin)) == "origin_not_allowed"
    # Not even with the key: a page that is not allowed has no business with one.
    sent = headers(origin=origin, authorization=bearer(KEY))
    assert code_of(KEYED, sent) == "origin_not_allowed"


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:7860", "", "localhost.evil.example", "[::1", "a b"]
)
def test_a_rebound_name_is_refused(host: str) -> None:
    for policy in (OPEN, KEYED):
        sent = headers(host, origin=f"http://{host}", authorization=bearer(KEY))
        assert code_of(policy, sent) == "host_not_allowed"


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "127.8.8.8:1", "[::1]:7860", "192.168.1.5:80", "voice.lan"]
)
def test_addresses_and_allowed_names_are_hosts(host: str) -> None:
    AccessPolicy(ServerConfig(allowed_hosts=("Voice.lan",)), None).origins.check_host(headers(host))


@pytest.mark.parametrize("offered", ["", "wrong", KEY + "x", KEY[:-1], "ek_wrong", "schlüssel"])
def test_a_wrong_key_is_refused(offered: str) -> None:
    expected = "invalid_api_key" if offered else "missing_api_key"
    assert code_of(KEYED, headers(authorization=bearer(offered))) == expected


def test_the_key_comes_as_bearer_or_subprotocol() -> None:
    assert KEYED.check(headers(authorization=f"bearer {KEY}")).main_key
    assert KEYED.check(headers(), ("realtime", f"openai-insecure-api-key.{KEY}")).main_key
    assert code_of(KEYED, headers(), ("realtime", KEY)) == "missing_api_key"
    assert code_of(KEYED, headers(authorization=f"Basic {KEY}")) == "missing_api_key"


def test_no_message_tells_a_key() -> None:
    with pytest.raises(AccessDenied) as raised:
        KEYED.check(headers(authorization=bearer("wrong-secret")))
    assert "wrong-secret" not in str(raised.value)
    assert KEY not in repr(vars(KEYED))


def shared_keys(clock: Callable[[], float] = time.time) -> SealedKeys:
    return SealedKeys(KEY, clock)


@pytest.mark.parametrize("keys", [EphemeralKeys, shared_keys])
def test_an_ephemeral_key_is_good_until_it_expires(
    keys: Callable[[Callable[[], float]], MakesKeys],
) -> None:
    now = [1000.0]
    policy = AccessPolicy(ServerConfig(), KEY, keys(lambda: now[0]))
    made = policy.ephemeral.mint(60, {"instructions": "Hi."})
    assert re.fullmatch("[A-Za-z0-9_-]+", made.value)
    assert made.value.startswith("ek_")
    assert made.expires_at == 1060
    assert made.value not in repr(vars(policy.ephemeral))
    for _ in range(2):
        grant = policy.check(headers(authorization=bearer(made.value)))
        assert (grant.main_key, grant.session) == (False, {"instructions": "Hi."})
    now[0] = 1060.0
    assert code_of(policy, headers(authorization=bearer(made.value))) == "invalid_api_key"


@pytest.mark.parametrize(
    ("peer", "sent", "caller"),
    [
        ("127.0.0.1", {}, LOCAL),
        ("::ffff:127.0.0.1", {"host": "localhost:7860", "origin": "http://localhost:7860"}, LOCAL),
        ("192.168.1.9", {}, None),
        ("", {}, None),
        ("127.0.0.1", {"host": "voice.lan"}, None),
        ("127.0.0.1", {"x-forwarded-for": "192.168.1.9"}, None),
        ("127.0.0.1", {"forwarded": "for=192.168.1.9"}, None),
        ("127.0.0.1", {"origin": "https://voice.lan"}, None),
    ],
)
def test_without_a_key_only_what_comes_from_this_machine_is_its_users(
    peer: str, sent: dict[str, str], caller: Caller | None
) -> None:
    config = ServerConfig(allowed_hosts=("voice.lan",), allowed_origins=("https://voice.lan",))
    grant = AccessPolicy(config, None).check({**headers(), **sent}, peer=peer)
    assert (grant.main_key, grant.caller) == (True, caller)


@pytest.mark.parametrize("keys", [EphemeralKeys, shared_keys])
def test_a_key_tells_whose_it_is(keys: Callable[[], MakesKeys]) -> None:
    policy = AccessPolicy(ServerConfig(), KEY, keys())
    by_key = {KEY: OPERATOR}
    for user in ("ada", "bob"):
        by_key[policy.ephemeral.mint(60, {}, user).value] = Caller(CallerKind.USER, user)
    for key, caller in by_key.items():
        sent = headers(authorization=bearer(key))
        assert policy.check(sent, peer="127.0.0.1").caller == caller
    nobodys = policy.ephemeral.mint(60, {}).value
    assert policy.check(headers(authorization=bearer(nobodys)), peer="127.0.0.1").caller is None
    for name in ("x" * 257, "a\nb", "\ud800"):
        with pytest.raises(ValueError, match="name of a caller"):
            policy.ephemeral.mint(60, {}, name)


def test_a_shared_key_is_good_at_every_server_and_tells_nothing() -> None:
    made = shared_keys().mint(60, {"instructions": "Hush."}, "ada")
    granted = shared_keys().grant_of(made.value)
    assert granted is not None
    assert (granted.session, granted.caller) == (
        {"instructions": "Hush."},
        Caller(CallerKind.USER, "ada"),
    )
    assert b"Hush" not in base64.urlsafe_b64decode(made.value.removeprefix("ek_") + "==")
    assert SealedKeys("another").grant_of(made.value) is None
    other = "B" if made.value[-9] == "A" else "A"
    for forged in ("ek_", "ek_x", f"{made.value[:-9]}{other}{made.value[-8:]}", "ek_\u00e9"):
        assert shared_keys().grant_of(forged) is None
    with pytest.raises(ValueError, match="expected at most 16384"):
        shared_keys().mint(60, {"instructions": "x" * 20_000})


def test_ephemeral_keys_are_bounded() -> None:
    keys = EphemeralKeys(clock=lambda: 0.0)
    soon = keys.mint(10, {})
    later = keys.mint(100, {})
    for _ in range(MAX_EPHEMERAL_KEYS - 1):
        keys.mint(50, {})
    assert keys.grant_of(soon.value) is None
    assert keys.grant_of(later.value) is not None


async def test_slots_are_given_back() -> None:
    slots = SessionSlots(2, per_key=1)
    async with slots.slot() as first, slots.slot() as second:
        assert (first, second, slots.taken) == (None, None, 2)
        async with slots.slot() as third:
            assert third is not None and third.code == "capacity"
        assert slots.taken == 2
    with pytest.raises(KeyError):
        async with slots.slot():
            raise KeyError
    assert slots.taken == 0


async def test_who_has_an_ephemeral_key_does_not_take_all_slots() -> None:
    slots = SessionSlots(4, per_key=1)
    async with slots.slot("ada"), slots.slot("ada") as again, slots.slot("bob") as other:
        assert again is not None and (again.status, again.code) == (429, "too_many_of_key")
        assert (other, slots.taken) == (None, 2)
    async with slots.slot("ada") as later:
        assert later is None


def test_the_subprotocol_with_the_key_is_never_selected() -> None:
    assert chosen_subprotocol(["openai-insecure-api-key.x", "realtime", "other"]) == "realtime"
    assert chosen_subprotocol(["openai-insecure-api-key.x"]) is None


def test_a_key_has_one_allowance_however_many_other_keys_there_are() -> None:
    allowances = ReplyLimits(60.0, lambda: 0.0)
    held, spent = allowances.of("held"), allowances.of("spent")
    assert spent.take()
    del spent
    for number in range(2 * MAX_EPHEMERAL_KEYS):
        allowances.of(f"key{number}")
    assert allowances.of("held") is held
    assert allowances.of("spent").left == 59.0
    assert len(allowances._buckets) <= MAX_EPHEMERAL_KEYS


def test_basic_shows_a_key_as_its_password() -> None:
    token = base64.b64encode(f"anyone:{KEY}".encode()).decode()
    assert KEYED.check(headers(authorization=f"Basic {token}")).main_key
    for bad in ("", "!!", base64.b64encode(b"\xff").decode(), base64.b64encode(b"no").decode()):
        assert code_of(KEYED, headers(authorization=f"Basic {bad}")) == "missing_api_key"


def test_a_meter_allows_a_burst_and_then_its_rate() -> None:
    now = [0.0]
    meter = TokenBucket(2, 4, clock=lambda: now[0])
    assert [meter.take() for _ in range(5)] == [True] * 4 + [False]
    now[0] = 0.5
    assert [meter.take(), meter.take()] == [True, False]
    now[0] = 100.0
    assert [meter.take(4), meter.take(0.1)] == [True, False]


def test_a_client_may_send_a_minute_of_audio_at_once_and_then_in_time() -> None:
    now = [0.0]
    minute = 60 * AUDIO_BYTES_PER_S
    config = ServerConfig(max_audio_speed=2, max_messages_per_s=1000, max_message_bytes=minute)
    intake = ClientLimits(config, clock=lambda: now[0])
    assert intake.excess(minute) is None
    assert intake.excess(1) == "audio comes faster than it can be spoken"
    for _ in range(10):
        now[0] += 1
        assert intake.excess(2 * AUDIO_BYTES_PER_S) is None


def test_a_client_may_send_so_many_messages() -> None:
    intake = ClientLimits(ServerConfig(max_messages_per_s=1), clock=lambda: 0.0)
    assert [intake.excess(1) for _ in range(11)] == [None] * 10 + ["too many messages"]
