"""A run made by hand: answers right and wrong, failed, repeated and hostile; judgements, duels and samples besides."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ragways.core.types import Citation
from ragways.evaluation.answers import answers, markdown, report_data
from ragways.evaluation.duel.entries import AlignedLog, DuelRules, align, aligned_pairs, duel_entries
from ragways.evaluation.duel.replies import DuelReplies, DuelReply, duel_judge
from ragways.evaluation.duel.taste import control_prompts
from ragways.evaluation.duel.trials import prompts_in_order
from ragways.evaluation.judging import Judgement, Judgements
from ragways.evaluation.labels import LABEL_VALUES, Labelling
from ragways.evaluation.question import Gold
from ragways.evaluation.record import AnswerOrigin, AnswerUsage, EvidenceItem, Record, Records, Run, RunInfo, begin
from ragways.evaluation.report import read_runs, report
from ragways.evaluation.resources.sampler import ResourceSample, samples_of
from ragways.store.cache import Spent

TYPES = ("factual", "reasoning", "summary", "null")
PARADIGMS = {"words": 0.45, "naive": 0.55, "fused": 0.8, "agent": 0.7, "llm-only": 0.2}
"""How often each is right."""
EVIL = (
    "</script><script>alert(1)</script><img src=x onerror=alert(2)>{{policy}}\"'`|*_ \u202egnp.exe\u2066 \x00\x1b[31m"
)
RULES = DuelRules(trials=3, samples=1)


def made_run(
    folder: Path, *, questions: int = 24, paradigms: Sequence[str] = tuple(PARADIGMS), repeats: int = 1, seed: int = 1,
    judged: bool = True, sampled: bool = True, duels: bool = False, hostile: bool = False,
) -> Path:  # fmt: skip
    chance = random.Random(seed)
    begin(folder, RunInfo(construction={"vectors": Spent(calls=3, input=90_000, usd=0.9, seconds=20.0)}))
    records, judgements, samples = Records(folder), Judgements(folder), samples_of(folder)
    at, cpu = 1_700_000_000.0, 0.0
    for name in paradigms:
        for repeat in range(repeats):
            for number in range(questions):
                record = made_record(number, name, repeat, chance, hostile)
                records.append(record)
                if judged and not record.error:
                    judge(judgements, record, chance)
                if sampled:
                    at, cpu = at + 2, cpu + chance.uniform(0.2, 3.0)
                    samples.append(ResourceSample(at, name, cpu, int(2e8 + 3e7 * len(name) + 1e6 * number)))
    if duels:
        fight(folder, list(records), chance)
    return folder


def made_record(number: int, name: str, repeat: int, chance: random.Random, hostile: bool) -> Record:
    type = TYPES[number % len(TYPES)]
    text, right = f"What of thing {number}?", chance.random() < PARADIGMS.get(name, 0.5)
    gold = () if number % 11 == 10 else ("Insufficient information",) if type == "null" else (f"thing {number} is red",)
    base: dict[str, Any] = {
        "question": f"q{number:03}", "text": f"{text} {EVIL}" if hostile else text, "type": type, "gold": gold,
        "paradigm": name, "repeat": repeat, "wanted": (Gold(title=f"Thing {number}"),),
    }  # fmt: skip
    if chance.random() < 0.03:
        return Record(**base, error=f"the model was gone {EVIL if hostile else ''}")
    abstained = (type == "null") == right if type == "null" else chance.random() < 0.05
    said = f"As far as is known, thing {number} is {'red' if right else 'blue'} [1]." + " It has been so for long." * 3
    long = "x" * 100_000 if hostile and not number else ""
    evidence = tuple(
        EvidenceItem(id=f"d{piece}:{number % 7}", title=f"Thing {piece}", text=f"Thing {piece} is red. " * 40 + long,
                     date="1999-01-02", score=1 / (1 + place))
        for place, piece in enumerate(chance.sample(range(30), 4))
    )  # fmt: skip
    if hostile:
        said, evidence = f"{said} {EVIL}{long}", (EvidenceItem(id=EVIL, title=EVIL, text=EVIL, score=0.5), *evidence)
    tokens = 400 * (1 + len(name)) + chance.randrange(200)
    return Record(
        **base,
        answer="Insufficient information" if abstained else said,
        abstained=abstained,
        way="model",
        ranks=(1 if right else None,),
        evidence=evidence,
        citations=(Citation(0, evidence[0].id, "d", 0, 3, "Thi"),),
        usage=AnswerUsage(calls=2, input=tokens, output=80, usd=tokens / 1e6, evidence=tokens // 2),
        tools={"chunk_search": 1 + number % 3, "sections": number % 2} if name == "agent" else {},
        seconds=chance.uniform(0.5, 1 + len(name)),
        cpu=chance.uniform(0.1, 0.4),
        made=AnswerOrigin(version="0.1.0", model="a-model", embedder="an-embedder"),
    )


def judge(judgements: Judgements, record: Record, chance: random.Random) -> None:
    right = float("red" in record.answer)
    claims = {"claims": [{"claim": record.answer[:60], "supported": bool(right), "why": "the evidence says so"}]}
    scores: dict[str, tuple[float | None, str, dict[str, Any]]] = {
        "faithfulness": (right or round(chance.random(), 2), "", claims),
        "crag-fine": (right or chance.choice([-1.0, -0.5, 0.0]), "", claims),
    }
    if record.abstained:
        scores = {name: (None, "abstained", {}) for name in scores}
    elif chance.random() < 0.05:
        scores["crag-fine"] = (None, "the reply could not be read", {"reply": "I think that"})
    for metric, (value, why, details) in scores.items():
        key = record.question, record.paradigm, record.repeat
        judgements.append(Judgement(*key, metric.split("-")[0], metric, value, why, details))


def fight(folder: Path, records: list[Record], chance: random.Random, names: Sequence[str] = ()) -> None:
    """Lines as a fair judge would leave them: no side of a test preferred, and points for those who are often right."""
    import asyncio

    by = duel_judge("a-judge", RULES.mode)
    field, lines, lengths = duel_entries(records, RULES, names), DuelReplies(folder), AlignedLog(folder)
    for prompt in control_prompts(field.records):
        # What answers another question is worse, and a fair judge says so.
        lines.append(_line(prompt.blank_reply(by, 0), 3, 0))
    for pairs in field.pairs.values():
        for pair in pairs:
            lengths.append(asyncio.run(align(None, pair)))
    for prompt in prompts_in_order(aligned_pairs(field, folder).values(), field.texts, RULES):
        good = [chance.random() < PARADIGMS.get(name, 0.5) for name in (prompt.a, prompt.b)]
        points = (2 + 2 * good[0], 2 + 2 * good[1]) if prompt.kind == "duel" else (3, 3)
        lines.append(_line(prompt.blank_reply(by, 0), *points))


def _line(line: DuelReply, a: int, b: int) -> DuelReply:
    from dataclasses import replace

    return replace(line, points=((a,) * 4, (b,) * 4))


def labelled(folder: Path, count: int = 120) -> Path:
    """The run with labels of someone who does not look at the answers."""
    work = Labelling(folder, list(Records(folder)), by="</b>ann", count=count)
    for at in range(count):
        work.give(at, LABEL_VALUES[at % 7 % 3])
    return folder


def made_report(folders: Sequence[Path], *, baseline: str = "") -> dict[str, Any]:
    """A report as JSON has it."""
    runs = read_runs([Run(folder) for folder in folders])
    return report_data(report(runs, baseline=baseline), runs)


def rows_of(data: Mapping[str, Any], *names: str) -> list[dict[str, Any]]:
    """The rows of the tables with these names."""
    return [row for table in data["tables"] if table["name"] in names for row in table["rows"]]


def notes_of(data: Mapping[str, Any], name: str) -> list[str]:
    """The notes of the first table with this name."""
    found: list[str] = next(table["notes"] for table in data["tables"] if table["name"] == name)
    return found


def figures(data: Mapping[str, Any], metric: str, type: str = "") -> dict[str, dict[str, Any]]:
    """The figures of a metric by paradigm."""
    rows = rows_of(data, "figures", "other figures")
    return {row["paradigm"]: row for row in rows if (row["metric"], row["type"]) == (metric, type)}


def as_markdown(folders: Sequence[Path], *, whole: bool = True) -> str:
    """A report as Markdown, with or without its answers."""
    runs = read_runs([Run(folder) for folder in folders])
    return markdown(report(runs), answers(runs) if whole else None)
