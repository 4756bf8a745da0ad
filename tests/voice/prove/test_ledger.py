"""The fault ledger: a few faults of each kind on virtual time, and what it says of planted ones."""

import pytest

from tests.support.virtual_door import virtual_site
from tests.support.virtual_time import run
from voice.prove import ledger
from voice.prove.ledger import MOMENTS, Entry, Fault, Kind, Site, faults, put, table


async def every(wanted: list[Fault], site: Site) -> list[Entry]:
    return [entry for fault in wanted for entry in await put(fault, site)]


@pytest.mark.parametrize("ours", [True, False])
def test_what_is_asked_for_is_done_once_whatever_goes_wrong(ours: bool) -> None:
    kinds = [kind for kind in Kind if ours or kind is not Kind.RESTART]
    entries = run(every(faults(kinds, 2 * len(kinds)), virtual_site(1, ours)))
    assert [entry for entry in entries if entry.outcome != "as it should be"] == []
    assert table(entries)["reconnect"]["turns"] == 4


def test_a_call_that_waits_for_the_client_is_not_handed_to_it_again() -> None:
    # The response is asked for again between the call and its output.
    wanted = [Fault(Kind.RETRY, at_ms) for at_ms in (560, 760)]
    for entry in run(every(wanted, virtual_site(1, False))):
        assert (entry.called, entry.done) == (1, 1)


@pytest.mark.parametrize("ours", [True, False])
def test_a_response_that_is_asked_for_just_before_a_turn_ends_takes_nothing_from_it(
    ours: bool,
) -> None:
    [entry] = run(every([Fault(Kind.RETRY, 400)], virtual_site(1, ours)))
    assert (entry.called > 0, entry.done) == (True, 1)


def test_a_server_that_does_things_twice_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voice.tools.execution.Runs.once", lambda runs, key, work: work())
    wanted = [Fault(Kind.INTERRUPTION, at_ms) for at_ms in range(600, 1400, 200)]
    outcomes = {entry.outcome for entry in run(every(wanted, virtual_site(1, True)))}
    assert "doubled" in outcomes


def test_a_server_that_drops_what_it_began_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(fault: Fault, line: object, site: Site) -> None:
        return None

    async def dropped(*_: object) -> str:
        return "It is not done."

    monkeypatch.setattr(ledger, "_meet", never)
    monkeypatch.setattr("tests.support.virtual_door.trouble", lambda fault: dropped)
    [entry] = run(every([Fault(Kind.RETRY, 0)], virtual_site(1, True)))
    assert (entry.outcome, bool(entry.called)) == ("lost", True)


def test_many_faults_meet_every_moment_of_a_turn() -> None:
    kinds = list(Kind)
    wanted = faults(kinds, len(kinds) * MOMENTS)
    for kind in kinds:
        moments = sorted(fault.at_ms for fault in wanted if fault.kind is kind)
        assert moments == [*range(-400, 4000, 40)]
    few = [fault.at_ms for fault in faults([Kind.RETRY], 10)]
    assert max(few) - min(few) > 3000
