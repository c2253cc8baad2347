"""`python -m ragways` is the command `ragways`."""

from ragways.apps.cli import main

main()
