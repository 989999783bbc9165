"""The algorithms, one file each: a dataclass of arguments and `train(arguments)`."""
