"""The shipped family: Qwen3's shape, causally committed positions, verified drafts."""

from __future__ import annotations

from dlm.loading.families.family import QWEN, Family
from dlm.network.config import MODEL_TYPE, ModelConfig

QUICKSILVER = Family(MODEL_TYPE, (), ModelConfig.read, QWEN)
