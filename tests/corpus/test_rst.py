"""reStructuredText as Sphinx documentation has it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.corpus.layout import anchors, read_text, survives

PAGE = """\
.. _top:

============
``Tide`` API
============

.. module:: harbour.tide
   :synopsis: Not text.

.. toctree::
   :maxdepth: 2

   intro
   other

.. contents::
.. comment that is
   long

.. note::

    Read :doc:`the guide </topics/guide>` and :ref:`places-of-tide`, or :ref:`top`.

.. versionadded:: 3.2
    The ``flow`` argument was added.

Methods
=======

.. class:: Tide(place, *, flow=None)

    A tide at a :class:`~harbour.Place`, see :meth:`!Tide.rise` and `Wells`_.

    .. method:: rise(hours=6)
                rise_all()

        Let it rise::

            >>> tide.rise()

            5

        .. code-block:: console
            :caption: no text

            $ tide --rise
        .. admonition:: Careful

            It is wet.

.. setting:: TIDE

``TIDE``
--------

Default
    ``5`` and |name|\\s. See [1]_ and :pep:`8`.

:param hours: how long

1. One
   and a half

   More.
2. Two

+------+-------+
| Name | Depth |
+======+=======+
| East | 5 m   |
| quay |       |
+------+-------+

.. |name| replace:: metre
.. [1] A footnote.
.. _Wells: wells.rst
"""


def test_what_sphinx_writes(tmp_path: Path):
    document = read_text(tmp_path, "a.rst", PAGE)
    assert document.title == "Tide API"
    assert document.text.split("\n\n") == [
        "Note: Read the guide and places of tide, or Tide API.",
        "Added in version 3.2: The flow argument was added.",
        "Methods",
        "Tide(place, *, flow=None)",
        "A tide at a Place, see Tide.rise and Wells.",
        "Tide.rise(hours=6)",
        "rise_all()",
        "Let it rise:",
        ">>> tide.rise()\n5",
        "$ tide --rise",
        "Careful",
        "It is wet.",
        "TIDE",
        "Default\n5 and metres. See and PEP 8.",
        "param hours: how long",
        "One and a half\nMore.\nTwo",
        "Name | Depth\nEast quay | 5 m",
        "1: A footnote.",
    ]
    assert [(heading.title, heading.level) for heading in document.headings] == [
        ("Methods", 2), ("Tide(place, *, flow=None)", 3), ("Tide.rise(hours=6)", 4), ("TIDE", 3),
    ]  # fmt: skip
    assert anchors(document) == [("the guide", "guide"), ("Wells", "wells")]


def test_a_signature_of_several_lines_is_one(tmp_path: Path):
    written = "Doc\n===\n\n.. class:: Tide(place, *, \\\n                flow=None)\n\n   It rises.\n"
    assert read_text(tmp_path, "a.rst", written).text.split("\n\n") == ["Tide(place, *, flow=None)", "It rises."]


def test_a_version_alone_leads_to_nothing(tmp_path: Path):
    written = "Doc\n===\n\n.. versionadded:: 2.0\n\n.. versionadded:: 3.0 With tides.\n"
    assert read_text(tmp_path, "a.rst", written).text.split("\n\n")[-2:] == [
        "Added in version 2.0.",
        "Added in version 3.0: With tides.",
    ]


def test_plain_text_that_is_written_in_it_is_read_so(tmp_path: Path):
    document = read_text(tmp_path, "a.txt", "Tides\n=====\n\n.. note:: Wet.\n\nSee :class:`Tide`.\n")
    assert (document.title, document.text) == ("Tides", "Note: Wet.\n\nSee Tide.")
    plain = "Tides\n=====\n\nSome words: *not* markup.\n"
    assert read_text(tmp_path, "b.txt", plain).text == "Tides\n=====\n\nSome words: *not* markup."


def test_nothing_is_read_from_elsewhere(tmp_path: Path):
    (tmp_path / "secret.txt").write_text("hunter2")
    markup = (
        "Ab\n==\n\n.. include:: secret.txt\n.. literalinclude:: secret.txt\n.. raw:: html\n   :file: secret.txt\n\n"
        ".. csv-table:: T\n   :file: secret.txt\n\nEnd.\n"
    )
    assert read_text(tmp_path, "a.rst", markup).text == "T\n\nEnd."


@pytest.mark.parametrize(
    "unit",
    [
        "*a ",
        "`a ",
        "a_ ",
        ":a",
        "|a ",
        "* ",
        "= =\n",
        "== ==\nx\n\n",
        ".. a::\n",
        ".. _a:\n",
        "a\n==\n",
        "::\n\n ",
        "``",
    ],
)
def test_marks_without_end_are_quick(tmp_path: Path, unit: str):
    path = tmp_path / "a.rst"
    path.write_text(unit * (40_000 // len(unit)))
    started = time.process_time()
    survives(path)
    assert time.process_time() - started < 30, "it takes 2 s where nothing else runs"
