"""The knowledge graph: entities and relations of the corpus, with the chunks they came from."""
