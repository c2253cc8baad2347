"""Facts without a model: names, titles, links, boxes, tables, dates and phrases."""
