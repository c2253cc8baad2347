"""For tests of what is built on ragways: a model that follows a script, and a server that costs nothing.

from ragways.testing import Fault, LoopbackServer, ScriptedModel
"""

from ragways.testing.replies import Fault
from ragways.testing.scripted import ScriptedModel, ScriptExhausted, ScriptUnfinished
from ragways.testing.server import LoopbackServer

__all__ = ["Fault", "LoopbackServer", "ScriptExhausted", "ScriptUnfinished", "ScriptedModel"]
