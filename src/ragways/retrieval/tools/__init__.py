"""Hand-written tools over an index, for an agent of ours or of anyone's: no query is ever written by a model."""
