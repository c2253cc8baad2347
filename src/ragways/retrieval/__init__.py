"""Retrieval: the steps from a question to an answer, and the paradigms that join them."""
