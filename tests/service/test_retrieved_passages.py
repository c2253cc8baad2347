"""What retrievers of other libraries get from a server is what they get from the folder of its index."""

from __future__ import annotations

import asyncio

import pytest

from ragways.core.errors import RagwaysError
from ragways.integrations.passages import PassageSource
from ragways.settings import Settings
from tests.service.conftest import RunningServer

HOW = ("Who designed the Pell Rock Lighthouse?", "hybrid-words", 'title~"Lighthouse"', {"k": 3})


def test_a_server_gives_what_the_folder_gives(demo_server: RunningServer, demo_name: str, demo_settings: Settings):
    remote = PassageSource(url=demo_server.url, collection=demo_name, key="not looked at")
    found = remote.find(*HOW)
    assert found == PassageSource(index=str(demo_settings.index)).find(*HOW) == asyncio.run(remote.afind(*HOW))
    assert len(found) == 3
    assert all("Lighthouse" in str(each.metadata["title"]) for each in found)


def test_what_a_server_refuses_is_said_with_its_cure(demo_server: RunningServer, demo_name: str):
    with pytest.raises(RagwaysError, match="404: there is no such collection"):
        PassageSource(url=demo_server.url, collection="other").find(*HOW)
    with pytest.raises(RagwaysError, match=r"400: .*fusedd"):
        PassageSource(url=demo_server.url, collection=demo_name).find(HOW[0], "fusedd", None, {})
