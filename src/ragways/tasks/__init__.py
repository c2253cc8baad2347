"""The tasks of a language model: one constant per task, with its input, its reply and its way without a model."""
