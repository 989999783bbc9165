"""PPO: credit arrives where the estimators put it, every variant learns, and the divergence holds it back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from agentrl.core.errors import ConfigError
from agentrl.policies.hf import HFPolicy
from agentrl.rollout.trajectory_file import TrajectoryReader
from agentrl.trainers.algorithms import ppo
from agentrl.trainers.algorithms import ppo as ppo_file
from agentrl.trainers.arguments.run import RunArguments
from agentrl.trainers.update import advantages as pure
from agentrl.trainers.update import losses as loss_maths
from agentrl.trainers.update.batch import Batch
from agentrl.trainers.update.learner import make_learner
from agentrl.trainers.update.policy import BatchScores, bootstrap_values
from tests.longer import only
from tests.trainers import toys
from tests.trainers.arms import ARMS
from tests.trainers.episodes import conversation, played
from tests.trainers.runs import lines

FORMS = [(variant, form) for variant in ("turn", "bilevel") for form in ("paper", "released")]
VARIANTS = [("masked", "paper"), *FORMS, ("vanilla", "paper")]
EPISODES = [conversation([[4, 5], [6]], [1.0, 3.0]), conversation([[9]], [-2.0])]
MASK = torch.tensor([[True, True, True], [True, False, False]])
ENDS = torch.tensor([[False, True, True], [True, False, False]])
AT_ENDS = torch.tensor([[0.0, 1.0, 3.0], [-2.0, 0.0, 0.0]])
AT_LAST = torch.tensor([[0.0, 0.0, 4.0], [-2.0, 0.0, 0.0]])
# With observations: two tokens stand between the turns of the first.
SEEN = torch.tensor([[True] * 5, [True] + [False] * 4])
SPOKEN = torch.tensor([[True, True, False, False, True], [True] + [False] * 4])


def scores(mask: torch.Tensor) -> BatchScores:
    """Numbers that no two tokens share."""
    numbers = torch.arange(mask.numel(), dtype=torch.float32).reshape(mask.shape)
    values, after = torch.sin(numbers), torch.cos(numbers)
    old, reference = -1 - numbers / 10, -1.5 - torch.sin(numbers) / 5
    return BatchScores(old, reference, values, after, torch.tensor([0.7, 0.0]))


def expected(args: ppo.PPO, given: BatchScores) -> pure.Estimate:
    """The pure functions on tensors written down by hand."""
    mask = SPOKEN if args.variant == "vanilla" else MASK
    kl = None
    if args.kl_in == "reward":
        assert given.reference is not None
        kl = loss_maths.kl_rewards(given.old, given.reference, mask, beta=args.kl_coef, kind=args.kl_estimator)
    end = {"bootstrap": given.bootstrap, "kl": kl}
    turn = {"turn_gamma": 0.9, "turn_lam": 0.8}
    token = {"gamma": 0.97, "lam": 0.6}
    if args.variant == "turn":
        return ppo_file.turn_gae(2 * AT_ENDS, given.values, MASK, ENDS, form=args.form, **turn, **end)
    if args.variant == "bilevel":
        own = {"token_gamma": 0.97, "token_lam": 0.6, "form": args.form}
        return ppo_file.bilevel_gae(2 * AT_ENDS, given.values, given.values_after, MASK, ENDS, **turn, **own, **end)  # pyright: ignore
    if args.variant == "vanilla":
        rewards = torch.zeros(2, 5)
        rewards[0, 4], rewards[1, 0] = 8.0, -4.0
        return pure.masked_gae(rewards, given.values, SEEN, **token, **end)
    rewards = 2 * (AT_LAST if args.reward_at == "end" else AT_ENDS)
    return pure.masked_gae(rewards, given.values, MASK, **token, **end)


@pytest.mark.parametrize("kl_in", ["reward", "loss"])
@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize(("variant", "form", "at"), [(*v, "end") for v in VARIANTS] + [("masked", "paper", "turn")])
def test_credit_is_that_of_the_pure_estimators(variant, form, at, whiten, kl_in) -> None:
    args = ppo.PPO(
        variant=variant,
        form=form,
        reward_at=at,
        gamma=0.97,
        lam=0.6,
        turn_gamma=0.9,
        turn_lam=0.8,
        kl_coef=0.5,
        kl_in=kl_in,
        kl_estimator="k2",
        reward_scale=2.0,
        whiten_advantages=whiten,
    )
    batch = Batch(EPISODES, observations=variant == "vanilla")
    given = scores(batch.token_mask)
    found, wanted = ppo.advantages(args, batch, given), expected(args, given)
    if whiten:
        over = SEEN if variant == "vanilla" else MASK
        wanted = wanted._replace(advantages=pure.whiten(wanted.advantages, over, wanted.critic_mask))
    for name in ("advantages", "returns", "critic_mask"):
        assert torch.equal(getattr(found, name), getattr(wanted, name)), name
    assert (found.turn_returns is None) == (form == "released" or variant != "bilevel")
    if found.turn_returns is not None and wanted.turn_returns is not None:
        assert torch.equal(found.turn_returns, wanted.turn_returns)


def test_the_value_behind_the_end_counts_after_external_limits_only(undecided, tmp_path) -> None:
    args = toys.ppo(undecided, tmp_path)
    learner = make_learner(args)
    assert learner.critic is not None
    torch.nn.init.constant_(learner.critic.head.bias, 5.0)
    cut = {"turns": 3, "max_episode_steps": 2}
    found = {}
    for name, kwargs in {"external": cut, "task": {"turns": 1, "good": "Nowhere"}}.items():
        spec = toys.ppo(undecided, tmp_path, env_kwargs=kwargs).specs()
        episodes = played(learner.engine, spec)
        assert {episode.limit for episode in episodes} == {name}
        found[name] = Batch(episodes)
    assert bootstrap_values(args, learner, found["external"]).tolist() == [5.0] * 4
    assert bootstrap_values(args, learner, found["task"]).tolist() == [0.0] * 4
    args = toys.ppo(undecided, tmp_path, bootstrap_truncated=True)
    assert bootstrap_values(args, learner, found["task"]).tolist() == [5.0] * 4


def chance(folder: Path, word: str = "Right") -> float:
    """How likely the model chooses this word in the toy's first turn."""
    from tests.trainers.arms import ArmsEnv

    policy = HFPolicy(folder, device="cpu", dtype="float32")
    asked = [{"role": "system", "content": ArmsEnv.system_prompt}, {"role": "user", "content": "turn 0"}]
    said = policy.loaded.tokenizer(word, add_special_tokens=False)["input_ids"]
    with torch.no_grad():
        return float(policy.logprobs_of([policy.encode(asked).ids], [said])[0].sum().exp())  # pyright: ignore


