"""The engine's forwards on fused kernels."""
