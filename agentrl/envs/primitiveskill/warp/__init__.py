"""The table in many worlds on a GPU, by MuJoCo Warp."""
