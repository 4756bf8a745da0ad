"""The shipped family: Qwen3's shape, positions committed causally, drafts verified."""

from __future__ import annotations

from dlm.config import MODEL_TYPE, ModelConfig
from dlm.families.family import QWEN, Family

QUICKSILVER = Family(MODEL_TYPE, (), ModelConfig.read, QWEN)
