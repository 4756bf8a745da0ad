from __future__ import annotations

from voice.drafting import Wording
from voice.types import TurnEnded
from voice.user_turn import UserTurn


def test_its_length_is_known_once_it_is_over() -> None:
    turn = UserTurn("item1", 16_000, Wording(2))
    assert turn.seconds == 0
    turn.ended = TurnEnded(1, 40_000, 48_000)
    assert turn.seconds == 1.5


def test_a_turn_that_the_client_ends_at_once_has_no_length() -> None:
    turn = UserTurn("item1", 16_000, Wording(2), ended=TurnEnded(1, 8_000, 8_000))
    assert turn.seconds == 0
