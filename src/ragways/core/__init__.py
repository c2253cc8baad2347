"""The nouns and the verb of ragways, and what every floor above them uses."""

__version__ = "0.1.0"
