"""Settings of the layers: how each is made, a section of the settings file for each."""

from __future__ import annotations

from typing import Literal, Self
from warnings import catch_warnings, simplefilter

from pydantic import Field, model_validator

from ragways.core.section import Section


class LayerSettings(Section):
    """The settings of a layer; of one that has none, this itself."""


class WindowSettings(LayerSettings):
    """Windows of sentences, and the edges between them."""

    size: int = Field(3, ge=1, description="sentences in a window")
    slide: int = Field(1, ge=1, description="sentences from one window to the next")
    top_k: int = Field(10, ge=0, description="edges of a window to others of its document")
    top_x: int = Field(10, ge=0, description="edges of a window to those of other documents")
    top_t: int = Field(10, ge=0, description="edges of a document to others with like themes")

    @model_validator(mode="after")
    def _check_slide(self) -> Self:
        if self.slide > self.size:
            raise ValueError(
                f"windows.slide {self.slide} is more than windows.size {self.size}: it leaves out sentences"
            )
        return self


with catch_warnings():
    simplefilter("ignore")  # pydantic has a method of this name, long deprecated, which nobody calls here

    class _WithSchema(LayerSettings):
        schema: dict[Literal["entities", "relations"], dict[str, str]] = Field(  # type: ignore[assignment]
            default_factory=dict,
            description="of model: the types of entities and relations wanted, each with what it is, e.g. "
            '`{entities = {gene = "a gene, by its symbol"}, relations = {regulates = "a gene acts on another"}}`; '
            "what falls outside is counted and not stored",
        )


class GraphSettings(_WithSchema):
    """How the knowledge graph is made."""

    method: Literal["rules", "model", "import"] = Field("rules", description="who finds facts: rules, model, or import")
    file: str = Field(
        "",
        description="of import: triples in HippoRAG's OpenIE layout, or JSON lines (subject, predicate, object, chunk)",
    )
    gleaning: int = Field(0, ge=0, description="of model: how often it is asked what it missed")
    passage_tokens: int = Field(1200, ge=1, description="of model: short passages share a call up to this many tokens")
    structure: bool = Field(True, description="titles, links, boxes and tables count, whatever the method")
    vectors: Literal["shared", "all", "none"] = Field(
        "none", description="entities with a vector: none, shared (articles, and those that several chunks name), all"
    )
    relation_vectors: bool = Field(False, description="give relations vectors too")
    near: bool = Field(False, description="merge names that are alike both as strings and by meaning")
    near_string: float = Field(0.88, ge=0, le=1, description="of near: how alike as strings, at least")
    near_cosine: float = Field(0.9, ge=0, le=1, description="of near: how alike by meaning, at least")
    apart: tuple[tuple[str, str], ...] = Field((), description="pairs of names that are never merged")
    # How it is made says nothing of what is made: it is not kept with the index.
    processes: int | None = Field(
        None,
        ge=1,
        exclude=True,
        description="that make a graph side by side, from 4,000 documents on; unset is one a core, up to 4",
    )

    @model_validator(mode="after")
    def _check_file(self) -> Self:
        if self.method == "import" and not self.file:
            raise ValueError("graph.method is import, but graph.file names no file of triples")
        return self


class CommunitySettings(LayerSettings):
    """How communities and their reports are made."""

    method: Literal["graph", "rules", "model"] = Field(
        "graph", description="who writes reports: graph (whoever made the graph), rules or model"
    )
    size: int = Field(60, ge=2, description="members; larger communities are split again")
    members: int = Field(3, ge=2, description="smaller communities get no report")
    text: int = Field(400, ge=0, description="tokens of the corpus behind a community that are worth a model's report")
    tokens: int = Field(2000, ge=100, description="input of one report at most, besides the prompt")
    resolution: float = Field(1.0, ge=0.01, description="of Leiden: more makes smaller communities")
    seed: int = Field(0, ge=0, description="of Leiden")
