"""A worker may hang, crash or eat memory; its caller only ever sees a typed fault, and no process is left behind."""

from __future__ import annotations

import gc
import math
import os
import random
import signal
import statistics
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest

from agentrl.core.errors import ConfigError, WorkerFault
from agentrl.core.worker import Worker

HERE = Path(__file__).parent


def make_worker(target: str = "worker_targets:Target", *args: object, **options: object) -> Worker:
    options.setdefault("path", [HERE])
    return Worker(target, args, **options)  # type: ignore[arg-type]


@pytest.fixture
def worker() -> Iterator[Worker]:
    with make_worker() as made:
        yield made


@pytest.fixture(scope="module")
def shared_worker() -> Iterator[Worker]:
    with make_worker() as made:
        made.start()
        yield made


@pytest.fixture
def steady(shared_worker) -> Iterator[Worker]:
    """One process for all tests that must not harm it; each test shows that it lives on."""
    pid = shared_worker.pid
    yield shared_worker
    assert shared_worker.call("pid") == pid and shared_worker.restarts == 0


def wait_until(condition, seconds: float = 60.0) -> bool:
    until = time.monotonic() + seconds
    while not (reached := condition()) and time.monotonic() < until:
        time.sleep(0.01)
    return reached


def is_gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def fault_of(worker: Worker, method: str, *args: object, **options: object) -> WorkerFault:
    with pytest.raises(WorkerFault) as caught:
        worker.call(method, *args, **options)  # type: ignore[arg-type]
    return caught.value


# ---------------------------------------------------------------------- good days


def test_the_target_keeps_its_state_between_calls_in_a_process_of_its_own():
    with make_worker("worker_targets:Target", 5) as worker:
        assert [worker.call("add"), worker.call("add", 10), worker.call("add", amount=4)] == [6, 16, 20]
        assert worker.call("pid") == worker.pid != os.getpid()
        assert worker.alive and worker.restarts == 0


def test_a_function_and_a_nested_class_are_targets_and_keyword_arguments_reach_them():
    with make_worker("worker_targets:make", kwargs={"start": 3, "colour": "red"}) as worker:
        assert worker.call("add") == 4
        assert worker.call("others") == {"colour": "red"}
    with make_worker("worker_targets:Outer.Inner") as worker:
        assert worker.call("add") == 1


def test_a_public_attribute_can_be_read(steady):
    assert steady.call("label") == "a public attribute"


def test_plain_values_come_back_as_they_went(steady):
    values = [None, True, -1, 2**63, 1.5, math.inf, "text \u2603 \x00", b"\x00\xff", [1, [2]], {"a": {"b": []}}, {3: 4}]
    assert steady.call("echo", *values, key="word") == [values, {"key": "word"}]


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float32", ">f8", "bool", "complex64", "<U5", "S3", "M8[s]"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 4), (2, 3, 4)])
def test_arrays_keep_dtype_shape_and_content(steady, dtype, shape):
    array = np.ones(shape, "int8").astype(dtype)
    ((back,), _) = steady.call("echo", array)
    assert back.dtype == array.dtype and back.shape == array.shape and np.array_equal(back, array)


def test_arrays_arrive_as_writable_arrays_even_from_strided_memory(steady):
    array = np.arange(12).reshape(3, 4)[::2, ::-1]
    kind, dtype, shape, content, writeable = steady.call("describe_array", array)
    assert (kind, dtype, shape, content, writeable) == ("ndarray", "int64", [2, 4], array.tolist(), True)
    picture = steady.call("picture")
    assert np.array_equal(picture, np.arange(24).reshape(2, 4, 3)[:, ::-1])
    picture[:] = 0


def test_numpy_numbers_become_plain_ones(steady):
    assert steady.call("numpy_values") == [0.5, -3, True]
    assert steady.call("echo", np.int32(7)) == [[7], {}]


def test_a_worker_loads_neither_agentrl_nor_numpy_unless_its_target_does(worker):
    assert not worker.call("loaded", "agentrl") and not worker.call("loaded", "numpy")
    core = str(Path(sys.modules["agentrl.core.worker"].__file__).parent)
    assert core not in worker.call("search_path")


def test_warm_calls_are_quick(steady):
    def usual() -> float:
        times = []
        for _ in range(100):
            begin = time.perf_counter()
            steady.call("add")
            times.append(time.perf_counter() - begin)
        return statistics.median(times)

    # About 50 microseconds on a quiet machine; the bound only has to catch a sleeping or polling implementation, which
    # is never quick. Other programs may hold up a few rounds.
    assert any(usual() < 0.01 for _ in range(30))