def last_policy(folder: Path) -> Path:
    return max((folder / "checkpoints").glob("step_*"), key=lambda path: int(path.name[5:])) / "policy"


def changes() -> list[dict[str, Any]]:
    """All variants, and one change at a time."""
    found: list[dict[str, Any]] = [{"variant": variant, "form": form} for variant, form in VARIANTS]
    single = {"reward_at": "turn", "critic": "shared", "kl_coef": 0.01, "entropy_coef": 0.01, "dual_clip": 3.0}
    more = {"critic_clip": 0.2, "whiten_advantages": False, "old_logprobs": "recomputed", "epochs": 2, "minibatches": 2}
    also = {"lora_rank": 4, "token_budget": 64, "prompt_style": "step", "group_size": 4, "gradient_checkpointing": True}
    return found + [{name: value} for name, value in (single | more | also).items()]


@pytest.mark.parametrize("change", changes(), ids=lambda change: "-".join(map(str, change.values())))
def test_one_update_makes_the_better_word_likelier(undecided, tmp_path, change) -> None:
    args = toys.ppo(undecided, tmp_path / "run", iterations=1, episodes=32, num_envs=32, lr=5e-3, **change)
    folder = ppo.train(args)
    assert chance(last_policy(folder)) > chance(undecided) + 0.001  # adapters begin at 0 and move slowly
    (line,) = lines(folder, "train")
    assert line["loss"]["grad_norm"] > 0 and line["tokens"]["trained"] > line["tokens"]["generated"] > 0
    assert line["loss"]["entropy"] > 0.3 and set(line["seconds"]) >= {"generate", "environment", "update", "total"}


