"""`ragways eval sample`: a part of a data set that is fair to its question types, with its documents."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragways.apps.evaluation.options import LayoutOption, QuestionsFile
from ragways.apps.options import JsonOption, printable

if TYPE_CHECKING:
    from ragways.evaluation.question import Question

QUESTIONS, CORPUS = "questions.jsonl", "corpus.jsonl"


def sample(
    questions: QuestionsFile,
    out: Annotated[Path, typer.Option("--out", help=f"Folder for {QUESTIONS} (plain) and {CORPUS}.")],
    format: LayoutOption = "plain",
    per_type: Annotated[int | None, typer.Option("--per-type", help="So many of each type.", min=1)] = None,
    count: Annotated[int | None, typer.Option("--count", help="So many in all, types alike.", min=1)] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the draw.")] = 0,
    corpus: Annotated[Path | None, typer.Option("--corpus", help="File or folder to take documents from.")] = None,
    documents: Annotated[
        int | None, typer.Option("--documents", help="So many, evidence first.", min=1, show_default="only evidence")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Draw questions, equally many of each type, and keep the documents that hold their evidence."""
    from ragways.apps.terminal import print_json
    from ragways.evaluation.datasets import find_dataset, load_questions
    from ragways.evaluation.sampling import sample as draw
    from ragways.evaluation.sampling import write_questions

    dataset = find_dataset(format)
    drawn = draw(load_questions(format, questions), per_type=per_type, count=count, seed=seed)
    data: dict[str, Any] = {
        "format": format,
        "seed": seed,
        "questions": len(drawn.questions),
        "of": drawn.of,
        "types": drawn.counts,
        "short": drawn.short,
        "licence": dataset.licence,
        "citation": dataset.citation,
    }
    if corpus is not None:
        data["corpus"] = _keep(drawn.questions, corpus, out, documents, seed)
    elif dataset.corpus is not None:
        from ragways.evaluation.datasets import write_corpus

        with TemporaryDirectory() as folder:
            data["corpus"] = _keep(
                drawn.questions, write_corpus(dataset, questions, Path(folder)), out, documents, seed
            )
    data["files"] = [str(write_questions(drawn.questions, out / QUESTIONS)), *data.get("corpus", {}).pop("files", [])]
    if json:
        print_json(data)
    else:
        _show(data)


def _keep(asked: tuple[Question, ...], corpus: Path, out: Path, count: int | None, seed: int) -> dict[str, Any]:
    from ragways.evaluation.sampling import documents, kept_documents, write_documents

    kept = kept_documents(asked, documents(corpus), count=count, seed=seed)
    file = write_documents(documents(corpus), kept.keys, out / CORPUS)
    return {
        "documents": len(kept.keys),
        "of": kept.of,
        "evidence": kept.evidence,
        "filled": kept.filled,
        "gold_not_in_corpus": len(kept.missing),
        "files": [str(file)],
    }


def _show(data: dict[str, Any]) -> None:
    from ragways.apps.terminal import console

    out, err = console(), console(error=True)
    types = ", ".join(f"{count:,} {printable(type) or 'without a type'}" for type, count in data["types"].items())
    lines = [f"{data['questions']:,} of {data['of']:,} questions (seed {data['seed']}): {types}"]
    kept = data.get("corpus")
    if kept:
        lines.append(f"{kept['documents']:,} of {kept['of']:,} documents: {kept['evidence']:,} hold evidence, "
                     f"{kept['filled']:,} others")  # fmt: skip
    lines.append(f"written: {', '.join(map(printable, data['files']))} (--format plain)")
    for line in lines:
        out.print(line, markup=False, soft_wrap=True)
    for type, had in data["short"].items():
        err.print(f"only {had:,} questions are {printable(type) or 'without a type'}", style="yellow", markup=False)
    if kept and kept["gold_not_in_corpus"]:
        missing = f"{kept['gold_not_in_corpus']:,} pieces of gold evidence are in no document of the corpus"
        err.print(missing, style="yellow", markup=False)
    if data["licence"]:
        out.print(f"data: {data['licence']}; {data['citation']}", style="dim", markup=False)
