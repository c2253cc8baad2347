"""The one table of experiments that can be run again."""

from __future__ import annotations

from ragways.core.errors import UsageError, did_you_mean
from ragways.evaluation.reproduce.agentic import AGENTIC
from ragways.evaluation.reproduce.experiment import Experiment
from ragways.evaluation.reproduce.router_bench import ROUTER_BENCH
from ragways.evaluation.reproduce.thesis import THESIS
from ragways.evaluation.reproduce.unbiased import UNBIASED
from ragways.evaluation.reproduce.windows import WINDOWS

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment for experiment in (THESIS, ROUTER_BENCH, WINDOWS, AGENTIC, UNBIASED)
}


def find_experiment(name: str) -> Experiment:
    if name not in EXPERIMENTS:
        raise UsageError(f"there is no experiment {name!r}", did_you_mean(name, EXPERIMENTS))
    return EXPERIMENTS[name]
