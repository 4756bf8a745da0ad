"""Diffusion language models: architectures, decoding, serving and training."""
