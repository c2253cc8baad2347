"""The experiments of the sources, run again on the data that one has, our figures beside the published ones."""
