from __future__ import annotations

from ragways.modules.agent import agent
from ragways.modules.agent_text import defuse
from ragways.modules.generate import answer
from ragways.modules.refine import pack
from ragways.modules.resources import Resources
from ragways.paradigms.paradigm import Count, Paradigm, Strategy, Tokens


def build(use: Resources, *, rounds: Count = 10, tools: str = "all", tokens: Tokens = 8000) -> Strategy:
    """`tools`: `all`, names joined by commas, or `-name` for all but that one."""
    from ragways.tools import TOOLS, Toolbox
    from ragways.tools.choice import chosen_tools
    from ragways.tools.plan import graph_plan

    toolbox = Toolbox(use, chosen_tools(tools, tuple(TOOLS)))
    if use.model.model is None:
        return graph_plan(toolbox) >> pack(tokens) >> answer(use) >> defuse()
    return agent(use, toolbox, rounds=rounds, tokens=tokens)


PARADIGM = Paradigm(
    name="agent-graph",
    summary="An agent with hand-written tools: it searches, reads, follows links and calculates.",
    source="A",
    needs=frozenset({"vectors"}),
    build=build,
)
