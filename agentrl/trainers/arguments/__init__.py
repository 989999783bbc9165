"""Options of the trainers, one dataclass for each algorithm. None of these files needs torch, so that the command line
explains and checks options at once; what an algorithm does with them is in `agentrl.trainers.algorithms`."""
