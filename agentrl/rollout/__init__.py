"""Playing episodes: one at a time, many for an evaluation; their records, on disk and judged afterwards."""
