"""LIBERO: 130 manipulation tasks of a Panda arm, in scenes built from the task files with object models of our own."""
