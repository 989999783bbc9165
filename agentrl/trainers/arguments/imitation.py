"""Options of the algorithms that learn from given answers: imitation, and judges of outcomes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from agentrl.core.arguments import finite_number, whole_number
from agentrl.core.errors import ConfigError, did_you_mean
from agentrl.policies import KINDS
from agentrl.rollout.demonstrations import PLAYERS
from agentrl.trainers.arguments.checks import fraction, not_negative
from agentrl.trainers.arguments.run import RunArguments


@dataclass(kw_only=True)
class SFT(RunArguments):
    """Imitate demonstrations."""

    lr: float = 1e-5
    """Learning rate."""
    iterations: int = 20
    """How many iterations of `steps_per_iteration` optimiser steps."""
    steps_per_iteration: int = 20
    """Optimiser steps of an iteration."""
    batch_size: int = 32
    """Demonstrations of an optimiser step."""
    demonstrations: int = 2000
    """Episodes to demonstrate."""
    player: str = "oracle"
    """Who demonstrates: oracle, or a scripted policy by its name, such as alfworld-search, which does not know the
    truth and so teaches to search. All its episodes are imitated, those without success as well."""
    mistake_rate: float = 0.0
    """Share of the demonstrated turns that are wrong."""
    mistake_kind: Literal["random", "hasty"] = "random"
    """Wrong turns are random ones, or repeat the first right action for the whole turn."""
    description_noise: float = 0.0
    """With a strategy: share of the demonstrated turns whose observation and prediction tell of another state."""
    word_substitution: float = 0.0
    """Share of the sequences whose words are exchanged for others, each time anew and the same ones in prompt and
    reply, so that a small model learns to copy names instead of knowing them; for tokenizers whose tokens are words."""
    data: str = ""
    """Learn from this trajectory file instead (JSON lines or parquet, with token ids of the same tokenizer)."""
    save_demonstrations: bool = False
    """Write the demonstrations to RUN/demonstrations.jsonl, for WebRL's replay buffer (replay_demonstrations)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("steps_per_iteration", "batch_size", "demonstrations"):
            whole_number(name, getattr(self, name), at_least=1)
        scripted = [name for name, kind in KINDS.items() if kind.argument is None]
        if self.player not in scripted:
            hint = did_you_mean(self.player, scripted) if isinstance(self.player, str) else ""
            raise ConfigError(f"player must be one of {', '.join(scripted)}; got {self.player!r}.{hint}")
        fraction("mistake_rate", self.mistake_rate)
        fraction("description_noise", self.description_noise)
        fraction("word_substitution", self.word_substitution)


@dataclass(kw_only=True)
class BC(RunArguments):
    """Imitate demonstrations of a robot."""

    model: str = "tiny-vla"
    """A VLA policy to go on from, tiny-vla or small-vla, or the folder of a language model to make one around."""
    family: Literal["auto", "tokens", "flow"] = "auto"
    """Of a new policy: actions are tokens, or what noise flows to. auto: as the model is, tokens for a new one."""
    decoder: Literal["auto", "parallel", "autoregressive"] = "auto"
    """Of a new policy of tokens: all tokens of a chunk in one pass (auto), or one after the other."""
    noise_kind: Literal["auto", "flow_sde", "flow_noise"] = "auto"
    """Of a new policy of flows, for reinforcement learning later: one denoising step is random (auto), or all are."""
    chunk: int = 0
    """Of a new policy: actions at a time; 0: as the model is, 5 for a new one."""
    cameras: tuple[str, ...] = ()
    """Of a new policy: pictures of the observation to look at; default: all."""
    prompt_style: Literal["conversation", "step"] = "step"
    """A VLA policy is shown the present observation."""
    history: int = 0
    """And no past actions."""
    demonstrations: int = 100
    """Episodes to demonstrate, by the environment's own oracle; those without success are not learned from."""
    noise: float = 0.1
    """Standard deviation of the noise in what is demonstrated; what is learned has none, so that a policy learns to
    come back from small errors."""
    data: str = ""
    """Learn from this folder with a LeRobotDataset instead; its cameras and vectors must be those of env."""
    held_out: float = 0.1
    """Share of the episodes that is not learned from, to measure the loss after every iteration."""
    lr: float = 1e-3
    """Learning rate."""
    schedule: Literal["constant", "linear", "cosine"] = "cosine"
    """Learning rate schedule after the warm-up."""
    warmup: int = 50
    """Optimiser steps until the learning rate is reached."""
    weight_decay: float = 1e-4
    """Of the optimiser."""
    iterations: int = 20
    """How many iterations of `steps_per_iteration` optimiser steps."""
    steps_per_iteration: int = 100
    """Optimiser steps of an iteration."""
    batch_size: int = 64
    """Moments of an optimiser step."""
    shift: int = 3
    """Pixels by which each picture is moved at random, edges repeated."""
    brightness: float = 0.1
    """How far brightness and contrast of each picture are changed at random, as a share."""
    eval_modes: tuple[Literal["sampled", "greedy"], ...] = ("greedy",)
    """Measure with drawn actions, with the likeliest (a flow: without noise), or both."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("demonstrations", "steps_per_iteration", "batch_size"):
            whole_number(name, getattr(self, name), at_least=1)
        whole_number("chunk", self.chunk, at_least=0, at_most=1000)
        whole_number("shift", self.shift, at_least=0, at_most=64)
        fraction("held_out", self.held_out)
        fraction("brightness", self.brightness)
        not_negative(self, "noise")

    def form(self) -> dict[str, Any]:
        """The parts of the policy's spec that are asked for."""
        asked = {"family": self.family, "decoder": self.decoder, "noise": self.noise_kind}
        found: dict[str, Any] = {name: value for name, value in asked.items() if value != "auto"}
        found |= {"chunk": self.chunk} if self.chunk else {}
        return found | ({"cameras": self.cameras} if self.cameras else {})


