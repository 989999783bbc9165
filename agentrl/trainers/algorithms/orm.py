"""ORM: an outcome reward model. From the instruction, the actions and the last page: was the task done, YES or NO?

It learns from episodes whose outcome the true evaluator knows: files of trajectories, or episodes that it has several
players play in the training split. The question is that of the endpoint judge `outcome`, and what is learned is one
token: the first of the answer. A checkpoint's `policy` folder is the judge `{"kind": "orm", "model": FOLDER}`. One
iteration is one pass over the episodes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import torch

from agentrl.core.errors import ConfigError
from agentrl.core.seeding import mixed_seed
from agentrl.judges.orm import OutcomeReader
from agentrl.judges.outcome_form import OutcomeForm, write_form
from agentrl.models.yes_no import answer_tokens
from agentrl.rollout.outcomes import Example, examples, mismatched_negatives, outcome_metrics, play
from agentrl.rollout.trajectory import Trajectory
from agentrl.rollout.trajectory_file import read_trajectories
from agentrl.trainers.arguments.imitation import ORM
from agentrl.trainers.run.progress import Progress
from agentrl.trainers.run.run import Report, Run
from agentrl.trainers.update.batch import Row
from agentrl.trainers.update.learner import Learner
from agentrl.trainers.update.steps import Steps
from agentrl.trainers.update.word_substitution import WordSubstituter, substitute_words

SMALL = 20_000_000  # parameters; a model below that is asked in the compact form


def train(args: ORM, report: Report | None = print) -> Path:
    """Run to the end (or resume from a checkpoint) and return the run folder."""
    learner = Learner(args)
    reader = OutcomeReader(learner.engine, asked_form(args, learner))
    learner.write_beside_policy.append(partial(write_form, form=reader.form))
    with Run(args, "orm", learner, report) as run:
        learned, held = divided(args, labelled(args, run))
        rows, weights = answer_rows(reader, learned), class_weights(learned, args.balance)
        learner.total_steps = args.iterations * -(-len(rows) // args.batch_size)
        learner.warmup = args.warmup or round(args.warmup_ratio * learner.total_steps)
        run.report(described(learned, held, rows))
        for _ in run.iterations():
            order = torch.randperm(len(rows), generator=run.rng("demonstrations")).tolist()
            shown, steps = with_other_words(args, run, rows), Steps(learner)
            with (
                run.time("update"),
                run.progress("learning episodes", len(rows) // run.processes.size) as learner.progress,
            ):
                for start in range(0, len(rows), args.batch_size):
                    chosen = order[start : start + args.batch_size]
                    some = [weights[index] for index in chosen]
                    steps.take(learn, learner, [shown[index] for index in chosen], some)
                learner.publish()
            means = steps.means()
            with run.time("measure"):
                means |= measured(args, reader, held)
            run.log_training(means, episodes=False)
        return run.close()


def learn(learner: Learner, rows: Sequence[Row], weights: Sequence[float]) -> dict[str, float]:
    """One optimiser step: the cross-entropy of the answers."""

    def loss_of(indices: list[int]) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        logprobs = learner.outputs([rows[index] for index in indices], values=False).logprobs[:, 0]
        weight = torch.tensor([weights[index] for index in indices], device=logprobs.device)
        right = (logprobs.detach().exp() > 0.5).float().sum() / len(rows)
        return -(logprobs * weight).sum() / len(rows), {"accuracy": right}

    metrics = learner.step(rows, loss_of)
    return {"nll": metrics["loss"], "accuracy": metrics["accuracy"], "grad_norm": metrics["grad_norm"]}


def measured(args: ORM, reader: OutcomeReader, held: Sequence[Example]) -> dict[str, float]:
    """Accuracy and calibration on tasks that are not learned from."""
    if not held:
        return {}
    chances = reader.chances([reader.tokens(one.request) for one in held], args.token_budget)
    found = outcome_metrics([yes for yes, _ in chances], [one.success for one in held])
    names = ("accuracy", "balanced_accuracy", "base_rate", "ece", "nll", "auc")
    return {f"held_out_{name}": value for name in names if (value := getattr(found, name)) is not None}


# ---------------------------------------------------------------------- episodes and rows


def labelled(args: ORM, run: Run) -> list[Example]:
    """The episodes with their outcomes, read or played; the same ones every time."""
    found = examples(trajectories(args, run))
    found += mismatched_negatives(found, args.mismatched_negatives, np.random.default_rng(mixed_seed(args.seed, 21)))
    classes = {one.success for one in found}
    if len(classes) < 2:
        what = "there are no episodes with a known outcome" if not classes else "all episodes end alike"
        raise ConfigError(f"{what}; give successes and failures to learn from (other players, further data)")
    return found


def trajectories(args: ORM, run: Run) -> list[Trajectory]:
    """From files, or played in the training split."""
    if args.data:
        return [trajectory for path in args.data for trajectory in read_trajectories(path)]
    run.report(f"{', '.join(args.players)} play {args.episodes} episodes each")
    with Progress(run.report, "episodes to learn from", args.episodes * len(args.players)) as advance:
        return play(
            args.specs(),
            args.players,
            args.episodes,
            split="train",
            seed=args.seed,
            timeout=args.env_timeout or None,
            on_episode=advance,
        )


def divided(args: ORM, given: Sequence[Example]) -> tuple[list[Example], list[Example]]:
    """Those to learn from and those to measure with: no task is in both."""
    held = {one.task for one in given if _draw(f"{args.seed} {one.task}") < args.held_out}
    learned = [one for one in given if one.task not in held]
    if len({one.success for one in learned}) < 2:
        raise ConfigError("too few tasks are left to learn from; give more episodes, or a smaller held_out")
    return learned, [one for one in given if one.task in held]


def _draw(text: str) -> float:
    """A number in [0, 1) that follows from a text."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big") / 2**64


