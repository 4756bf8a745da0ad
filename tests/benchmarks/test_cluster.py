"""What a benchmark of clusters counts as its server's."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.voice.cluster import SHAPES, processor_s, replicas
from voice.config import load_config

BUSY = "import time; print(flush=True)\nwhile time.process_time() < 0.2: pass\nprint(); input()"


def test_what_a_process_has_started_counts_as_well() -> None:
    shell = f"{sys.executable} -c '{BUSY}'; :"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(["sh", "-c", shell], text=True, **pipes) as started:
        assert started.stdout is not None
        for _ in range(2):
            started.stdout.readline()
        assert 0.1 <= processor_s(started.pid) < 5
        started.communicate("\n")


def test_shapes_are_configurations() -> None:
    for shape in SHAPES.values():
        parts = load_config(None, replicas(shape)).cluster
        for part, count in shape.items():
            assert getattr(parts, part).least == getattr(parts, part).most == count
