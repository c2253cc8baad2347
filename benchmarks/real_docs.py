"""Documentation of public projects, as a new user would index it: is the right page found, and does the answer say it?

    python -m benchmarks.real_docs --fastapi DIR --django DIR --postgresql DIR --pdf DIR
        [--paradigm hybrid-words fused] [--answers FILE]

Each folder is one that you fetch; any may be left out, and none of it belongs to the project:
    fastapi     the folder `docs` of the FastAPI repository, with the languages en, de, zh and ja (Markdown)
    django      the folder `docs` of the Django repository (reStructuredText); release notes are left out
    postgresql  the HTML manual, for instance /usr/share/doc/postgresql-doc-*/html of Debian's package; likewise
    pdf         libtasn1.pdf and shared-mime-info-spec.pdf, from Debian's packages libtasn1-doc and shared-mime-info

The 80 questions, their gold pages and the rule for a right answer (a pattern) are in `real_docs.jsonl`. The first 40
were looked at while answering was worked on; those marked `new` were written from the pages before any answer to them
was seen. A page counts as found when a passage of it is among the first five pieces of evidence. An unanswerable
question is right when it is refused. Every answer is printed, because a pattern can be met by a useless sentence: read
those marked `*`, which are the new ones and 20 of the first 40, drawn. The rule for a reader: useful is an answer from
whose printed text somebody gets the right answer to the question without opening the source, and refusing what nothing
answers; all else is not.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import ragways

QUESTIONS = Path(__file__).with_suffix(".jsonl")
LAYERS = ("vectors", "words", "graph")
FIRST = 5
DRAWN = 20
"""How many of the first 40 questions are read beside the new ones."""
SECTIONS = ("topics", "ref", "howto", "faq", "intro")
"""Folders of Django's documentation that people ask about."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the pages that answer it (none: nothing does) and what a right answer must say."""

    id: str
    corpus: str
    language: str
    kind: str
    question: str
    pages: tuple[str, ...]
    says: str
    new: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a question: was a gold page found, is the answer right by its rule, and the answer itself."""

    paradigm: str
    id: str
    written: str
    corpus: str
    language: str
    kind: str
    question: str
    found: bool | None
    right: bool
    abstained: bool
    answer: str
    sources: tuple[str, ...]


def questions() -> list[Asked]:
    rows = map(json.loads, QUESTIONS.read_text(encoding="utf-8").splitlines())
    return [Asked(**{**row, "pages": tuple(row["pages"])}) for row in rows]


def to_read(asked: list[Asked]) -> set[str]:
    """The ids of the 60 questions whose answers are read: the new ones and some of the others, always the same."""
    others = [each.id for each in asked if not each.new]
    return {each.id for each in asked if each.new} | set(random.Random(0).sample(others, DRAWN))


def folders(given: argparse.Namespace) -> Iterator[tuple[str, str, Path, list[Path]]]:
    """Corpus, language, the folder that pages are named from, and what is indexed."""
    if given.fastapi:
        for language in ("en", "de", "zh", "ja"):
            root = given.fastapi / language / "docs"
            if root.is_dir():
                yield "fastapi", language, root, [root]
    if given.django:
        yield "django", "en", given.django, [given.django / name for name in SECTIONS]
    if given.postgresql:
        pages = sorted(given.postgresql.glob("*.html"))
        yield "postgresql", "en", given.postgresql, [page for page in pages if not page.name.startswith("release")]
    if given.pdf:
        yield "pdf", "en", given.pdf, sorted(given.pdf.glob("*.pdf"))


def copied(root: Path, paths: Iterable[Path], to: Path) -> Path:
    """The files in a folder of their own, so that their keys are their names below the root."""
    for path in paths:
        target = to / path.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(path, target, dirs_exist_ok=True) if path.is_dir() else shutil.copy(path, target)
    return to


def outcome(corpus: ragways.Corpus, asked: Asked, paradigm: str) -> Outcome:
    answer = corpus.ask(asked.question, paradigm).answer
    sources = tuple(source.key.removeprefix("docs/") for source in answer.evidence.sources[:FIRST])
    if not asked.pages:
        found, right = None, answer.abstained
    else:
        found = any(source in asked.pages for source in sources)
        right = not answer.abstained and re.search(asked.says, answer.full_text) is not None
    return Outcome(
        paradigm, asked.id, "new" if asked.new else "first", asked.corpus, asked.language, asked.kind, asked.question,
        found, right, answer.abstained, " ".join(answer.full_text.split()), sources,
    )  # fmt: skip


def share(values: Iterable[bool | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{sum(known)} of {len(known)}" if known else "–"


def table(outcomes: list[Outcome], by: str) -> None:
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for each in outcomes:
        groups[getattr(each, by)].append(each)
    print(f"\n| {by} | page among the first {FIRST} | right by the rule |\n|---|---|---|")
    for name, group in [*groups.items(), ("all", outcomes)]:
        print(f"| {name} | {share(each.found for each in group)} | {share(each.right for each in group)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("fastapi", "django", "postgresql", "pdf"):
        parser.add_argument(f"--{name}", type=Path)
    parser.add_argument("--paradigm", nargs="+", default=["hybrid-words"])
    parser.add_argument("--keep", type=Path, help="folder for the indexes, used again where they are there")
    parser.add_argument("--answers", type=Path, help="file for all outcomes, a JSON object a line")
    given = parser.parse_args()
    home = given.keep or Path(tempfile.mkdtemp())
    every = questions()
    read = to_read(every)
    outcomes: list[Outcome] = []
    for corpus, language, root, paths in folders(given):
        name = f"{corpus}-{language}"
        began = time.process_time()
        docs = copied(root, paths, home / name / "docs")
        built = ragways.build(docs, home / name / "index", layers=LAYERS)
        print(f"\n{name}: {built}, {time.process_time() - began:.0f} CPU s")
        with ragways.open(home / name / "index") as opened:
            for asked in every:
                if (asked.corpus, asked.language) != (corpus, language):
                    continue
                print(f"\n{'*' if asked.id in read else ' '} {asked.id} ({asked.kind}) {asked.question}")
                for paradigm in given.paradigm:
                    outcomes.append(each := outcome(opened, asked, paradigm))
                    mark = "refused" if each.abstained else "right" if each.right else "wrong"
                    place = {True: "page found", False: "page not found", None: "no page"}[each.found]
                    print(f"  {paradigm} ({place}; {mark}): {each.answer}")
    for paradigm in given.paradigm:
        print(f"\n{paradigm}")
        for by in ("written", "corpus", "language", "kind"):
            table([each for each in outcomes if each.paradigm == paradigm], by)
    if given.answers:
        lines = (json.dumps(asdict(each), ensure_ascii=False) for each in outcomes)
        given.answers.write_text("\n".join(lines) + "\n", encoding="utf-8")
    if not given.keep:
        shutil.rmtree(home)


if __name__ == "__main__":
    main()
