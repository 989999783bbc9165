"""Many copies of a robot's world on a GPU, by MuJoCo Warp."""
