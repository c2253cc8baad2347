"""Answering without a model: what the reader finds in evidence, what follows from it, and how sure that is."""
