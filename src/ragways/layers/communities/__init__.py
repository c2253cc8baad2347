"""Communities of the knowledge graph, with a report for each: `layer.py` makes them, `read.py` reads them."""
