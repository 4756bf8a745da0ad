"""The language model that the configuration names."""

from __future__ import annotations

from voice.config import LlmConfig
from voice.llm.base import ReplyModel


def load_model(config: LlmConfig) -> tuple[ReplyModel, str]:
    """Load the model that the configuration names; slow.

    Returns:
        The model, and a line that tells which one it is and which option chose it.

    Raises:
        ConfigError: A remote model's key is missing, or the device cannot be used.
        ModelError: The checkpoint is missing or malformed.
    """
    if config.engine == "remote":
        from voice.llm.openai_client import RemoteModel

        remote = RemoteModel(config)
        return remote, f"language model: {remote.name} (llm.engine = remote)"
    from voice.llm.embedded import load_embedded

    return load_embedded(config)
