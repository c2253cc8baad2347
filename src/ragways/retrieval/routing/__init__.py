"""The router: what is looked at, what an arm is worth on it, and which one is taken."""
