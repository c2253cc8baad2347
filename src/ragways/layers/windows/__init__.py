"""Windows of sentences: vectors of windows and sentences, themes of documents, and edges between the most similar."""
