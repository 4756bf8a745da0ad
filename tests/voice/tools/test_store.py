from __future__ import annotations

import threading
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Executable, Row

from voice.callers import LOCAL, Caller, CallerKind, Owner
from voice.errors import ConfigError
from voice.tools.database import Database
from voice.tools.scope import Inverses, SessionScope
from voice.tools.store import AlertKind, Store

ASSISTANTS = Owner("assistant", LOCAL)
ANNA = Caller(CallerKind.USER, "anna")


def conversation(session_id: str) -> SessionScope:
    """A conversation of theirs."""
    return SessionScope(session_id, ASSISTANTS.agent, ASSISTANTS.caller)


@contextmanager
def opened(file: str, owner: Owner = ASSISTANTS) -> Generator[Store, None, None]:
    with closing(Database(file)) as database:
        yield Store(database, owner)


def test_everything_survives_a_restart(place: str) -> None:
    with opened(place) as store:
        timer = store.add_alert(AlertKind.TIMER, "pasta", 100.0, "first", length_s=60.0)
        store.add_alert(AlertKind.REMINDER, "buy milk", None, "first")
        store.add_item("shopping", "milk")
        store.place_order("Anna", "1 latte", placed=50.0)
    with opened(place) as store:
        assert store.alerts(AlertKind.TIMER) == [timer]
        assert [alert.label for alert in store.alerts()] == ["pasta", "buy milk"]
        assert store.items("shopping") == ["milk"]
        assert store.orders() == [(50.0, "Anna", "1 latte")]


def test_alerts_come_soonest_first_and_those_without_a_moment_last(place: str) -> None:
    with opened(place) as store:
        for label, due in (("later", 30.0), ("some day", None), ("soon", 10.0)):
            store.add_alert(AlertKind.REMINDER, label, due, "s")
        assert [alert.label for alert in store.alerts()] == ["soon", "later", "some day"]
        assert [alert.label for alert in store.alerts(due_by=10.0)] == ["soon"]
        assert store.next_due(0.0) == 10.0
        assert store.next_due(10.0) == 30.0
        assert store.next_due(30.0) is None


def test_an_alert_is_one_takers_until_it_is_told_or_put_back_or_long_not_heard_of(
    place: str,
) -> None:
    with opened(place) as store:
        alert = store.add_alert(AlertKind.ALARM, "", 10.0, "s")
        assert store.take_alert(alert, now=10.0, until=40.0)
        assert not store.take_alert(alert, now=39.0, until=69.0)
        assert store.take_alert(alert, now=40.0, until=70.0)
        store.put_back_alert(alert)
        assert store.take_alert(alert, now=41.0, until=71.0)
        assert store.alerts() == [alert]
        store.tell_alert(alert)
        assert store.alerts() == []
        assert store.next_due(0.0) is None
        assert not store.remove_alert(alert.id)
        assert not store.take_alert(alert, now=99.0, until=100.0)
        gone = store.add_alert(AlertKind.ALARM, "", 10.0, "s")
        assert store.remove_alert(gone.id)
        assert not store.take_alert(gone, now=10.0, until=40.0)


def test_a_repeating_alert_is_taken_once_each_time(place: str) -> None:
    with opened(place) as store:
        alert = store.add_alert(AlertKind.ALARM, "", 10.0, "s", repeat="FREQ=DAILY")
        assert store.take_alert(alert, now=10.0, until=40.0)
        store.tell_alert(alert, next_due=20.0)
        assert not store.take_alert(alert, now=10.0, until=40.0)
        (again,) = store.alerts()
        assert again == replace(alert, due=20.0)
        assert store.take_alert(again, now=20.0, until=50.0)


def test_a_changed_alert_keeps_its_id(place: str) -> None:
    with opened(place) as store:
        alert = store.add_alert(AlertKind.ALARM, "", 10.0, "s")
        assert store.change_alert(replace(alert, due=20.0, repeat="FREQ=DAILY"))
        assert store.alerts() == [replace(alert, due=20.0, repeat="FREQ=DAILY")]
        assert not store.take_alert(alert, now=10.0, until=40.0)
        assert store.remove_alert(alert.id)
        assert not store.change_alert(alert)


