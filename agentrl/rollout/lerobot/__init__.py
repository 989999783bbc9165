"""LeRobotDataset v3: episodes of continuous control in the files of lerobot, written and read without it.

    DIR/meta/info.json                        features, sizes, frames a second; under "agentrl" where it comes from
    DIR/meta/stats.json                       what policies normalise by
    DIR/meta/tasks.parquet                    the instructions, by number
    DIR/meta/episodes/chunk-000/file-000.parquet   where each episode lies, and its own statistics
    DIR/data/chunk-000/file-000.parquet       one row a frame

A frame is what was seen and the action that was then played. One camera is `observation.image`, several are
`observation.images.image`, `observation.images.image2` and so on, in the order of the environment's observation;
`proprio` is `observation.state`, `state` is `observation.environment_state`. Pictures are PNGs inside the rows, so that
nothing is lost and no codec is needed; videos are read as well.
"""

from agentrl.rollout.lerobot.read import read_lerobot
from agentrl.rollout.lerobot.write import Written, write_lerobot

__all__ = ["Written", "read_lerobot", "write_lerobot"]
