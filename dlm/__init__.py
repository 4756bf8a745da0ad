"""Diffusion language models: architectures, decoding, serving and training."""

import os

# onnxruntime reads this when it is imported.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
