"""VLA policies: pictures, words and the robot's own state in, a chunk of actions out.

spec       what a policy reads and writes: the content of `config.json` in its folder
actions    numbers to the range from -1 to 1 and back, and to tokens and back
body       the pictures, the instruction and the state in one transformer
tokens     the family of OpenVLA: an action is a few of 256 tokens
flow       the family of pi0, GR00T and SmolVLA: an action is what noise flows to
loading    folders, the tiny models, and how a model is fitted to an environment
llama      the layers of published policies' language models
smolvla    the layout of lerobot's SmolVLA
openvla_oft, openvla_oft_files
           the layout of OpenVLA-OFT, and its folders
"""
