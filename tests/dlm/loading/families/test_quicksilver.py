from __future__ import annotations

from dlm.loading.families.quicksilver import QUICKSILVER
from dlm.network.rope import RopeScaling
from tests.dlm.tiny import config


def test_a_stretched_context_is_written_and_read() -> None:
    scaling = RopeScaling("yarn", factor=4.0, original=1024)
    made = config(rope_scaling=scaling, max_position_embeddings=4096)
    raw = {name: getattr(made, name) for name in made.__slots__}
    assert QUICKSILVER.read(raw | {"rope_scaling": scaling.written()}) == made
