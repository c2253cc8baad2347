"""The layer of the knowledge graph: facts by rules or a model, and the view that joins them."""
