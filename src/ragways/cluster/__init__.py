"""Work of an index on a Ray cluster. Ray itself is an extra: `pip install 'ragways[ray]'`."""
