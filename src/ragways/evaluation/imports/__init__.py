"""Answers of other systems, made records of a run."""
