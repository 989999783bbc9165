"""One update: rows and batches, advantages, losses, the learner that takes the optimiser steps."""
