"""The communities of an index brought up to date with its graph: changed where that changed, or found anew.

While the graph is small, all communities are found at each run, so that they are those of a fresh build. In a larger
one they are changed (`community_changes.py`), and found anew when so many members have come, gone or moved since they
last were that another partition may be better.
"""

from __future__ import annotations

import json
from array import array
from dataclasses import asdict, dataclass

from ragways.core.runtime import Progress
from ragways.core.types import content_hash
from ragways.index.communities.community_changes import CommunityChange
from ragways.index.communities.community_rows import CommunityRows
from ragways.index.communities.entity_links import EntityLinks
from ragways.index.communities.partition import hierarchy
from ragways.index.communities.report_texts import ReportTexts, kept_reports
from ragways.index.graph.graph_rows import Touched
from ragways.index.graph.layer import tables_of
from ragways.index.graph.relation_ends import RelationEnds
from ragways.index.layer import BuildContext
from ragways.index.settings import CommunitySettings

SMALL = 3000
"""Members of a graph whose communities are all found anew at each run."""
MUCH = 0.2
"""The share of members that may come, go or move until all communities are found anew."""
KIND = "communities_kind"
"""Where the store keeps the kind of result that holds the reports of models; empty where rules write them."""
_STATE = "communities_state"
_FORMAT = "3"
"""Changes when communities are found, or reports written by rules, in another way."""


@dataclass(frozen=True)
class _State:
    """How the communities of the store were made, for which generation, how many members they have, how strong those
    are together, and how many came, went or moved since all communities were found.
    """

    made: str = ""
    generation: str = ""
    members: int = 0
    strength: int = 0
    moved: int = 0


def communities_of(context: BuildContext) -> CommunityRows:
    """The communities of the graph, in the store. Of those that changed the reports are owed. Ask for it by
    `context.once`.
    """
    tables = context.once(tables_of)
    settings = context.settings_of("communities", CommunitySettings)
    store, meta = context.store, context.store.meta()
    rows, generation = CommunityRows(store.db), meta["generation"]
    made = content_hash(_FORMAT, settings.model_dump_json(), meta.get(KIND, ""))
    state = _State(**json.loads(meta.get(_STATE, "{}")))
    if state.made == made and state.generation == generation and not context.doubted:
        return rows
    touched = tables.touched
    links = context.once(links_of)
    follows = state.made == made and state.generation == str(int(generation) - 1) and touched is not None
    # They were found by the arrays of before: where these are damaged, nobody knows since when.
    follows &= context.changes is not None
    if follows and touched is not None:
        much = state.members <= SMALL or state.moved + len(touched.entities) > MUCH * state.members
        state = _found(rows, links, settings) if much else _changed(rows, links, settings, state, touched)
        rows.alter(touched.entities | {end for link in touched.links for end in link} | _named(context))
        # Of what was found anew it is not known how strong members were; and a model is shown more of a community.
        if much or meta.get(KIND, ""):
            rows.owe()
        else:
            texts = ReportTexts(store.db, links.ends, rows)
            rows.owe(kept_reports(texts, links, settings.members, touched.relations | touched.stated))
    else:
        context.progress(Progress("finding communities", 0))
        state = _found(rows, links, settings)
        store.db.execute("UPDATE communities SET owed = 1")
    store.set_meta({_STATE: json.dumps(asdict(state) | {"made": made, "generation": generation})})
    return rows


def links_of(context: BuildContext) -> EntityLinks:
    """What joins the entities of the graph as it is now. Ask for it by `context.once`."""
    touched, db = context.once(tables_of).touched, context.store.db
    if touched is None or context.before is None:
        return EntityLinks(db)
    return EntityLinks(db, RelationEnds(db, context.before, touched))


def _changed(
    rows: CommunityRows, links: EntityLinks, settings: CommunitySettings, state: _State, touched: Touched
) -> _State:
    change = CommunityChange(rows, links, settings, state.strength, touched)
    change.run()
    return _State(members=state.members + change.more, strength=change.total, moved=state.moved + change.moved)


def _found(rows: CommunityRows, links: EntityLinks, settings: CommunitySettings) -> _State:
    arrays = links.whole()
    groups = hierarchy(arrays.links, arrays.ids, size=settings.size, resolution=settings.resolution, seed=settings.seed)
    rows.fill(arrays, groups)
    return _State(members=int((arrays.strengths > 0).sum()), strength=int(arrays.strengths.sum()))


def _named(context: BuildContext) -> set[int]:
    """What the documents name that came or changed: of those that name the same as before the words may be others."""
    found: set[int] = set()
    for number in context.changed_documents.fresh if context.changed_documents is not None else ():
        query = "SELECT entities FROM graph_contents WHERE document = ?"
        for (entities,) in context.store.db.execute(query, (number,)):
            found.update(array("q", entities))
    return found
