"""For tests of what is built on ragways: checks for plug-ins, a model that follows a script, a loopback server.

from ragways.testing import LoopbackServer, ScriptedModel, check_paradigm
"""

from ragways.testing.contracts import (
    check_dataset,
    check_embedder,
    check_layer,
    check_loader,
    check_metric,
    check_missing_layer,
    check_model,
    check_paradigm,
    small_corpus,
)
from ragways.testing.embedder import HashingEmbedder
from ragways.testing.replies import Fault
from ragways.testing.scripted import ScriptedModel, ScriptExhausted, ScriptUnfinished
from ragways.testing.server import Demands, LoopbackServer

__all__ = [
    "Demands",
    "Fault",
    "HashingEmbedder",
    "LoopbackServer",
    "ScriptExhausted",
    "ScriptUnfinished",
    "ScriptedModel",
    "check_dataset",
    "check_embedder",
    "check_layer",
    "check_loader",
    "check_metric",
    "check_missing_layer",
    "check_model",
    "check_paradigm",
    "small_corpus",
]
