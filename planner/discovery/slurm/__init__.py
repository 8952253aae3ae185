"""Reading a Slurm cluster from the output of its own commands."""
