"""A small model on the word vectors of a large one: these stay, what leads to and from them learns.

The embedding is the vectors times a learned projection, for the marks rows of their own; as the
head is tied to it, the projection leads back as well. What is written as a checkpoint is their
product, a model like any other.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from dlm.language.tokenizer import Mark
from dlm.network.model import Transformer
from dlm.train.low_rank import is_product, merged_state

_MADE = "embed_tokens.parametrizations.weight"


class Projection(nn.Module):
    """Makes an embedding (V, D) of a projection (W, D) and the rows of the marks (M, D).

    Args:
        vectors: (V, W), in the order of the vocabulary, which begins with the marks; not learned.
    """

    vectors: Tensor

    def __init__(self, vectors: Tensor) -> None:
        super().__init__()
        # Of unit size on average, so that the projection begins like any matrix.
        scaled = vectors / vectors.norm(dim=1).mean()
        self.register_buffer("vectors", scaled, persistent=False)

    def forward(self, projection: Tensor, marks: Tensor) -> Tensor:
        """The whole embedding."""
        return torch.cat((marks, self.vectors[len(Mark) :] @ projection))

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """The projection whose product is the nearest to an embedding, and its marks."""
        words = weight[len(Mark) :]
        nearest = torch.linalg.lstsq(self.vectors[len(Mark) :], words).solution
        # It explains little of random words; the product should be as large as they are.
        size = (self.vectors[len(Mark) :] @ nearest).std()
        return nearest * (words.std() / size), weight[: len(Mark)].clone()


def on_vectors(model: Transformer, vectors: Tensor) -> Transformer:
    """The model with its embedding made of vectors, in place.

    Raises:
        ValueError: The vectors are of another number than the vocabulary's, or the head not tied.
    """
    if len(vectors) != model.config.vocab_size or not model.config.tie_word_embeddings:
        raise ValueError(f"vectors: got {len(vectors)}, expected {model.config.vocab_size}, tied")
    parametrize.register_parametrization(model.embed_tokens, "weight", Projection(vectors))
    return model


def plain_state(model: Transformer) -> Mapping[str, Tensor]:
    """A model's state with each matrix as one, whatever it is made of."""
    state = {
        name: tensor
        for name, tensor in model.state_dict().items()
        if not name.startswith(_MADE) and not is_product(name)
    }
    embedding = model.embed_tokens.weight.detach()
    return {"embed_tokens.weight": embedding, **merged_state(model), **state}
