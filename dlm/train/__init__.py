"""Making training data and training the agent's own small diffusion model."""
