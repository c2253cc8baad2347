"""`ragways model check`: what works at the endpoint that is set, and what is remembered of it."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from ragways.apps.terminal import JsonOption, print_json, show_table, with_settings
from ragways.core.errors import ModelError, NoModel, UsageError
from ragways.core.table import Table
from ragways.core.text import counted

if TYPE_CHECKING:
    from ragways.models.check import EndpointReport, Probe
    from ragways.models.dialect import Dialect
    from ragways.settings import RoleSettings, Settings

app = typer.Typer(help="The language model that is set.", no_args_is_help=True, rich_markup_mode=None)

HOW_TO_SET_ONE = (
    "no model is set; set one in one of these ways (docs/models.md):",
    "  ragways model check --provider ollama --model llama3.2",
    "  export RAGWAYS_MODEL__PROVIDER=openai RAGWAYS_MODEL__NAME=NAME OPENAI_API_KEY=KEY",
    '  in ragways.toml: [model], provider = "openrouter", name = "NAME"',
)


@app.callback()
def _model() -> None:
    """The language model that is set."""


@app.command()
@with_settings("model")
def check(
    chosen: Settings,
    forget: Annotated[
        bool, typer.Option("--forget", help="Only forget what was learnt of this endpoint; nothing is asked.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Make one small call of each kind to the model, and report what works and what it cost."""
    if not chosen.model.name and not chosen.model.base_url:
        typer.echo("\n".join(HOW_TO_SET_ONE), err=True)
        raise typer.Exit(NoModel.exit_code)
    if forget:
        _forget(chosen)
        return
    reports = asyncio.run(_checked(chosen))
    if json:
        plain = {role: _plain(model, report) for role, (model, report) in reports.items()}
        print_json(plain.pop("") | ({"roles": plain} if plain else {}))
    else:
        for role, (model, report) in reports.items():
            _show(chosen, role, model, report)
    if not all(report.answers for _, report in reports.values()):
        raise typer.Exit(ModelError.exit_code)


def _plain(model: RoleSettings, report: EndpointReport) -> dict[str, object]:
    return {
        "model": model.name,
        "provider": model.provider,
        "base_url": model.base_url,
        "probes": [asdict(probe) for probe in report.probes],
        "remembered": asdict(report.dialect) if report.answers and report.dialect else None,
        "usage": asdict(report.usage),
        "usd": None if report.usd is None else round(report.usd, 6),
    }


def _forget(settings: Settings) -> None:
    from ragways.models.dialect import DialectMemory

    memory = DialectMemory(settings.cache)
    there = [memory.forget(one.base_url, one.name) for one in (settings.model, *settings.model.roles.values())]
    typer.echo("forgotten" if any(there) else "nothing was remembered of this model there")


async def _checked(settings: Settings) -> dict[str, tuple[RoleSettings, EndpointReport]]:
    """The model that is set, and those of roles by their names."""
    from dataclasses import replace

    from ragways.assemble import client_of, prices_of
    from ragways.models.check import check_endpoint
    from ragways.models.endpoint import Endpoint
    from ragways.models.ollama import OllamaModel
    from ragways.models.providers import PROVIDERS

    reports: dict[str, tuple[RoleSettings, EndpointReport]] = {}
    async with client_of(settings) as client:
        for role, chosen in {"": settings.model, **settings.model.roles}.items():
            model = client.of(role).model
            if not isinstance(model, Endpoint | OllamaModel):
                raise UsageError(f"model.kind is {chosen.kind}, not endpoint", "only endpoints can be checked")
            start = PROVIDERS[chosen.provider].dialect if chosen.provider else None
            report = await check_endpoint(model, start=start, prices=prices_of(settings), patience=chosen.patience)
            if report.answers and not role:
                report = replace(report, probes=(*report.probes, await _embeddings(settings)))
            reports[role] = chosen, report
    return reports


async def _embeddings(settings: Settings) -> Probe:
    """By the embedder that is set, else by the model's own endpoint."""
    from ragways.assemble import extras_of
    from ragways.models.check import Probe, check_embeddings
    from ragways.models.providers import PROVIDERS

    chosen = settings.embedder if settings.embedder.kind == "endpoint" else settings.model
    if chosen.provider and not PROVIDERS[chosen.provider].embeddings:
        return Probe("embeddings", None, f"{chosen.provider} has none; the built-in embedder needs no endpoint")
    return await check_embeddings(chosen.base_url, chosen.key.get_secret_value(), chosen.name, extras_of(chosen))


def _show(settings: Settings, role: str, model: RoleSettings, report: EndpointReport) -> None:
    works = {True: "yes", False: "no", None: "–"}
    usage = report.usage
    cost = "price unknown" if report.usd is None else f"${report.usd:.6f}"
    reasoning = f" ({usage.reasoning:,} of reasoning)" if usage.reasoning else ""
    kept = f"; in {settings.cache / 'endpoints.json'}, forgotten by --forget"
    notes = [
        *([f"remembered: {_in_words(report.dialect)}{kept}"] if report.dialect else []),
        f"cost: {counted(usage.calls, 'call')}, {counted(usage.input, 'token')} in, "
        f"{usage.output:,} out{reasoning}, {cost}",
    ]
    rows = [(probe.name, works[probe.works], probe.note) for probe in report.probes]
    title = f"{f'model.{role}: ' * bool(role)}{model.name} at {model.base_url}"
    show_table(Table.of(("call", "works", "what came of it"), rows, title=title, notes=notes if report.answers else ()))


def _in_words(dialect: Dialect) -> str:
    from ragways.models.check import NAMES

    left_out = [name for name in ("temperature", "top_p", "seed", "effort") if not getattr(dialect, name)]
    parts = [NAMES[dialect.form], dialect.limit, *(f"no {name}" for name in left_out)]
    return ", ".join([*parts, *({"no": ["no streams"], "plain": ["streams without usage"]}.get(dialect.stream, []))])
