"""Several processes: ranks, sharded weights, rows and episodes shared out."""