@pytest.mark.parametrize("name", only(("bilevel-paper",), map("-".join, VARIANTS[:5])))
def test_the_toy_is_learned(undecided, tmp_path, name) -> None:
    variant, form = name.split("-")
    options = {"variant": variant, "form": form, "iterations": 30, "episodes": 32, "num_envs": 32, "schedule": "linear"}
    measured = {"eval_every": 30, "eval_episodes": 100, "eval_modes": ("sampled",), "env_kwargs": {"turns": 2}}
    if (variant, form) == ("turn", "released"):
        # Its critic looks at the turn's end, where a word is known already: one that learns quickly explains all away.
        options["critic_lr"] = 1e-4
    folder = ppo.train(toys.ppo(undecided, tmp_path / "run", **options, **measured))
    first, last = lines(folder, "eval")
    assert first["success"] < 0.5 and last["success"] > 0.9
    assert last["iteration"] == 30 and last["episodes"] == 100 and last["greedy"] is False


def test_a_critic_that_warms_up_leaves_the_policy_alone(undecided, tmp_path) -> None:
    for critic in ("own", "shared"):
        args = toys.ppo(undecided, tmp_path / critic, iterations=1, critic=critic, critic_warmup=1)
        assert chance(last_policy(ppo.train(args))) == chance(undecided)


@pytest.mark.parametrize("variant", ["masked", "turn", "bilevel"])
def test_the_critic_begins_at_the_mean_return_of_the_first_batch(undecided, tmp_path, variant) -> None:
    missed = {}
    for start in ("zero", "mean"):
        options = {"variant": variant, "critic_init": start, "critic_lr": 1e-9, "env_kwargs": {"form": 5.0}}
        (line,) = lines(ppo.train(toys.ppo(undecided, tmp_path / start, iterations=1, **options)), "train")
        missed[start] = line["loss"]
    assert abs(missed["zero"]["value_mean"]) < 1e-4 and missed["zero"]["return_mean"] > 4
    assert missed["mean"]["value_mean"] == pytest.approx(missed["zero"]["return_mean"], rel=1e-3)
    assert missed["mean"]["critic"] < missed["zero"]["critic"] / 5


def test_the_head_of_the_critic_may_learn_faster(undecided, tmp_path) -> None:
    for critic, rates in (("own", [1e-2, 1e-5, 3e-3]), ("head", [1e-2, 3e-3])):
        args = toys.ppo(undecided, tmp_path, critic=critic, lr=1e-2, critic_lr=1e-5, critic_head_lr=3e-3)
        groups = make_learner(args).optimiser.param_groups
        assert [group["lr"] for group in groups] == rates and len(groups[-1]["params"]) == 2
    plain = make_learner(toys.ppo(undecided, tmp_path, lr=1e-2, critic_lr=1e-5)).optimiser.param_groups
    assert [group["lr"] for group in plain] == [1e-2, 1e-5]


def test_further_passes_teach_the_critic_alone(undecided, tmp_path) -> None:
    folders, missed = {}, {}
    for passes in (0, 8):
        args = toys.ppo(undecided, tmp_path / str(passes), iterations=1, critic_lr=1e-2, critic_epochs=passes)
        folders[passes] = ppo.train(args)
        (line,) = lines(folders[passes], "train")
        missed[passes] = line["loss"]
    assert chance(last_policy(folders[0])) == chance(last_policy(folders[8]))
    assert missed[0] == missed[8]  # the lines are about the passes in which the policy learned
    tokens = [lines(folders[passes], "train")[0]["tokens"]["trained"] for passes in (0, 8)]
    assert tokens[1] == 9 * tokens[0]


def test_the_divergence_holds_the_policy_near_the_reference_in_reward_and_in_loss(undecided, tmp_path) -> None:
    start = chance(undecided)
    moved = {}
    held = {"free": {}, "reward": {"kl_coef": 3.0}, "loss": {"kl_coef": 3.0, "kl_in": "loss", "kl_estimator": "k3"}}
    for name, change in held.items():
        args = toys.ppo(undecided, tmp_path / name, iterations=8, episodes=32, num_envs=32, lr=5e-3, epochs=2, **change)
        folder = ppo.train(args)
        moved[name] = abs(chance(last_policy(folder)) - start)
        assert all(("kl" in line["loss"]) == (name != "free") for line in lines(folder, "train"))
    assert moved["free"] > 0.3 and moved["reward"] < moved["free"] / 2 and moved["loss"] < moved["free"] / 2


