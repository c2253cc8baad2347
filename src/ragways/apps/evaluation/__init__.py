"""`ragways eval`: which way answers best on questions with known answers, at what price, and can it be believed?

The commands in the order one uses them.
"""

from __future__ import annotations

import typer

from ragways.apps.evaluation.compare import compare
from ragways.apps.evaluation.duel import duel
from ragways.apps.evaluation.judge import judge
from ragways.apps.evaluation.label import agreement, label
from ragways.apps.evaluation.questions import datasets, generate, import_answers, sample
from ragways.apps.evaluation.run import retrieval, run
from ragways.apps.evaluation.score import gate, report, score

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
app.command()(label)
app.command()(agreement)
app.command()(score)
app.command()(compare)
app.command()(duel)
app.command()(report)
app.command()(gate)