def answer_rows(reader: OutcomeReader, given: Sequence[Example]) -> list[Row]:
    """Each question with its answer, whose one token is what is learned."""
    tokens, rows = answer_tokens(reader.loaded), []
    for number, one in enumerate(given):
        prompt = reader.tokens(one.request)
        answer = (tokens.yes if one.success else tokens.no)[0]
        row = Row(number, [*prompt, answer])
        row.add(len(prompt), [answer], [0.0], 0, acted=True)
        rows.append(row)
    return rows


def with_other_words(args: ORM, run: Run, rows: Sequence[Row]) -> Sequence[Row]:
    """The rows of this iteration: some with other words, and all with their answers."""
    if not args.word_substitution:
        return rows
    substituter = WordSubstituter(run.learner.engine.tokenizer)
    changed = substitute_words(rows, args.word_substitution, substituter, run.rng("words"))
    return [replace(new, ids=[*new.ids[:-1], row.ids[-1]]) for new, row in zip(changed, rows, strict=True)]


def class_weights(given: Sequence[Example], balance: bool) -> list[float]:
    """A weight for each episode, 1 on average; balanced, successes and failures have the same sum."""
    counts = {outcome: sum(one.success is outcome for one in given) for outcome in (True, False)}
    return [len(given) / (2 * counts[one.success]) if balance else 1.0 for one in given]


def asked_form(args: ORM, learner: Learner) -> OutcomeForm:
    """The form of the question, which checkpoints carry."""
    size = sum(parameter.numel() for parameter in learner.engine.model.parameters())
    form = ("compact" if size < SMALL else "full") if args.form == "auto" else args.form
    return OutcomeForm(
        form=form,
        max_text=args.max_text,
        max_actions=args.max_actions,
        max_page=args.max_page,
        environments=tuple(dict.fromkeys(spec.id for spec in args.specs())),
    )


def described(learned: Sequence[Example], held: Sequence[Example], rows: Sequence[Row]) -> str:
    """What there is to learn from, in a line."""
    lengths = sorted(len(row.ids) for row in rows)
    return (
        f"learning from {len(learned)} episodes, {sum(one.success for one in learned)} successes, with "
        f"{lengths[len(lengths) // 2]} tokens at the median and {lengths[-1]} at most; measuring with {len(held)}"
    )
