"""The layer of sentence windows: a graph of overlapping windows that traversals walk, and what it is made from."""
