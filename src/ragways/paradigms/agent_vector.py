from __future__ import annotations

from ragways.modules.agent import agent
from ragways.modules.agent_text import defuse
from ragways.modules.generate import answer
from ragways.modules.refine import pack
from ragways.modules.resources import Resources
from ragways.paradigms.paradigm import Count, Paradigm, Strategy, Tokens

_TOOLS = ("chunk_search", "calculator")


def build(use: Resources, *, rounds: Count = 10, tools: str = "all", tokens: Tokens = 8000) -> Strategy:
    """`tools`: `all`, names joined by commas, or `-name` for all but that one."""
    from ragways.tools import Toolbox
    from ragways.tools.choice import chosen_tools
    from ragways.tools.plan import vector_plan

    toolbox = Toolbox(use, chosen_tools(tools, _TOOLS))
    if use.model.model is None:
        return vector_plan(toolbox) >> pack(tokens) >> answer(use) >> defuse()
    return agent(use, toolbox, rounds=rounds, tokens=tokens)


PARADIGM = Paradigm(
    name="agent-vector",
    summary="An agent that searches by meaning, as often as it needs, and calculates.",
    source="A",
    needs=frozenset({"vectors"}),
    build=build,
)
