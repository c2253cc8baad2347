"""Whether an index is fit: what must hold, looked at one part at a time."""
