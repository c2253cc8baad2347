"""A tagger of names: persons, places, organisations, times, numbers and other names, in three layers of MiniLM.

    python -m training.names train --data DIR --weights names.npz [--seed 1]     a quarter of an hour on one core
    python -m training.names score --data DIR --weights names.npz                beside the names that rules find

It was a trial: the graph by rules did not get better by it (`training/names_graph.py`; figures in docs/figures.md), so
the product does not have it. Needs torch, `onnx` and the original weights that `release/weights.py` names.

DIR holds Re-DocRED (MIT, github.com/tonytan48/Re-DocRED): `dev_revised.json`, which it is trained on, and
`test_revised.json`, which it is scored on. The vocabulary knows no capitals, so four features of each word are added to
its vector: it begins with a capital, is all capitals, has a digit, is the first of its sentence.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, dropout

from ragways.layers.graph import rules
from ragways.layers.graph.names import coarse, decided, fold, kind_around, kind_of_name
from ragways.layers.graph.rules import InOrder
from ragways.layers.lexicon import Lexicon
from ragways.models.encoder import END, START, tokenizer, word_vectors
from ragways.store.source import Source
from release.weights import find_original, read_safetensors

TYPES = ("PER", "LOC", "ORG", "TIME", "NUM", "MISC")
TAGS = 1 + 2 * len(TYPES)
"""0 is no name; 1 + 2·type begins one, 2 + 2·type goes on."""
LAYERS, HIDDEN, FEATURES, WINDOW, NO_TAG = 3, 384, 4, 192, -100
EPOCHS, BATCH, RATE, DROPOUT = 8, 8, 2e-4, 0.1
Name = tuple[int, int, str]
"""First character, end, type."""


@dataclass(frozen=True, slots=True)
class Document:
    """A text with the places of its sentences and, where they are known, of its names."""

    title: str
    text: str
    sentences: tuple[tuple[int, int], ...]
    names: tuple[Name, ...] = ()


_CLOSES = re.compile(r"[,.;:!?)\]%]|'s|n't|'")
_OPENS = frozenset("([$£#")


def read_documents(file: Path) -> list[Document]:
    """Re-DocRED's documents. Its words are joined as they are usually written."""
    return [_document(row["title"], row["sents"], row["vertexSet"]) for row in json.loads(file.read_bytes())]


def _document(title: str, sentences: list[list[str]], entities: list[list[dict[str, Any]]]) -> Document:
    text, spans, places = "", [], []
    for words in sentences:
        here: list[tuple[int, int]] = []
        before = ""
        for word in words:
            joined = not text or _CLOSES.fullmatch(word) or before in _OPENS
            text += word if joined and here else f" {word}" if text else word
            here.append((len(text) - len(word), len(text)))
            before = word
        places.append(here)
        spans.append((here[0][0], here[-1][1]) if here else (len(text), len(text)))
    found = set()
    for mention in (mention for entity in entities for mention in entity):
        sentence, (first, end) = places[mention["sent_id"]], mention["pos"]
        found.add((sentence[first][0], sentence[end - 1][1], str(mention["type"])))
    return Document(title, text, tuple(spans), tuple(sorted(found)))


@dataclass(frozen=True, slots=True)
class Token:
    """A token as it is tagged: the features of its word, its place in the text, and its tag.

    A word is tagged at its first token; the others have `NO_TAG`, as have the marks around a window.
    """

    id: int
    case: tuple[bool, ...] = (False,) * FEATURES
    place: tuple[int, int] = (0, 0)
    tag: int = NO_TAG


def windows(document: Document) -> Iterator[list[Token]]:
    """The document in pieces of up to 192 tokens, cut between sentences; a longer sentence loses its end."""
    here: list[Token] = []
    for start, end in document.sentences:
        sentence = list(_sentence(document, start, end))[: WINDOW - 2]
        if len(here) + len(sentence) > WINDOW - 2:
            yield [Token(START), *here, Token(END)]
            here = []
        here += sentence
    if here:
        yield [Token(START), *here, Token(END)]


def _sentence(document: Document, start: int, end: int) -> Iterator[Token]:
    encoding = tokenizer().encode(document.text[start:end], add_special_tokens=False)
    heads = [at for at, token in enumerate(encoding.tokens) if not token.startswith("##")]
    begins = {low: (high, type) for low, high, type in document.names}
    reached, type = 0, ""
    for at, behind in pairwise([*heads, len(encoding.ids)]):
        places = [(start + low, start + high) for low, high in encoding.offsets[at:behind]]
        first = places[0][0]
        word = document.text[first : places[-1][1]]
        case = word[:1].isupper(), len(word) > 1 and word.isupper(), any(map(str.isdigit, word)), at == 0
        tag = 0
        if first in begins:
            reached, type = begins[first]
            tag = 1 + 2 * TYPES.index(type)
        elif first < reached:
            tag = 2 + 2 * TYPES.index(type)
        for part, (id, place) in enumerate(zip(encoding.ids[at:behind], places, strict=True)):
            yield Token(id, case, place, NO_TAG if part else tag)


