"""Shards built and asked on a Ray cluster. Ray itself is an extra: `pip install 'ragways[ray]'`."""
