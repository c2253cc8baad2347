"""The report of runs as one page: no network, no library, no word of a document as code."""
