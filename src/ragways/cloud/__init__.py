"""Indexes at a URL of an object store. Its client is an extra: `pip install 'ragways[cloud]'`."""