def test_large_frames_pass_in_both_directions(steady):
    array = np.arange(5_000_000, dtype=np.int32)
    ((back,), _) = steady.call("echo", array)
    assert np.array_equal(back, array)


def test_environment_variables_are_added():
    with make_worker(environment={"AGENTRL_TEST_WORD": "hello"}) as worker:
        assert worker.call("variable", "AGENTRL_TEST_WORD") == "hello"


def test_the_interpreter_of_another_virtual_environment_runs_the_target_with_its_own_modules(tmp_path, monkeypatch):
    import venv

    import msgspec

    venv.create(tmp_path / "other", with_pip=False, symlinks=True)
    python = tmp_path / "other" / "bin" / "python"
    monkeypatch.setenv("PYTHONPATH", "/a/folder/for/this/interpreter")
    with make_worker(python=python) as worker, pytest.raises(WorkerFault, match="msgspec") as caught:
        worker.start()
    assert caught.value.reason == "start"
    with make_worker(python=python) as worker:  # nothing but msgspec is needed over there
        modules = next((tmp_path / "other" / "lib").glob("python*")) / "site-packages"
        (modules / "msgspec").symlink_to(Path(msgspec.__file__).parent)
        (modules / "only_there.py").write_text("class Thing:\n    def name(self): return 'only there'\n")
        assert worker.call("variable", "PYTHONPATH") is None
        assert str(modules) in worker.call("search_path")
    with Worker("only_there:Thing", python=python) as worker:
        assert worker.call("name") == "only there"


# ---------------------------------------------------------------------- bad days


@pytest.mark.parametrize(("method", "argument"), [("sleep", 600), ("hang_in_c", None)])
def test_a_hang_is_a_deadline_fault_and_the_next_call_gets_a_fresh_process(worker, method, argument):
    worker.call("add", 41)
    old = worker.pid
    begin = time.monotonic()
    fault = fault_of(worker, method, *([] if argument is None else [argument]), deadline=0.2)
    assert fault.reason == "deadline" and "0.2 s" in str(fault) and method in str(fault)
    assert 0.2 <= time.monotonic() - begin < 30
    assert is_gone(old) and not worker.alive
    assert worker.call("add") == 1  # a new target: its state is new as well
    assert worker.restarts == 1 and worker.pid != old


def test_the_deadline_of_the_worker_holds_when_a_call_names_none():
    with make_worker(deadline=0.2) as worker:
        worker.start()
        assert fault_of(worker, "sleep", 600).reason == "deadline"
        assert worker.call("sleep", 0.3, deadline=math.inf) == "slept"


@pytest.mark.parametrize(
    ("method", "args", "status"),
    [
        ("leave", (3,), "exit status 3"),
        ("leave", (0,), "exit status 0"),
        ("kill_itself", (), "signal 9"),
        ("crash", (), "signal 11"),
    ],
)
def test_a_crash_is_a_died_fault_that_says_how(worker, method, args, status):
    fault = fault_of(worker, method, *args)
    assert fault.reason == "died" and status in str(fault)
    assert worker.call("add") == 1 and worker.restarts == 1


def test_the_traceback_of_a_segmentation_fault_stands_in_the_message(worker):
    assert "in crash" in str(fault_of(worker, "crash"))


def test_a_process_killed_between_two_calls_is_noticed_at_the_next(worker):
    worker.start()
    os.kill(worker.pid, signal.SIGKILL)
    assert wait_until(lambda: not worker.alive)
    assert fault_of(worker, "add").reason == "died"
    assert worker.call("add") == 1


def test_a_memory_bomb_is_a_memory_fault_and_leaves_this_process_alone():
    before = psutil.Process().memory_info().rss
    with make_worker(memory_limit=400 << 20) as worker:
        assert worker.call("add") == 1
        old = worker.pid
        assert fault_of(worker, "bomb").reason == "memory"
        assert is_gone(old) and worker.call("add") == 1 and worker.restarts == 1
    assert psutil.Process().memory_info().rss - before < 100 << 20


def test_an_answer_that_does_not_fit_into_the_memory_limit_is_a_memory_fault():
    with make_worker(memory_limit=400 << 20) as worker:
        assert fault_of(worker, "large", 250 << 20).reason == "memory"


def test_a_request_that_does_not_fit_into_the_memory_limit_is_a_fault_and_the_next_call_works():
    with make_worker(memory_limit=200 << 20) as worker:
        assert fault_of(worker, "echo", bytes(190 << 20)).reason in ("memory", "died")
        assert worker.call("add") == 1


def test_an_exception_is_a_raised_fault_and_the_process_lives_on(worker):
    worker.call("add", 5)
    fault = fault_of(worker, "fail", "wrong colour")
    assert fault.reason == "raised"
    assert "ValueError: wrong colour" in str(fault) and "worker_targets.py" in str(fault)
    assert worker.call("add") == 6 and worker.restarts == 0


@pytest.mark.parametrize("message", ["\x00\ud800 half a character", "y" * 1_000_000])
def test_hostile_exception_texts_pass(steady, message):
    assert fault_of(steady, "fail_strangely").reason == "raised"
    sendable = message.encode("utf-8", "replace").decode()
    assert len(str(fault_of(steady, "fail", sendable))) < 20_000


def test_sys_exit_in_a_target_is_an_exception_like_any_other(steady):
    fault = fault_of(steady, "exit", 3)
    assert fault.reason == "raised" and "SystemExit" in str(fault)


def test_an_unknown_method_is_a_raised_fault(steady):
    fault = fault_of(steady, "fly")
    assert fault.reason == "raised" and "fly" in str(fault)


def test_output_of_any_size_cannot_touch_the_frames(worker):
    assert worker.call("talk", 8) == "done"
    assert worker.call("add") == 1
    assert "from a grandchild" in worker.output and "straight to the descriptor" in worker.output
    assert len(worker.output) <= 8192


def test_a_target_that_chatters_for_ever_neither_blocks_nor_outruns_the_deadline(worker):
    worker.call("chatter_after")
    time.sleep(0.2)  # long enough to fill the pipe
    assert worker.call("add") == 1
    assert fault_of(worker, "sleep", 600, deadline=0.3).reason == "deadline"


def test_reading_from_stdin_finds_nothing_and_steals_no_frame(steady):
    assert steady.call("listen") == ""
    assert steady.call("echo", 1) == [[1], {}]


@pytest.mark.parametrize("method", ["unsendable", "objects"])
def test_a_result_that_cannot_be_sent_is_a_protocol_fault_and_the_process_lives_on(steady, method):
    fault = fault_of(steady, method)
    assert fault.reason == "protocol" and "cannot be sent" in str(fault)


def test_frames_above_the_cap_are_refused_on_both_sides_and_the_process_lives_on():
    with make_worker(max_frame=100_000) as worker:
        assert len(worker.call("large", 90_000)) == 90_000
        fault = fault_of(worker, "large", 100_001)
        assert fault.reason == "protocol" and "max_frame" in str(fault)
        with pytest.raises(ConfigError, match="max_frame"):
            worker.call("echo", bytes(100_001))
        assert worker.call("add") == 1 and worker.restarts == 0


def test_a_target_that_closes_the_pipes_is_ended(worker):
    worker.start()
    old = worker.pid
    assert fault_of(worker, "close_the_pipes").reason == "died"
    assert is_gone(old)


def test_the_death_of_a_process_is_seen_though_a_fork_of_it_holds_its_pipes(worker):
    worker.start()
    group = worker.pid
    fault = fault_of(worker, "fork_and_die", deadline=60)
    assert fault.reason == "died" and "exit status 5" in str(fault)  # not "deadline"
    assert wait_until(lambda: not group_members(group))


def group_members(group: int) -> list[int]:
    members = []
    for process in psutil.process_iter():
        try:
            if os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE:
                members.append(process.pid)
        except (psutil.NoSuchProcess, ProcessLookupError):
            continue
    return members


@pytest.mark.parametrize("ending", ["close", "deadline", "crash"])
def test_the_processes_a_target_started_end_with_it(worker, ending):
    grandchild = worker.call("spawn")
    assert not is_gone(grandchild)
    if ending == "close":
        worker.close()
    elif ending == "deadline":
        fault_of(worker, "sleep", 600, deadline=0.1)
    else:
        fault_of(worker, "leave", 1)
    assert wait_until(lambda: is_gone(grandchild))


# ---------------------------------------------------------------------- it cannot start


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("no_such_module_anywhere:Thing", "no_such_module_anywhere"),
        ("worker_targets:Missing", "Missing"),
        ("worker_targets:CannotStart", "no licence found"),
        ("worker_targets:DiesAtStart", "about to leave"),
        ("worker_targets:Target.label", "not callable"),
    ],
)
def test_a_target_that_cannot_start_is_told_apart_from_one_that_died(target, expected):
    with make_worker(target) as worker:
        for _ in range(2):
            fault = fault_of(worker, "add")
            assert fault.reason == "start" and expected in str(fault)
        assert worker.pid is None and worker.restarts == 1


def test_a_start_has_a_deadline_of_its_own():
    with make_worker("worker_targets:StartsForEver", start_deadline=0.5, deadline=60) as worker:
        fault = fault_of(worker, "add")
    assert fault.reason == "start" and "0.5 s" in str(fault)


@pytest.mark.parametrize("python", ["/no/such/python", "/bin/true", "/bin/cat", "/dev/null"])
def test_a_wrong_interpreter_is_a_start_fault_that_names_it(python):
    with make_worker(python=python) as worker:
        fault = fault_of(worker, "add")
    assert fault.reason == "start" and python in str(fault)


def test_a_memory_limit_too_small_to_start_with_is_a_start_fault():
    with make_worker(memory_limit=1 << 20) as worker:
        assert fault_of(worker, "add").reason == "start"


@pytest.mark.parametrize(
    "target", ["nothing", "a:b:c", "a/b:c", "os:system('ls')", "__main__:Thing", "", None, 3, ":x", "x:"]
)
def test_a_target_that_is_no_name_is_refused_at_once(target):
    with pytest.raises(ConfigError, match="module:Class"):
        Worker(target)


@pytest.mark.parametrize(
    "options",
    [
        {"deadline": 0},
        {"deadline": -1},
        {"deadline": math.nan},
        {"deadline": "5"},
        {"start_deadline": True},
        {"memory_limit": 0},
        {"memory_limit": 1.5},
        {"max_frame": 2**32},
        {"max_frame": None},
    ],
)
def test_bad_limits_are_refused_by_name(options):
    with pytest.raises(ConfigError, match=next(iter(options))):
        make_worker(**options)


@pytest.mark.parametrize("argument", [object(), 2**64, "\ud800", np.array([None]), np.zeros(2, "i4,f8")])
def test_arguments_that_cannot_be_sent_are_refused_and_the_process_lives_on(steady, argument):
    with pytest.raises(ConfigError, match="cannot be sent"):
        make_worker("worker_targets:Target", argument)
    with pytest.raises(ConfigError, match="cannot be sent"):
        steady.call("echo", argument)


@pytest.mark.parametrize("name", ["_secret", "__class__", "__init__", "count.real", "", "add()", None, 3])
def test_only_public_names_can_be_called(worker, name):
    with pytest.raises(ConfigError, match="public"):
        worker.call(name)
    assert worker.pid is None


# ---------------------------------------------------------------------- the end


def test_closing_twice_is_fine_and_a_call_afterwards_raises(worker):
    worker.start()
    old = worker.pid
    for _ in range(2):
        worker.close()
    assert worker.closed and is_gone(old) and worker.pid is None
    fault = fault_of(worker, "add")
    assert "closed" in str(fault)
    with pytest.raises(WorkerFault, match="closed"):
        worker.start()


def test_closing_a_worker_that_never_started_starts_nothing():
    worker = make_worker()
    worker.close()
    assert worker.pid is None and worker.restarts == 0


def test_closing_lets_the_exit_handlers_of_the_target_run(tmp_path, monkeypatch):
    monkeypatch.setattr("agentrl.core.worker.TIDY_EXIT", 60.0)
    with make_worker("worker_targets:Tidy", str(tmp_path / "goodbye")) as worker:
        assert worker.call("ready")
    assert (tmp_path / "goodbye").exists()


def test_closing_ends_a_call_in_another_thread(worker):
    worker.start()
    faults: list[WorkerFault] = []
    thread = threading.Thread(target=lambda: faults.append(fault_of(worker, "sleep", 600)))
    thread.start()
    time.sleep(0.1)
    begin = time.monotonic()
    worker.close()
    thread.join(30)
    assert time.monotonic() - begin < 30
    assert faults[0].reason == "died" and "closed" in str(faults[0])


def test_a_forgotten_worker_takes_its_process_along():
    worker = make_worker()
    worker.start()
    pid = worker.pid
    del worker
    gc.collect()
    assert wait_until(lambda: is_gone(pid))


def test_an_interrupted_call_does_not_hand_its_answer_to_the_next():
    with make_worker() as worker:
        worker.start()

        def interrupt() -> None:
            wait_until(lambda: worker.busy)
            time.sleep(0.2)
            os.kill(os.getpid(), signal.SIGALRM)

        previous = signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        try:
            with pytest.raises(KeyboardInterrupt):
                threading.Thread(target=interrupt).start()
                worker.call("sleep", 600)
        finally:
            signal.signal(signal.SIGALRM, previous)
        assert worker.call("add") == 1 and worker.restarts == 1


PARENT = """
import os, sys, threading, time
from agentrl.core.worker import Worker
worker = Worker("worker_targets:Target", path=[{here!r}])
print(worker.call("pid"), worker.call("spawn"), flush=True)
threading.Thread(target=lambda: worker.call({method!r}, *{args!r}), daemon=True).start()
time.sleep(0.3)
{ending}
"""


@pytest.mark.parametrize(
    ("ending", "method", "args"),
    [
        ("os.kill(os.getpid(), 9)", "hang_in_c", []),
        ("os.kill(os.getpid(), 9)", "add", []),
        ("sys.exit(0)", "sleep", [600]),
    ],
)
def test_the_process_dies_with_its_parent(ending, method, args):
    script = PARENT.format(here=str(HERE), ending=ending, method=method, args=args)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    child, grandchild = map(int, done.stdout.split())
    try:
        assert wait_until(lambda: is_gone(child))
    finally:
        if not is_gone(grandchild):  # a killed parent can no longer end the group; only the child is promised
            os.kill(grandchild, signal.SIGKILL)


def test_the_watching_thread_ends_a_busy_process_where_the_kernel_does_not_help(tmp_path):
    from agentrl.core import worker_child

    script = textwrap.dedent(f"""
        import sys, time
        sys.path.insert(0, {str(Path(worker_child.__file__).parent)!r})
        import worker_child
        worker_child.watch_for_parent(0)
        print("ready", flush=True)
        time.sleep(600)
    """)
    process = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n" and process.poll() is None
    process.stdin.close()
    assert process.wait(60) == 1
    process.stdout.close()


# ---------------------------------------------------------------------- threads and forks


def test_calls_from_many_threads_run_one_at_a_time_and_none_is_lost(worker):
    results: list[int] = []
    threads = [threading.Thread(target=lambda: results.extend(worker.call("add") for _ in range(50))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == list(range(1, 401)) and worker.restarts == 0


def test_a_process_outlives_the_thread_that_happened_to_start_it(worker):
    thread = threading.Thread(target=worker.start)
    thread.start()
    thread.join()
    time.sleep(0.2)
    assert worker.call("add") == 1 and worker.restarts == 0


def test_a_fork_of_this_program_gets_a_process_of_its_own_and_leaves_ours_alone():
    script = textwrap.dedent(f"""
        import os, sys
        from agentrl.core.worker import Worker
        worker = Worker("worker_targets:Target", path=[{str(HERE)!r}])
        worker.call("add", 10)
        child = os.fork()
        if child == 0:
            own = worker.call("add")
            worker.close()
            sys.exit(own)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(status, worker.call("add"), worker.restarts)
        worker.close()
    """)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["1", "11", "0"], done.stderr


def test_two_hundred_calls_with_random_faults_are_all_attributed_and_leak_nothing():
    chance = random.Random(7)
    expected = {"leave": "died", "kill_itself": "died", "fail": "raised", "unsendable": "protocol", "sleep": "deadline"}
    arguments = {"leave": (1,), "fail": ("x",), "sleep": (600,)}
    descriptors, before = len(os.listdir("/proc/self/fd")), set(psutil.Process().children(recursive=True))
    count, replaced = 0, 0
    with make_worker() as worker:
        for _ in range(200):
            if chance.random() < 0.85:
                count += 1
                assert worker.call("add") == count
                continue
            method = chance.choice(list(expected))
            fault = fault_of(worker, method, *arguments.get(method, ()), deadline=0.05 if method == "sleep" else 30)
            assert fault.reason == expected[method]
            if fault.reason in ("died", "deadline"):
                count, replaced = 0, replaced + 1
        worker.start()
        assert worker.restarts == replaced > 5
    assert set(psutil.Process().children(recursive=True)) - before == set()
    assert len(os.listdir("/proc/self/fd")) == descriptors


def test_calls_are_begun_in_several_workers_before_any_is_waited_for(worker, steady) -> None:
    first, second = worker.send("add", 5), steady.send("echo", 7)
    assert (second(), first()) == ([[7], {}], 5)
    with pytest.raises(WorkerFault) as fault:
        worker.send("sleep", 600, deadline=0.05)()
    assert fault.value.reason == "deadline" and worker.call("add") == 1  # free again, and fresh


def test_a_process_inherits_the_descriptors_that_it_is_given() -> None:
    read, write = os.pipe()
    with make_worker("io:FileIO", write, "wb", descriptors=[write]) as made:
        os.set_inheritable(write, False)
        assert made.call("write", b"hello") == 5 and os.read(read, 5) == b"hello"
    os.close(read)
    os.close(write)
