"""Runs the engine's forwards on fused kernels."""
