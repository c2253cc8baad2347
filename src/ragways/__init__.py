"""ragways: one index of a corpus, every way of retrieval-augmented answering on top of it."""

__version__ = "0.1.0"
