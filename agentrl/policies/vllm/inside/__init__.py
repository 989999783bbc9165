"""What runs in the engine's own interpreter, which has vLLM and no agentrl.

The folder itself goes on that interpreter's path, so these files are top-level modules there (`agentrl_vllm_...`) and
import nothing of agentrl.
"""
