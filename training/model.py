"""The models in torch: BERT as all-MiniLM-L6-v2 and gte-small have it, and the reader on top of it.

Names of parameters are those of the published weights, so that a file of theirs loads as it is. Every text is a first
segment, as in the product's own graph (`release/weights.py`), which runs what is trained here.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from ragways.models.reader import HEADS
from training.weights import WORDS, read_quantised

START, END, ANSWERS, EVIDENCE, SUPPORTS = range(len(HEADS))
"""Places of the heads."""
HIDDEN, ATTENTION, WIDE, VOCABULARY, POSITIONS = 384, 12, 1536, 30522, 512


class _Norm(nn.LayerNorm):
    def __init__(self) -> None:
        super().__init__(HIDDEN, eps=1e-12)


class _Embeddings(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(VOCABULARY, HIDDEN)
        self.position_embeddings = nn.Embedding(POSITIONS, HIDDEN)
        self.token_type_embeddings = nn.Embedding(2, HIDDEN)
        self.LayerNorm = _Norm()

    def forward(self, ids: Tensor) -> Tensor:
        places = self.position_embeddings.weight[: ids.shape[1]] + self.token_type_embeddings.weight[0]
        normed: Tensor = self.LayerNorm(self.word_embeddings(ids) + places)
        return normed


class _SelfAttention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(HIDDEN, HIDDEN) for _ in range(3))

    def forward(self, hidden: Tensor, mask: Tensor) -> Tensor:
        def split(x: Tensor) -> Tensor:
            return x.view(*x.shape[:2], ATTENTION, HIDDEN // ATTENTION).transpose(1, 2)

        mixed = functional.scaled_dot_product_attention(
            split(self.query(hidden)), split(self.key(hidden)), split(self.value(hidden)), attn_mask=mask
        )
        return mixed.transpose(1, 2).reshape(hidden.shape)


class _Added(nn.Module):
    """A dense layer whose result is added to what came before, and normed."""

    def __init__(self, inside: int) -> None:
        super().__init__()
        self.dense = nn.Linear(inside, HIDDEN)
        self.LayerNorm = _Norm()

    def forward(self, inside: Tensor, before: Tensor, dropout: float) -> Tensor:
        normed: Tensor = self.LayerNorm(before + functional.dropout(self.dense(inside), dropout, self.training))
        return normed


class _Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.self = _SelfAttention()
        self.output = _Added(HIDDEN)


class _Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = _Attention()
        self.intermediate = nn.Module()
        self.intermediate.dense = nn.Linear(HIDDEN, WIDE)
        self.output = _Added(WIDE)

    def forward(self, hidden: Tensor, mask: Tensor, dropout: float) -> Tensor:
        hidden = self.attention.output(self.attention.self(hidden, mask), hidden, dropout)
        wide = functional.gelu(self.intermediate.dense(hidden))
        out: Tensor = self.output(wide, hidden, dropout)
        return out


class Encoder(nn.Module):
    """Ids (texts, tokens), 0 where there is none → a vector for each token."""

    def __init__(self, layers: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.embeddings = _Embeddings()
        self.encoder = nn.Module()
        self.encoder.layer = nn.ModuleList(_Layer() for _ in range(layers))
        self.dropout = dropout

    def forward(self, ids: Tensor) -> Tensor:
        mask = (ids != 0)[:, None, None, :]
        hidden: Tensor = functional.dropout(self.embeddings(ids), self.dropout, self.training)
        for layer in self.encoder.layer:
            hidden = layer(hidden, mask, self.dropout)
        return hidden


class ReaderModel(nn.Module):
    """The encoder with the reader's heads (`ragways.models.reader.HEADS`) over every token."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = nn.Linear(HIDDEN, len(HEADS))

    def forward(self, ids: Tensor) -> Tensor:
        """Logits (texts, tokens, heads)."""
        out: Tensor = self.head(self.encoder(ids)).float()
        return out

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """All of it as numbers, by name."""
        return {name: value.detach().float().cpu().numpy() for name, value in self.state_dict().items()}


def load_encoder(file: Path) -> Encoder:
    """The encoder in a file of `write_quantised`; as many layers as it has. Its table of words is not trained."""
    weights = read_quantised(file)
    layers = 1 + max(int(name.split(".")[2]) for name in weights if name.startswith("encoder.layer."))
    encoder = Encoder(layers)
    encoder.load_state_dict({name: torch.from_numpy(value) for name, value in weights.items()})
    encoder.embeddings.word_embeddings.weight.requires_grad_(False)
    return encoder


def load_reader(file: Path, words: Path) -> ReaderModel:
    """A trained reader without its table of words, which is that of the encoder in `words`."""
    model = ReaderModel(load_encoder(words))
    weights = {name: torch.from_numpy(value) for name, value in read_quantised(file).items()}
    missing, _ = model.load_state_dict(weights, strict=False)
    if missing != [f"encoder.{WORDS}"]:
        raise ValueError(f"{file} lacks {missing[:3]}")
    return model