class Tagger(nn.Module):  # type: ignore[misc,unused-ignore]
    """Word vectors (texts, tokens, 384), features of the words, and which tokens are none → a score for each tag."""

    def __init__(self) -> None:
        super().__init__()
        self.places = nn.Parameter(torch.zeros(WINDOW, HIDDEN))
        self.norm = nn.LayerNorm(HIDDEN, eps=1e-12)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(HIDDEN, 12, 4 * HIDDEN, DROPOUT, "gelu", layer_norm_eps=1e-12, batch_first=True)
            for _ in range(LAYERS)
        )
        self.case = nn.Linear(FEATURES, HIDDEN, bias=False)
        self.head = nn.Linear(HIDDEN, TAGS)
        nn.init.zeros_(self.case.weight)

    def forward(self, words: Tensor, case: Tensor, none: Tensor) -> Tensor:
        hidden = self.norm(words + self.places[: words.shape[1]] + self.case(case))
        hidden = dropout(hidden, DROPOUT, self.training)
        for layer in self.layers:
            hidden = layer(hidden, src_key_padding_mask=none)
        scores: Tensor = self.head(hidden)
        return scores


def untrained() -> Tagger:
    """A tagger that begins with the first layers of MiniLM. Its word vectors are the product's and stay as they are."""
    found = read_safetensors((find_original() / "model.safetensors").read_bytes())
    original = {name: torch.from_numpy(value.copy()) for name, value in found.items()}
    embeddings = "embeddings.position_embeddings.weight", "embeddings.token_type_embeddings.weight"
    weights = {
        "places": original[embeddings[0]][:WINDOW] + original[embeddings[1]][0],
        "norm.weight": original["embeddings.LayerNorm.weight"],
        "norm.bias": original["embeddings.LayerNorm.bias"],
    }
    called = {
        "attention.output.dense": "self_attn.out_proj",
        "attention.output.LayerNorm": "norm1",
        "intermediate.dense": "linear1",
        "output.dense": "linear2",
        "output.LayerNorm": "norm2",
    }
    for layer in range(LAYERS):
        own = f"encoder.layer.{layer}"
        for kind in ("weight", "bias"):
            parts = [original[f"{own}.attention.self.{part}.{kind}"] for part in ("query", "key", "value")]
            weights[f"layers.{layer}.self_attn.in_proj_{kind}"] = torch.cat(parts)
            for theirs, ours in called.items():
                weights[f"layers.{layer}.{ours}.{kind}"] = original[f"{own}.{theirs}.{kind}"]
    tagger = Tagger()
    tagger.load_state_dict(tagger.state_dict() | weights)
    return tagger


@dataclass(frozen=True, slots=True)
class Batch:
    """Windows as the tagger takes them, of equal length."""

    words: Tensor
    case: Tensor
    none: Tensor
    tags: Tensor


def batch(chosen: Sequence[list[Token]]) -> Batch:
    shape = len(chosen), max(map(len, chosen))
    rows = Batch(
        torch.zeros(*shape, HIDDEN),
        torch.zeros(*shape, FEATURES),
        torch.ones(*shape, dtype=torch.bool),
        torch.full(shape, NO_TAG),
    )
    for row, window in enumerate(chosen):
        length = len(window)
        rows.words[row, :length] = torch.from_numpy(word_vectors([token.id for token in window]))
        rows.case[row, :length] = torch.tensor([token.case for token in window], dtype=torch.float32)
        rows.none[row, :length] = False
        rows.tags[row, :length] = torch.tensor([token.tag for token in window])
    return rows


