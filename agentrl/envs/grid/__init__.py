"""What the grid worlds share: level pools, the single and the vectorised environment, pictures, sentences."""
