"""Communities of the knowledge graph, a report for each: `layer.py` builds them, `reader.py` reads them."""