def train(tagger: Tagger, rows: Sequence[list[Token]], seed: int, epochs: int = EPOCHS) -> None:
    """Cross-entropy over the tags of words."""
    torch.manual_seed(seed)
    order, numbers = list(range(len(rows))), random.Random(seed)
    fresh = [*tagger.case.parameters(), *tagger.head.parameters()]
    learnt = [tagger.places, *tagger.norm.parameters(), *tagger.layers.parameters()]
    optimiser = torch.optim.AdamW([{"params": learnt}, {"params": fresh}], weight_decay=0.01)
    steps = epochs * -(-len(rows) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, [RATE, 10 * RATE], total_steps=steps, pct_start=0.1, anneal_strategy="linear", cycle_momentum=False
    )
    tagger.train()
    for epoch in range(epochs):
        numbers.shuffle(order)
        total = 0.0
        for begin in range(0, len(order), BATCH):
            here = batch([rows[at] for at in order[begin : begin + BATCH]])
            scores = tagger(here.words, here.case, here.none)
            loss = cross_entropy(scores.flatten(0, 1), here.tags.flatten(), ignore_index=NO_TAG)
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(tagger.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            total += len(here.tags) * loss.item()
        print(f"epoch {epoch + 1}: loss {total / len(rows):.4f}", flush=True)
    tagger.eval()


def names_of(window: Sequence[Token], tags: Sequence[int]) -> Iterator[Name]:
    """Names by the tags of a window's tokens, of which those that begin a word count."""
    first = last = 0
    type = ""
    for token, said in zip(window, tags, strict=True):
        inside = token.place[1] > 0
        tag = said if inside else 0
        going_on = tag > 0 and tag % 2 == 0 and TYPES[(tag - 1) // 2] == type
        if going_on or (inside and token.tag == NO_TAG):
            last = token.place[1]
        else:
            if type:
                yield first, last, type
            type = TYPES[(tag - 1) // 2] if tag else ""
            first, last = token.place


def tagged(tagger: Tagger, document: Document) -> list[Name]:
    """The names that the tagger finds in a document."""
    found: list[Name] = []
    with torch.no_grad():
        for window in windows(document):
            here = batch([window])
            found += names_of(window, tagger(here.words, here.case, here.none)[0].argmax(-1).tolist())
    return found


def f1(pairs: Iterable[tuple[Iterable[Name], Iterable[Name]]], *, typed: bool) -> tuple[float, float, float]:
    """Precision, recall and F1 of names found against names given; a name is right if both its ends are."""
    right = found_all = given_all = 0
    for found, given in pairs:
        one, other = ({name if typed else name[:2] for name in names} for names in (found, given))
        right, found_all, given_all = right + len(one & other), found_all + len(one), given_all + len(other)
    return right / max(found_all, 1), right / max(given_all, 1), 2 * right / max(found_all + given_all, 1)


_TYPES = {"person": "PER", "place": "LOC", "organization": "ORG", "date": "TIME", "quantity": "NUM"}


def names_by_rules(documents: Sequence[Document]) -> list[list[Name]]:
    """The names that the graph's rules find; one whose kind they do not know, or know as another, is `MISC`."""
    sources = [Source(n, str(n), d.title, d.text, (), d.sentences, (), ()) for n, d in enumerate(documents)]
    corpus = Lexicon.of(sources)
    kinds = {fold(d.title): coarse(type) for d in documents if (type := corpus.type(d.title))}
    found = [
        [m for span in source.sentences for m in rules._mentions(source, span, InOrder(()), {}, corpus) if not m.inside]
        for source in sources
    ]
    guesses: dict[str, Counter[str]] = defaultdict(Counter)
    for source, mentions in zip(sources, found, strict=True):
        for mention in mentions:
            if kind := kind_around(source.text, mention.start, mention.end):
                guesses[fold(mention.name)][kind] += 1

    def type_of(mention: rules.NameMention) -> str:
        name = fold(mention.name)
        kind = mention.type or kinds.get(name) or decided(guesses[name]) or kind_of_name(mention.name)
        return _TYPES.get(kind, "MISC")

    return [[(m.start, m.end, type_of(m)) for m in mentions] for mentions in found]


def save(tagger: Tagger, file: Path) -> None:
    weights = {name: value.numpy().astype(np.float16) for name, value in tagger.state_dict().items()}
    np.savez_compressed(file, allow_pickle=False, **weights)


def load(file: Path) -> Tagger:
    """What `save` wrote."""
    tagger = Tagger()
    with np.load(file, allow_pickle=False) as packed:
        weights = {name: torch.from_numpy(packed[name].astype(np.float32)) for name in packed.files}
    tagger.load_state_dict(weights)
    tagger.eval()
    return tagger


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("train", "score"))
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.what == "train":
        documents = read_documents(options.data / "dev_revised.json")
        tagger = untrained()
        train(tagger, [row for document in documents for row in windows(document)], options.seed)
        save(tagger, options.weights)
        return
    kept, tagger = read_documents(options.data / "test_revised.json"), load(options.weights)
    ways = {"tagger": [tagged(tagger, document) for document in kept], "rules": names_by_rules(kept)}
    for way, found in ways.items():
        pairs = list(zip(found, (document.names for document in kept), strict=True))
        for kind, typed in (("typed", True), ("untyped", False)):
            precision, recall, both = f1(pairs, typed=typed)
            print(f"{way}, {kind}: precision {precision:.3f} recall {recall:.3f} F1 {both:.3f}")


if __name__ == "__main__":
    main()
