"""A voice agent whose mind is a diffusion language model."""

import os

# onnxruntime reads it when it is imported, and several libraries import it.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