def test_environments_are_mixed_by_weight(undecided, tmp_path) -> None:
    lake = {"id": "agentrl/FrozenLake-Text-v0", "kwargs": {"max_turns": 2}, "weight": 1.0}
    arms = {"id": ARMS, "kwargs": {"turns": 2}, "weight": 3.0}
    folder = ppo.train(toys.ppo(undecided, tmp_path / "run", env=(arms, lake), iterations=1, episodes=32))
    (line,) = lines(folder, "train")
    counts = {name: figures["episodes"] for name, figures in line["by_env"].items()}
    assert set(counts) == {"trainer-tests/Arms-v0", "agentrl/FrozenLake-Text-v0"}
    assert sum(counts.values()) == 32 and counts["trainer-tests/Arms-v0"] > counts["agentrl/FrozenLake-Text-v0"] > 0


def test_grouped_episodes_begin_alike_and_no_iteration_repeats_a_task(undecided, tmp_path) -> None:
    args = toys.ppo(undecided, tmp_path / "run", group_size=4, save_trajectories=-1)
    folder = ppo.train(args)
    seeds: list[set[int | None]] = []
    for path in sorted((folder / "trajectories").iterdir()):
        episodes = list(TrajectoryReader(path))
        groups: dict[Any, list[Any]] = {}
        for episode in episodes:
            groups.setdefault(episode.group_id, []).append(episode)
        assert [len(group) for group in groups.values()] == [4] * 4
        assert all(len({episode.seed for episode in group}) == 1 for group in groups.values())
        assert len({episode.id for episode in episodes}) == 16
        seeds.append({episode.seed for episode in episodes})
    assert len(seeds) == 2 and len(seeds[0]) == 4 and not seeds[0] & seeds[1]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("variant", "tokens"),
        ("form", "draft"),
        ("reward_at", "start"),
        ("kl_in", "advantage"),
        ("kl_estimator", "k4"),
        ("critic", "none"),
        ("old_logprobs", "new"),
        ("schedule", "step"),
        ("prompt_style", "chat"),
        ("dtype", "int8"),
        ("eval_modes", ("best",)),
        ("gamma", 1.5),
        ("turn_lam", float("nan")),
        ("episodes", 0),
        ("episodes", 2.5),
        ("group_size", 3),
        ("lr", 0.0),
        ("lr", "fast"),
        ("critic_lr", -1.0),
        ("critic_warmup", -1),
        ("clip_low", -0.1),
        ("seed", -1),
        ("save_total_limit", 0),
        ("save_trajectories", -2),
        ("env", ()),
        ("env", ({"id": "x", "weights": 1},)),
        ("env", ({"id": "agentrl/FrozenLake-Text-v0", "weight": 0},)),
        ("env", 3),
        ("env", None),
        ("env", {"name": "x"}),
        ("env_kwargs", [1]),
        ("env_kwargs", "{}"),
        ("env_kwargs", {"size": object()}),
        ("wrap", {}),
        ("wrap", "History"),
        ("engine_options", "{}"),
        ("trackers", "wandb"),
        ("judge", "rule"),
        ("weight_decay", -0.1),
        ("env_timeout", -1.0),
    ],
)
def test_options_that_cannot_work_are_refused_by_name(option, value) -> None:
    with pytest.raises(ConfigError, match=option):
        ppo.PPO(**{option: value})


def test_arguments_survive_json_and_unknown_ones_are_named() -> None:
    args = ppo.PPO(
        env=("agentrl/Sokoban-Text-v0", "agentrl/FrozenLake-Text-v0"), variant="turn", eval_modes=("greedy",)
    )
    assert ppo.PPO.from_json(json.loads(json.dumps(args.to_json()))) == args
    with pytest.raises(ConfigError, match="unknown option 'varient'"):
        ppo.PPO.from_json({"varient": "turn"})
    assert isinstance(args, RunArguments)
