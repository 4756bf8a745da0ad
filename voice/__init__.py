"""A voice agent whose mind is a diffusion language model."""

import os

# onnxruntime reads this when it is imported, and several libraries import onnxruntime.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
