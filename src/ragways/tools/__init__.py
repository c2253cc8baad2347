"""Hand-written tools over an index, for an agent of ours or of anyone's: no query is ever written by a model."""

from ragways.tools.error import ToolError
from ragways.tools.toolbox import TOOLS, Toolbox

__all__ = ["TOOLS", "ToolError", "Toolbox"]
