"""Retrievers for other libraries, over an index folder or a server; each behind its extra."""
