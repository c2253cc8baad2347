"""The neighbourhood of an entity: gathered, and drawn on one page."""
