"""A plug-in for ragways: a paradigm, a layer, a loader, a metric, a data set, an embedder and a model."""