@dataclass(kw_only=True)
class ORM(RunArguments):
    """Train a judge of outcomes."""

    lr: float = 5e-6
    """Learning rate."""
    schedule: Literal["constant", "linear", "cosine"] = "cosine"
    """Learning rate schedule after the warm-up."""
    warmup_ratio: float = 0.1
    """Share of the optimiser steps until the learning rate is reached, where `warmup` gives no number of steps."""
    iterations: int = 4
    """Passes over the episodes."""
    batch_size: int = 32
    """Episodes of an optimiser step."""
    data: tuple[str, ...] = ()
    """Learn from these trajectory files (JSON lines or parquet), labelled by the success in them."""
    players: tuple[str, ...] = PLAYERS
    """Without data: who plays the episodes to learn from. Policies by name (oracle, random, hf:FOLDER ...), and the
    oracle with a share of mistakes: random:0.3, hasty:0.5."""
    episodes: int = 500
    """Without data: episodes of each player."""
    mismatched_negatives: float = 0.25
    """Further failures, as a share of the successes: a success with the instruction of another task."""
    word_substitution: float = 0.0
    """Share of the episodes whose words and numbers are exchanged for others, new ones in every iteration, so that a
    small model compares page and instruction instead of learning names by heart. For word-level tokenizers."""
    balance: bool = True
    """Weigh successes and failures so that both count for half of the loss."""
    held_out: float = 0.1
    """Share of the tasks whose episodes are not learned from, to measure the accuracy after every iteration."""
    form: Literal["auto", "full", "compact"] = "auto"
    """How the model is asked: in full, as an endpoint is, or by the parts alone. auto: compact for models of fewer than
    20 million parameters, which are trained from scratch."""
    max_text: int = 4000
    """Characters of the instruction and of the answer that are read."""
    max_actions: int = 6000
    """Characters of the history, counted from its end."""
    max_page: int = 12_000
    """Characters of the last page."""

    def __post_init__(self) -> None:
        from agentrl.judges.outcome_form import LEAST

        super().__post_init__()
        for name in ("batch_size", "episodes"):
            whole_number(name, getattr(self, name), at_least=1)
        for name in ("max_text", "max_actions", "max_page"):
            whole_number(name, getattr(self, name), at_least=LEAST)
        for name in ("warmup_ratio", "held_out", "word_substitution"):
            fraction(name, getattr(self, name))
        if finite_number("mismatched_negatives", self.mismatched_negatives) < 0:
            raise ConfigError(f"mismatched_negatives must not be negative; got {self.mismatched_negatives!r}")
        if self.eval_every:
            raise ConfigError("an outcome reward model does not play: leave eval_every at 0, and see held_out")
