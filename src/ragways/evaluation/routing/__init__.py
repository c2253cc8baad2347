"""Routers: fitted on the records of runs, certified, and held against policies that are simpler."""
