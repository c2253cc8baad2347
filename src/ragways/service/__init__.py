"""The service: collections behind HTTP, who may use them, and what they may cost."""
