"""Documentation in languages other than English: is the right page found, and is a question without an answer refused?

    python -m benchmarks.languages --fastapi DIR [--held FILE] [--keep DIR]

DIR is the folder `docs` of the FastAPI repository, which you fetch (it has `de/docs`, `ja/docs`, `zh/docs` and others).
`languages.jsonl` holds the questions that the ways to cut words and to refuse were chosen on; those without pages have
no answer there. FILE has questions on which words were not chosen, a JSON object a line with `corpus` ("fastapi"),
`language`, `question` and `pages`; without it `real_docs.jsonl` beside this script is taken, where it is there. A page
counts as found when a passage of it is among the first five pieces of evidence. Offline embedder, graph by rules, no
model.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import ragways

CHOSEN = Path(__file__).with_suffix(".jsonl")
HELD = Path(__file__).with_name("real_docs.jsonl")
LANGUAGES = ("de", "ja", "zh")
PARADIGMS = ("words", "naive", "hybrid-words", "fused")
FIRST = 5


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of one language with the pages that answer it; `part` is "chosen on" or "held back"."""

    part: str
    language: str
    question: str
    pages: tuple[str, ...]


def questions(held: Path) -> Iterator[Asked]:
    for part, file in (("chosen on", CHOSEN), ("held back", held)):
        for line in file.read_text(encoding="utf-8").splitlines() if file.is_file() else ():
            row = json.loads(line)
            if row.get("corpus", "fastapi") == "fastapi" and row["language"] in LANGUAGES:
                yield Asked(part, row["language"], row["question"], tuple(row["pages"]))


def measured(corpus: ragways.Corpus, asked: list[Asked], paradigm: str) -> str:
    """Pages found, questions answered, and questions without an answer that are refused."""
    found = answered = refused = 0
    for each in asked:
        answer = corpus.ask(each.question, paradigm).answer
        keys = [source.key for source in answer.evidence.sources[:FIRST]]
        found += any(key.endswith(page) for key in keys for page in each.pages)
        answered += bool(each.pages) and not answer.abstained
        refused += not each.pages and answer.abstained
    total = sum(bool(each.pages) for each in asked)
    without = f"{refused} of {len(asked) - total}" if len(asked) > total else "–"
    return f"{found} of {total} | {answered} of {total} | {without}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fastapi", type=Path, required=True)
    parser.add_argument("--held", type=Path, default=HELD)
    parser.add_argument("--keep", type=Path, help="folder for the indexes, used again where they are there")
    given = parser.parse_args()
    asked = list(questions(given.held))
    print(f"| language | questions | paradigm | page among the first {FIRST} | answered | refused |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as temporary:
        for language in LANGUAGES:
            folder = (given.keep or Path(temporary)) / language
            ragways.build(given.fastapi / language / "docs", folder, layers=("vectors", "words", "graph"))
            with ragways.open(folder) as corpus:
                for part in ("chosen on", "held back"):
                    some = [each for each in asked if (each.part, each.language) == (part, language)]
                    for paradigm in PARADIGMS if some else ():
                        print(
                            f"| {language} | {part} | `{paradigm}` | {measured(corpus, some, paradigm)} |", flush=True
                        )


if __name__ == "__main__":
    main()
