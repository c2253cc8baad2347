"""`ragways eval`: which way answers best on questions with known answers, at what price, and can it be believed?

The commands in the order one uses them; each is a function in a file of its own.
"""

from __future__ import annotations

import typer

from ragways.apps.evaluation.compare import compare
from ragways.apps.evaluation.duel import duel
from ragways.apps.evaluation.gate import gate
from ragways.apps.evaluation.judge import judge
from ragways.apps.evaluation.questions import datasets, generate, import_answers, sample
from ragways.apps.evaluation.report import report
from ragways.apps.evaluation.retrieval import retrieval
from ragways.apps.evaluation.run import run
from ragways.apps.evaluation.score import score

app = typer.Typer(
    help="Measure paradigms on questions with known answers.", no_args_is_help=True, rich_markup_mode=None
)

app.command()(datasets)
app.command()(sample)
app.command()(generate)
app.command()(retrieval)
app.command()(run)
app.command("import")(import_answers)
app.command()(judge)
app.command()(score)
app.command()(compare)
app.command()(duel)
app.command()(report)
app.command()(gate)
