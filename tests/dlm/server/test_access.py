import pytest

from dlm.server.access import KeyGate, keys_of
from dlm.server.errors import ApiError
from dlm.server.request_checks import is_loopback

LOCAL = {"host": "localhost:8000"}


def refused(gate: KeyGate, **headers: str) -> tuple[int, str | None]:
    with pytest.raises(ApiError) as raised:
        gate.check({**LOCAL, **headers})
    return raised.value.status, raised.value.code


def test_without_keys_this_machine_may_come_in() -> None:
    KeyGate([]).check(LOCAL)
    KeyGate([]).check({**LOCAL, "origin": "http://localhost:8000"})


def test_each_of_the_keys_opens() -> None:
    gate = KeyGate(["one", "two"])
    for key in ("one", "two"):
        gate.check({**LOCAL, "authorization": f"Bearer {key}"})
        gate.check({**LOCAL, "authorization": f"bearer  {key} "})


@pytest.mark.parametrize(
    ("authorization", "code"),
    [
        ("", "missing_api_key"),
        ("Bearer", "missing_api_key"),
        ("Bearer ", "missing_api_key"),
        ("Basic one", "missing_api_key"),
        ("Bearer three", "invalid_api_key"),
        ("Bearer on", "invalid_api_key"),
        ("Bearer one two", "invalid_api_key"),
        ("Bearer ÿ", "invalid_api_key"),
    ],
)
def test_other_keys_do_not(authorization: str, code: str) -> None:
    assert refused(KeyGate(["one", "two"]), authorization=authorization) == (401, code)


@pytest.mark.parametrize("host", ["evil.example", "", "[::1", "localhost.evil.example:8000"])
def test_a_name_that_others_gave_this_machine_is_refused(host: str) -> None:
    assert refused(KeyGate([]), host=host) == (403, "host_not_allowed")


def test_hosts_that_are_allowed() -> None:
    for host in ("127.0.0.1:1", "[::1]:1", "192.168.0.7", "box.lan:80", "BOX.lan"):
        KeyGate(["k"], allowed_hosts=["box.lan"]).check({"host": host, "authorization": "Bearer k"})


@pytest.mark.parametrize(
    "origin",
    [
        *("http://evil.example", "null", "http://[", "https://other.lan"),
        *("http://localhost:3000", "http://localhost", "ftp://localhost:8000"),
    ],
)
def test_a_page_of_another_site_is_refused(origin: str) -> None:
    assert refused(KeyGate([]), origin=origin) == (403, "origin_not_allowed")


def test_others_may_not_reach_it_without_a_key() -> None:
    with pytest.raises(ValueError, match="QUICKSILVER_API_KEY"):
        KeyGate([], "0.0.0.0")
    KeyGate(["k"], "0.0.0.0")


def test_keys_come_from_the_environment() -> None:
    assert keys_of({}) == []
    assert keys_of({"QUICKSILVER_API_KEY": "a", "QUICKSILVER_API_KEYS": " b, c ,"}) == [
        "a",
        "b",
        "c",
    ]


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        *(("localhost", True), ("127.3.2.1", True), ("::1", True), ("::ffff:127.0.0.1", True)),
        *(("0.0.0.0", False), ("::ffff:10.0.0.1", False), ("x", False)),
    ],
)
def test_loopback(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected
