"""`agentrl check ID|--all`: the public test kit; in a checkout, `agentrl check judges` as well."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import Annotated, Any

import gymnasium as gym
import tyro

from agentrl.cli.arguments import Common, JsonText, json_object
from agentrl.cli.output import log, print_json, print_table, progress, verdict
from agentrl.core.errors import ConfigError, MissingExtra, install_command
from agentrl.core.measure import CHECKOUT, IN_CHECKOUT
from agentrl.registry import TABLE, find, is_available, known

JUDGES = "judges"  # among the ids, in a checkout: all judges together, on the corpora of `benchmarks/judges`


@dataclass(kw_only=True)
class Arguments(Common):
    """Run the public test kit on environments; fails if any check fails.

    The kit plays an environment and looks whether it keeps its promises: seeds, snapshots, rewards, limits, splits,
    rendering, a thousand hostile replies (about 10 s for each id).
    """

    ids: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="ID")] = ()
    """Which environments ("module:id" imports a module of yours first)."""
    all: bool = False
    """Every environment that comes with agentrl."""
    env_kwargs: JsonText = "{}"
    """Arguments of the environment, for example '{"size": 8}'."""


if IN_CHECKOUT:
    Arguments.__doc__ = f"""{Arguments.__doc__}
    In a checkout, `check judges` measures the judges on texts with known truth: what they read in English, whether
    hedging or orders to the judge pay, faults of an endpoint (about a minute; no model and no network are needed).
    """


def run(arguments: Arguments) -> int:
    """Check and print."""
    ids = chosen_ids(arguments.ids, arguments.all)
    kwargs = json_object("--env-kwargs", arguments.env_kwargs)
    reports = []
    with progress("check", len(ids)) as advance:
        for env_id in ids:
            reports.append(check_judges() if env_id == JUDGES else check_one(env_id, kwargs))
            log(f"{env_id}: {reports[-1]['status']} ({reports[-1]['seconds']:.1f} s)")
            advance()
    passed = all(report["pass"] for report in reports)
    if arguments.json:
        print_json({"schema": 1, "pass": passed, "envs": reports})
    else:
        show(reports)
    return 0 if passed else 1


def chosen_ids(ids: tuple[str, ...], everything: bool) -> list[str]:
    """The ids to check; unknown ones are refused before any check runs."""
    if everything == bool(ids):
        raise ConfigError("name the environments to check, or use --all (not both)")
    for env_id in ids:
        if (env_id != JUDGES or not IN_CHECKOUT) and ":" not in env_id and env_id not in gym.registry:
            find(env_id)
    return [entry.id for entry in TABLE] if everything else list(ids)


def check_one(env_id: str, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The report of one environment, whatever happens."""
    started = time.perf_counter()
    entry = next((entry for entry in known() if entry.id == env_id), None)
    if entry is not None and not is_available(entry):
        missing = install_command(entry.extra) if entry.extra else f"{entry.modules[0]} is not found"
        return failure(env_id, "unavailable", "available", missing, started)
    from agentrl.testing import check_env

    try:
        return check_env(env_id, **kwargs).to_json()
    except MissingExtra as error:
        return failure(env_id, "unavailable", "available", str(error), started)
    except ConfigError:
        raise  # the arguments are wrong, not the environment
    except Exception as error:  # one broken environment must not hide the verdict on the others
        return failure(env_id, "failed", "kit", f"{type(error).__name__}: {error}", started)


def check_judges() -> dict[str, Any]:
    """The report of the judges, in the shape of an environment's."""
    started = time.perf_counter()
    if str(CHECKOUT) not in sys.path:
        sys.path.insert(0, str(CHECKOUT))
    try:
        from benchmarks.judges import selfcheck

        checks = selfcheck.run(log)
    except MissingExtra as error:
        return failure(JUDGES, "unavailable", "available", str(error), started)
    except Exception as error:
        return failure(JUDGES, "failed", "kit", f"{type(error).__name__}: {error}", started)
    good = bool(checks) and all(check["pass"] for check in checks)
    seconds = time.perf_counter() - started
    return {"id": JUDGES, "status": "ok" if good else "failed", "pass": good, "seconds": seconds, "checks": checks}


def failure(env_id: str, status: str, check: str, detail: str, started: float) -> dict[str, Any]:
    """A report with one failed check."""
    checks = [{"name": check, "pass": False, "detail": detail}]
    return {"id": env_id, "status": status, "pass": False, "seconds": time.perf_counter() - started, "checks": checks}


def show(reports: list[dict[str, Any]]) -> None:
    """One row for each environment, then the checks that were skipped and those that failed."""
    rows = []
    for report in reports:
        skipped = sum(check.get("skipped", False) for check in report["checks"])
        good = sum(check["pass"] for check in report["checks"]) - skipped
        mark = verdict(report["pass"], report["status"])
        rows.append((report["id"], mark, f"{good}/{len(report['checks'])}", str(skipped), f"{report['seconds']:.1f}"))
    print_table(("id", "status", "checks passed", "skipped", "seconds"), rows)
    judged = [(verdict(c["pass"]), c["name"], c["detail"]) for r in reports if r["id"] == JUDGES for c in r["checks"]]
    if judged:
        print_table(("", "check of the judges", "what was measured"), judged)
    skipped = [(r["id"], c["name"], c["detail"]) for r in reports for c in r["checks"] if c.get("skipped")]
    if skipped:
        print_table(("id", "skipped check", "why"), skipped)
    failed = [(r["id"], c["name"], c["detail"]) for r in reports for c in r["checks"] if not c["pass"]]
    if failed:
        print_table(("id", "failed check", "why"), failed)
