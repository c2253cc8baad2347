"""The rows of an index: documents, their parts, and the facts that layers extracted from them."""