def test_what_did_not_change_is_not_to_be_taken_back(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(Database(place)) as database:
        inverses = Inverses()
        store, other = Store(database, ASSISTANTS, inverses), Store(database, ASSISTANTS)
        first, second = (other.add_alert(AlertKind.ALARM, "", due, "s") for due in (10.0, 11.0))
        read = database.read

        def meanwhile(statement: Executable) -> Sequence[Row[*tuple[Any, ...]]]:
            rows = read(statement)
            other.tell_alert(first)
            return rows

        monkeypatch.setattr(database, "read", meanwhile)
        assert not store.change_alert(replace(first, due=20.0))
        assert not store.remove_alert(first.id)
        assert store.clear_items("nothing") == []
        assert inverses == []
        assert store.change_alert(replace(second, due=20.0))
        assert store.remove_alert(second.id)
        changed, removed = inverses
        removed()
        assert other.alerts() == [replace(second, due=20.0)]
        changed()
        assert other.alerts() == [second]


def test_taken_times_are_everybodys_of_the_agent(place: str) -> None:
    with closing(Database(place)) as database:
        agents = [Owner("clinic", LOCAL), Owner("clinic", ANNA), Owner("nurse", LOCAL)]
        mine, hers, elsewhere = (Store(database, owner) for owner in agents)
        for store, due in ((mine, 10.0), (hers, 20.0), (hers, 30.5), (elsewhere, 15.0)):
            assert store.book(due, "", "")
        assert mine.taken_between(10.0, 30.0) == {10.0, 20.0}
        assert mine.taken_between(10.5, 30.5) == {20.0, 30.5}


@pytest.mark.parametrize("made_before", [True, False])
def test_the_file_is_its_users_alone(tmp_path: Path, made_before: bool) -> None:
    file = tmp_path / "voice.sqlite3"
    if made_before:
        file.touch(0o644)
    with opened(str(file)) as store:
        store.add_item("shopping", "milk")
        rights = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert rights == dict.fromkeys(
        ("voice.sqlite3", "voice.sqlite3-wal", "voice.sqlite3-shm"), 0o600
    )


def test_items_keep_their_order_and_lists_are_apart(place: str) -> None:
    with opened(place) as store:
        for item in ("milk", "eggs", "milk"):
            store.add_item("shopping", item)
        store.add_item("work", "report")
        assert store.remove_item("shopping", "milk")
        assert not store.remove_item("work", "milk")
        assert store.items("shopping") == ["eggs", "milk"]
        assert store.items("nothing") == []
        assert store.move_item("shopping", "eggs", "work")
        assert not store.move_item("shopping", "eggs", "work")
        assert store.items("work") == ["report", "eggs"]
        assert sorted(store.lists()) == ["shopping", "work"]
        assert store.clear_items("work") == ["report", "eggs"]
        assert store.clear_items("work") == []
        assert store.lists() == ["shopping"]


def test_threads_share_a_store_and_take_each_alert_once(place: str) -> None:
    with opened(place) as store:
        alerts = [store.add_alert(AlertKind.TIMER, "", float(n), "s") for n in range(20)]
        taken: list[int] = []

        def take_all(name: str) -> None:
            for alert in alerts:
                if store.take_alert(alert, now=0.0, until=30.0):
                    taken.append(alert.id)
                store.add_item("shopping", name)

        threads = [threading.Thread(target=take_all, args=(f"t{n}",)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(taken) == [alert.id for alert in alerts]
        assert len(store.items("shopping")) == 80


def test_the_data_directory_is_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    Database().close()
    assert (tmp_path / "quicksilver" / "voice.sqlite3").is_file()


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("not a database, but long enough to be looked at as one\n" * 40)
    with pytest.raises(ConfigError, match=r"tools\.database.*notes\.txt"):
        Database(str(file))
    with pytest.raises(ConfigError, match=r"tools\.database"):
        Database(str(tmp_path))


def test_a_flow_is_one_conversations_until_it_is_left_or_not_held(place: str) -> None:
    with opened(place) as store:
        store.save_flow("here", 100.0, "one", until=130.0)
        assert store.take_flow("two", 110.0, 140.0, after=0.0) == ""
        store.save_flow("there", 110.0, "two", until=140.0)
        store.hold_flow("one", until=0.0)
        assert store.take_flow("three", 111.0, 141.0, after=100.0) == ""
        assert store.take_flow("three", 111.0, 141.0, after=0.0) == "here"
        assert store.take_flow("four", 139.0, 169.0, after=0.0) == ""
        assert store.take_flow("four", 140.0, 170.0, after=0.0) == "there"
        store.save_flow("", 150.0, "four", until=180.0)
        assert store.take_flow("five", 200.0, 230.0, after=0.0) == "here"
