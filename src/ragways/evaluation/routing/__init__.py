"""Routers: fitted on the records of runs, certified, and compared with simpler policies."""
