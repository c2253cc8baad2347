"""What child processes of the server do: questions in workers, and jobs."""
