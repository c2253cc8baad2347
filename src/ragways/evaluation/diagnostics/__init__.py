"""What kind of corpus an index holds."""
