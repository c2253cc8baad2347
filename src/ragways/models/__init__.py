"""The way to language models and embedders: calls and replies, the client, endpoints, and one's own objects."""
