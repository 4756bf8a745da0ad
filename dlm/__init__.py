"""Diffusion language models: architectures, decoding, serving and training."""

import os
from pathlib import Path

# onnxruntime reads this when it is imported.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

SHIPPED = Path(__file__).parent / "checkpoints" / "quicksilver-small"
"""Directory of the checkpoint that comes with the project."""
