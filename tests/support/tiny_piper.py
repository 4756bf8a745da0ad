"""Makes a Piper voice of a few kilobytes that buzzes: a real ONNX model with Piper's inputs.

Every phoneme lasts the same time and has a pitch of its own; the sign between words, the padding
and both ends are silent. As in real voices, a Ceil node gives the frames of each phoneme, so that
piper can turn it into alignments.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from piper.phoneme_ids import DEFAULT_PHONEME_ID_MAP

SAMPLE_RATE_HZ = 16_000
HOP_SAMPLES = 256
FRAMES_PER_PHONEME = 2.0
SILENT = ("_", "^", "$", " ", ",", ".", "!", "?")


def make_tiny_piper(directory: Path, name: str = "en_US-tiny-low") -> Path:
    """Write ``<name>.onnx`` and ``<name>.onnx.json`` into a directory; returns the model's path."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{name}.onnx"
    onnx.save(_model(), path)
    settings = {
        "audio": {"sample_rate": SAMPLE_RATE_HZ, "quality": "low"},
        "espeak": {"voice": "en-us"},
        "inference": {"noise_scale": 0.667, "length_scale": 1.0, "noise_w": 0.8},
        "phoneme_type": "espeak",
        "phoneme_id_map": DEFAULT_PHONEME_ID_MAP,
        "num_symbols": _symbols(),
        "num_speakers": 1,
        "speaker_id_map": {},
        "hop_length": HOP_SAMPLES,
        "piper_version": "1.0.0",
    }
    path.with_name(f"{name}.onnx.json").write_text(json.dumps(settings), encoding="utf-8")
    return path


def _symbols() -> int:
    return max(ids[0] for ids in DEFAULT_PHONEME_ID_MAP.values()) + 1


def _model() -> onnx.ModelProto:
    """input (1, N) phoneme ids, scales (3,) → output (1, 1, 1, N * samples)."""
    radians = 2 * np.pi * (120 + 5 * np.arange(_symbols())) / SAMPLE_RATE_HZ
    radians[[DEFAULT_PHONEME_ID_MAP[sign][0] for sign in SILENT]] = 0
    constants = {
        "radians": radians.astype(np.float32),
        "frames": np.float32(FRAMES_PER_PHONEME),
        "hop": np.float32(HOP_SAMPLES),
        "which_scale": np.array(1, np.int64),
        "zero": np.array(0, np.int64),
        "one": np.array(1, np.int64),
        "columns": np.array([0], np.int64),
        "rows": np.array([1], np.int64),
        "shape": np.array([1, 1, 1, -1], np.int64),
    }
    nodes = [
        helper.make_node("Gather", ["scales", "which_scale"], ["length_scale"]),
        helper.make_node("Mul", ["length_scale", "frames"], ["duration"]),
        # Durations have one entry per phoneme, as Piper's have.
        helper.make_node("Cast", ["input"], ["ids"], to=TensorProto.FLOAT),
        helper.make_node("Sub", ["ids", "ids"], ["zeros"]),
        helper.make_node("Add", ["zeros", "duration"], ["durations"]),
        helper.make_node("Ceil", ["durations"], ["w_ceil"]),
        helper.make_node("ReduceMax", ["w_ceil"], ["frames_each"], keepdims=0),
        helper.make_node("Mul", ["frames_each", "hop"], ["samples_float"]),
        helper.make_node("Cast", ["samples_float"], ["samples"], to=TensorProto.INT64),
        helper.make_node("Range", ["zero", "samples", "one"], ["steps_int"]),
        helper.make_node("Cast", ["steps_int"], ["steps"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["steps", "columns"], ["row"]),
        helper.make_node("Gather", ["radians", "input"], ["pitch"]),
        helper.make_node("Squeeze", ["pitch", "columns"], ["pitches"]),
        helper.make_node("Unsqueeze", ["pitches", "rows"], ["column"]),
        helper.make_node("Mul", ["column", "row"], ["phase"]),
        helper.make_node("Sin", ["phase"], ["waves"]),
        helper.make_node("Reshape", ["waves", "shape"], ["output"]),
    ]
    graph = helper.make_graph(
        nodes,
        "tiny_piper",
        [
            helper.make_tensor_value_info("input", TensorProto.INT64, [1, "phonemes"]),
            helper.make_tensor_value_info("input_lengths", TensorProto.INT64, [1]),
            helper.make_tensor_value_info("scales", TensorProto.FLOAT, [3]),
        ],
        [helper.make_tensor_value_info("output", TensorProto.FLOAT, [1, 1, 1, "time"])],
        [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()],
    )
    opset = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opset, ir_version=8)
