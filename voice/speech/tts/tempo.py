"""Speaking faster or slower: a voice's audio stretched in time at the same pitch.

The voices' own settings are too coarse: hibari counts phonemes in frames of 25 ms, at least one
each, and espeak-ng has bounds. So every voice speaks at its own pace, and FFmpeg's filter `atempo`
does the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from voice.types import Samples

if TYPE_CHECKING:
    from av.filter import Graph

_STEP_MS = 20


def stretched(pieces: Iterable[Samples], sample_rate_hz: int, speed: float) -> Iterator[Samples]:
    """A voice's audio at another speaking rate, piece by piece; silence may follow it.

    Args:
        pieces: (T,) int16 each.
        sample_rate_hz: Rate of the audio, which stays the same.
        speed: 0.25 to 4; 1 leaves the audio as it is.
    """
    if speed == 1:
        yield from pieces
        return
    import av

    # Beyond these bounds, one filter would fail or leave sound out.
    stages = 1 if 0.5 <= speed <= 2 else 2
    tempo = speed ** (1 / stages)
    graph = _filters(sample_rate_hz, [tempo] * stages)
    # Each filter drops half a window at either end; its windows are a power of two.
    half = (1 << (sample_rate_hz // 24 - 1).bit_length()) // 2
    margin = np.zeros(round(half * sum(tempo**stage for stage in range(stages))), np.int16)
    # A filter holds back about as much as it gets at a time.
    step = sample_rate_hz * _STEP_MS // 1000
    for piece in chain([margin], pieces, [margin]):
        for start in range(0, len(piece), step):
            part = piece[start : start + step].reshape(1, -1)
            frame = av.AudioFrame.from_ndarray(part, format="s16", layout="mono")
            frame.sample_rate = sample_rate_hz
            graph.push(frame)
        yield _ready(graph)
    graph.push(None)
    yield _ready(graph)


def _filters(sample_rate_hz: int, tempi: Iterable[float]) -> Graph:
    from av.filter import Graph

    graph = Graph()
    # Its threads would take longer to start than the filters work.
    graph.threads = 1
    source = graph.add_abuffer(sample_rate=sample_rate_hz, format="s16", layout="mono")
    filters = [graph.add("atempo", str(tempo)) for tempo in tempi]
    graph.link_nodes(source, *filters, graph.add("abuffersink")).configure()
    return graph


def _ready(graph: Graph) -> Samples:
    import av

    ready = [np.empty(0, np.int16)]
    while True:
        try:
            ready.append(graph.pull().to_ndarray()[0])
        except (BlockingIOError, av.EOFError):
            return np.concatenate(ready)
