"""Packs training data and trains the agent's own small diffusion model."""
