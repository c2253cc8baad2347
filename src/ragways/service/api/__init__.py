"""The routes of the service, a file a subject."""
