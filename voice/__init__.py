"""A voice agent whose mind is a diffusion language model."""
