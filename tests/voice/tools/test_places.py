from __future__ import annotations

import pytest

from voice.tools.places import zone_of


@pytest.mark.parametrize(
    ("place", "zone"),
    [
        ("tokyo", "Asia/Tokyo"),
        ("Tokyo", "Asia/Tokyo"),
        ("new york", "America/New_York"),
        ("boston", "America/New_York"),
        ("san francisco", "America/Los_Angeles"),
        ("washington d c", "America/New_York"),
        ("Washington D.C.", "America/New_York"),
        ("munich", "Europe/Berlin"),
        ("mumbai", "Asia/Kolkata"),
        ("france", "Europe/Paris"),
        ("japan", "Asia/Tokyo"),
        ("the united kingdom", "Europe/London"),
        ("the philippines", "Asia/Manila"),
    ],
)
def test_places(place: str, zone: str) -> None:
    found = zone_of(place)
    assert found is not None
    assert found.key == zone


@pytest.mark.parametrize("place", ["", "springfield", "the moon", "utc"])
def test_unknown_places(place: str) -> None:
    assert zone_of(place) is None
