"""The way to an answer as one HTML file that needs nothing else: no network, no script, every word escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from ragways.apps.picture.walk import Journey, Picture, Reach, Visit
from ragways.apps.picture.walk_drawing import journey_drawing, lanes, measured, reach_drawing
from ragways.apps.picture.walk_text import cost, facts
from ragways.core.text import printable
from ragways.core.trace import Span
from ragways.pictures.shell import page_file, shell

if TYPE_CHECKING:
    from ragways.retrieval.ask import Result

_PASSAGE = 240  # characters of a passage that are shown


def walk_page(results: Sequence[tuple[Result, Sequence[Picture]]]) -> str:
    """A section for each answer: the answer, the pictures of its walks, and its steps."""
    question = results[0][0].question
    contents = _contents([result for result, _ in results])
    sections = "\n".join(_section(result, pictures) for result, pictures in results)
    body = f"<header><h1>{said(question)}</h1>{contents}</header>\n<main>{sections}</main>"
    # No script at all.
    title = printable(f"{question[:80]}: the way to the answer")
    return shell(title, body, style=page_file("walk.css"))


def said(text: str) -> str:
    """Text of a document or a model as it may stand on the page."""
    return escape(printable(text))


def _contents(results: Sequence[Result]) -> str:
    if len(results) < 2:
        return ""
    names = [said(result.paradigm) for result in results]
    return f"<nav>{''.join(f'<a href=#{name}>{name}</a>' for name in names)}</nav>"


def _section(result: Result, pictures: Sequence[Picture]) -> str:
    evidence = result.answer.evidence
    found = f"{len(evidence.items):,} pieces of evidence, {evidence.tokens:,} tokens"
    drawn = "".join(_journey(each) if isinstance(each, Journey) else _reach(each) for each in pictures)
    return (
        f'<section id="{said(result.paradigm)}"><h2>{said(result.paradigm)}</h2>'
        f'<p class="answer">{said(result.answer.text)}</p>'
        f'<p class="soft">{said(found)} · {said(cost(result.trace))} · {said(result.answer.way)}</p>'
        f"{drawn}<h3>Steps</h3>{_steps(result.trace.children)}</section>"
    )


def _journey(journey: Journey) -> str:
    colours = lanes(journey)
    visits = "".join(_visit(number, visit, colours) for number, visit in enumerate(journey.visits, start=1))
    return (
        f"<h3>The walk: {len(journey.visits)} windows</h3>"
        f'<div class="frame">{journey_drawing(journey, said)}</div>'
        f'<ol>{visits}</ol><p class="soft">It stopped: {said(journey.stopped)}.</p>'
    )


def _visit(number: int, visit: Visit, colours: dict[str, int]) -> str:
    lines = []
    for sentence in visit.sentences:
        near = f' <span class="soft">{sentence.similarity:.3f}</span>' if sentence.similarity is not None else ""
        text = said(sentence.text)
        lines.append(f"<mark>{text}</mark>{near}" if sentence.gathered else f'<span class="left">{text}</span>')
    return (
        f'<li class="visit c{colours[visit.title] % 6}"><b>{number}. {said(visit.title)}</b>'
        f'<span class="soft">{measured(visit.similarity)} · {said(visit.why)} · {said(visit.window)}</span>'
        f"<p>{' '.join(lines)}</p></li>"
    )


def _reach(reach: Reach) -> str:
    rows = "".join(
        f'<li class="visit passage"><b>{said(node.name)}</b>'
        f'<span class="soft">{node.score:.4f} · {said(node.id)}</span>'
        f"<p>{said(node.text[:_PASSAGE])}{'…' if len(node.text) > _PASSAGE else ''}</p></li>"
        for node in reach.passages
    )
    return (
        f'<h3>PageRank: {said(reach.name)}</h3><div class="frame">{reach_drawing(reach, said)}</div>'
        f"<h3>Passages reached</h3><ol>{rows}</ol>"
    )


def _steps(steps: Sequence[Span]) -> str:
    return f"<ol>{''.join(_step(step) for step in steps)}</ol>" if steps else ""


def _step(step: Span) -> str:
    way = f" · {said(step.way)}" if step.way else ""
    ends = "".join(
        f"<dt>{word}</dt><dd>{said(str(step.details[key]))}</dd>"
        for key, word in (("input", "in"), ("output", "out"))
        if step.details.get(key)
    )
    wrong = f'<p class="wrong">{said(step.error)}</p>' if step.error else ""
    return (
        f'<li class="step"><b>{said(step.name)}</b> <span class="soft">{said(cost(step))}{way}</span>'
        f'<div class="soft">{said(facts(step, {}))}</div><dl>{ends}</dl>{wrong}{_steps(step.children)}</li>'
    )
