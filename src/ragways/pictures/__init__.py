"""Pages of HTML that show what an index, an answer or an evaluation holds. Each is one file that needs nothing else."""
