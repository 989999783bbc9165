"""The examples of help texts: the only place of the command line that names environments and recipes."""

OVERVIEW = """examples:
  agentrl list
  agentrl play agentrl/Sokoban-Visual-v0
  agentrl eval agentrl/FrozenLake-Text-v0 agentrl/Sokoban-Text-v0 --policy random --policy oracle --output runs/eval
  agentrl train --recipe frozenlake-demo"""

TRAIN = """examples:
  agentrl train sft --prompt-style step --optimiser muon --lr 0.02 --output runs/imitation
  agentrl train steppo --model runs/imitation/checkpoints/step_20/policy --lr 1e-3 --critic shared --eval-every 10
  agentrl train --recipe frozenlake-demo --output runs/lake --rl.iterations 20"""
