"""Derived files that are what was written: looked at before they are read, and made again where they are not."""

from __future__ import annotations

import logging
from contextlib import closing
from pathlib import Path

from ragways.core.errors import NoIndex, StoreBusy, StoreDamaged, StoreError
from ragways.index.folder import damaged_parts, is_current
from ragways.index.shards import MISSING, ShardList, state_in
from ragways.index.store import Store, derived_folder


def sound_derived(index: Path, generation: int, layer: str) -> Path:
    """The folder of derived files of an index. Those of this layer are what was written: where they are not, all are
    made again from the store, and a line says so.
    """
    from ragways.index.layers import LAYERS
    from ragways.index.run import rebuild_derived

    folder, patterns = derived_folder(index, generation), LAYERS.find(layer).patterns
    overtaken = StoreBusy("the index was rebuilt while it was being read", "ask again")
    if folder.is_dir() and (damaged := damaged_parts(folder, patterns)):
        if state_in(index)[0] != generation:
            raise overtaken  # only files of the last commit can be made again
        try:
            rebuild_derived(index)
        except StoreError as error:
            raise StoreDamaged(
                f"{folder / damaged[0]} is damaged, and could not be made again ({error.message})", error.cure
            ) from error
        logging.getLogger("ragways").warning("ragways: %s was damaged, and is made again", folder / damaged[0])
        if damaged_parts(folder, patterns):
            raise overtaken
    if not folder.is_dir():
        raise overtaken
    return folder


def sound_shard(index: Path, generation: int, layer: str) -> Path:
    """The same of a shard. It is not opened before it is asked, so files that are gone, or of an older format, are made
    again here.
    """
    from ragways.index.run import rebuild_derived

    if not index.is_dir():
        raise NoIndex(f"{index} is missing", MISSING)
    if not is_current(index, generation) and state_in(index)[0] == generation:
        rebuild_derived(index)
    try:
        return sound_derived(index, generation, layer)
    except StoreBusy as error:
        if not _is_shown(index, generation):
            raise
        raise StoreDamaged(
            f"{index} has not all files of generation {generation}, which belongs to the index, and holds another",
            "bring it up to date with: ragways index PATH",
        ) from error


def _is_shown(shard: Path, generation: int) -> bool:
    """Whether the index that a shard is part of shows this generation of it now."""
    folder = shard.parent.parent
    with closing(Store.open(folder)) as store:
        shards = ShardList.of(folder, store.meta())
    number = int(shard.name)
    return shards is not None and number < len(shards) and shards.generations[number] == generation
