from __future__ import annotations

from voice.tools.scope import Drink, Progress, SessionScope, local_now


def test_the_wall_clock_knows_its_zone() -> None:
    assert local_now().utcoffset() is not None


def test_ending_and_transferring_are_requests() -> None:
    scope = SessionScope("s")
    assert (scope.end_requested, scope.transfer_to) == (False, None)
    scope.request_end()
    scope.request_end()
    scope.request_transfer("the manager")
    assert (scope.end_requested, scope.transfer_to) == (True, "the manager")


def test_conversations_do_not_share_an_order() -> None:
    one, other = SessionScope("one"), SessionScope("other")
    one.order[Drink("latte")] = 1
    assert other.order == {}
    assert Drink("latte") in one.order


def test_progress_is_told_to_whoever_listens() -> None:
    told: list[str] = []
    Progress(told.append).report("Half of it is done.")
    Progress().report("Nobody hears this.")
    assert told == ["Half of it is done."]
