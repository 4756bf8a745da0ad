"""What a benchmark of clusters counts as its server's."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pytest

from benchmarks.voice.cluster import (
    REST,
    SHAPES,
    each_of,
    processor_s,
    replicas,
    resident_of,
)
from voice.config import load_config

BUSY = """
from time import process_time as spent
print(flush=True); input(); begun = spent()
while spent() < begun + 0.2: pass
print(flush=True); input()
"""
"""It says that it is there, is busy once it is told to be, says so, and waits for its end."""


def be_busy(started: subprocess.Popen[str]) -> Counter[str]:
    """Let such a program be busy; what its processes had taken before."""
    assert started.stdin is not None and started.stdout is not None
    started.stdout.readline()
    before = processor_s(started.pid)
    started.stdin.write("\n")
    started.stdin.flush()
    started.stdout.readline()
    return before


def test_what_a_process_has_started_counts_as_well() -> None:
    shell = f"{sys.executable} -c '{BUSY}'; :"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(["sh", "-c", shell], text=True, **pipes) as started:
        be_busy(started)
        taken = processor_s(started.pid)
        assert taken.keys() == {REST}
        assert 0.1 <= taken[REST] < 5
        assert resident_of(started.pid)[REST] > 1
        started.communicate("\n")


def test_what_a_replica_takes_is_its_parts() -> None:
    script = f"exec -a 'ray::ServeReplica:quicksilver:ears' {sys.executable} -c '{BUSY}'"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    # A shell's background process reads nothing unless it is told to.
    started_by = ["bash", "-c", f"exec 3<&0; {script} <&3 & wait"]
    with subprocess.Popen(started_by, text=True, **pipes) as started:
        before = be_busy(started)
        each = each_of(before, processor_s(started.pid), 2)
        started.communicate("\n")
    assert 0.04 <= each["ears"] < 2
    assert each["all"] == pytest.approx(each["ears"] + each.get(REST, 0.0), abs=1e-3)


def test_shapes_are_configurations() -> None:
    for shape in SHAPES.values():
        parts = load_config(None, replicas(shape)).cluster
        for part, count in shape.items():
            assert getattr(parts, part).least == getattr(parts, part).most == count
