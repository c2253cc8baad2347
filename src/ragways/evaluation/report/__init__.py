"""What a reader needs to believe a run: every figure, and every answer behind it, as data, as Markdown, as a page."""
