"""The layers of an index: what each extracts from documents, and the views that are made of it."""
