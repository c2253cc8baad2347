"""Questions made from a corpus of one's own, with gold evidence and answers: by a model, or by templates."""
