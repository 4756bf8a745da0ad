"""A tiny byte-level tokenizer with Qwen's special tokens and a ChatML template, as files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

TOOL_SPEECH = (
    "{%- if tools %}<|im_start|>system\n"
    "{%- if messages[0].role == 'system' %}{{ messages[0].content + '\n' }}{%- endif %}"
    "Tools:{%- for tool in tools %}\n{{ tool | tojson }}{%- endfor %}<|im_end|>{{ '\n' }}"
    "{%- elif messages[0].role == 'system' %}"
    "<|im_start|>system\n{{ messages[0].content }}<|im_end|>{{ '\n' }}{%- endif %}"
)
MESSAGES = (
    "{%- for message in messages %}"
    "{%- if message.role == 'user' or message.role == 'assistant' %}"
    "<|im_start|>{{ message.role }}\n{{ message.content }}"
    "{%- for call in message.tool_calls or [] %}\n<tool_call>\n"
    "{{ {'name': call.function.name, 'arguments': call.function.arguments} | tojson }}"
    "\n</tool_call>{%- endfor %}<|im_end|>{{ '\n' }}"
    "{%- elif message.role == 'tool' %}<|im_start|>user\n"
    "<tool_response>\n{{ message.content }}\n</tool_response><|im_end|>{{ '\n' }}{%- endif %}"
    "{%- endfor %}"
    "{%- if add_generation_prompt %}<|im_start|>assistant{{ '\n' }}"
    "{%- if enable_thinking is defined and not enable_thinking %}"
    "{{ '<think>\n\n</think>\n\n' }}{%- endif %}"
    "{%- endif %}"
)
CHATML = TOOL_SPEECH + MESSAGES
PLAIN = (
    "{%- for message in messages %}"
    "{{ '<|start_header_id|>' + message.role + '<|end_header_id|>\n\n' + message.content | trim "
    "+ '<|eot_id|>' }}{%- endfor %}"
    "{%- if add_generation_prompt %}"
    "{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{%- endif %}"
)
STRICT = (
    "{%- if messages[0].role != 'user' %}{{ raise_exception('the user speaks first') }}"
    "{%- endif %}" + PLAIN
)
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|MASK|>")
HEADERS = (
    "<|endoftext|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|eot_id|>",
    "<|mdm_mask|>",
)
ORDINARY = ("<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>")


def bytes_only() -> Tokenizer:
    """A token for each byte, ids 0 to 255."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    bpe = Tokenizer(models.BPE({letter: i for i, letter in enumerate(alphabet)}, []))
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    return bpe


def write(
    directory: Path,
    template: str | None = CHATML,
    special: tuple[str, ...] = SPECIAL,
    ordinary: tuple[str, ...] = ORDINARY,
    **settings: Any,
) -> PreTrainedTokenizerFast:
    """Write tokenizer.json and its companions; special tokens get ids from 256 on."""
    bpe = bytes_only()
    bpe.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in special])
    bpe.add_tokens([AddedToken(text, special=False, normalized=False) for text in ordinary])
    made = PreTrainedTokenizerFast(
        tokenizer_object=bpe, eos_token=special[0], chat_template=template, **settings
    )
    made.save_pretrained(directory)
    return made
