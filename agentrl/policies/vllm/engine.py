"""vLLM kept alive, and its weights whole: started when needed, started again when it dies, never with mixed weights."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from agentrl.core.arguments import positive_number, whole_number
from agentrl.core.errors import ConfigError, EngineFault
from agentrl.core.interpreter import Interpreter, find_interpreter
from agentrl.policies.vllm.backend import (
    VLLM,
    Backend,
    EngineLost,
    LocalBackend,
    MemoryUnsettled,
    Reply,
    Request,
    check_version,
    is_cpu_build,
)
from agentrl.policies.vllm.server import RemoteServer, ServerBackend, Wire
from agentrl.policies.vllm.weights import KINDS, DeviceTransfer, Kind, SharedWeights, WeightFiles

if TYPE_CHECKING:
    import torch


from dataclasses import dataclass

from agentrl.core.errors import MissingExtra
from agentrl.models import resolve_model
from agentrl.models.chat import PromptEncoder
from agentrl.models.loading import ONLY_DATA, check_config, quiet

log = logging.getLogger(__name__)

Result = TypeVar("Result")
Mode = Literal["process", "server"]
FIRST = "default"  # vLLM's own name for the weights it was started with
CACHE_BYTES = 1 << 30  # for keys and values, on a processor
DTYPES = ("auto", "float32", "bfloat16", "float16")
VARIABLES = {  # of the engine's process: nothing is downloaded, nothing is reported to anybody
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "VLLM_LOGGING_LEVEL": "WARNING",
    "VLLM_USE_V2_MODEL_RUNNER": "0",  # its sampler is another, see `inside`
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",  # the trainer wants the same cores
}
OURS = ("model", "worker_extension_cls", "logprobs_mode", "port", "host", "api_key")  # not for `options`


@dataclass(frozen=True)
class Reader:
    """The part of a model that reads and writes tokens, without its weights: those are vLLM's."""

    folder: Path
    encoder: PromptEncoder
    stops: frozenset[int]  # every special token ends a turn, as for the transformers policy
    context: int  # longest sequence the model can read

    @property
    def tokenizer(self) -> Any:
        """The model's tokenizer."""
        return self.encoder.tokenizer


def load_reader(name: str | Path) -> Reader:
    """From a model's name or folder; nothing is ever downloaded and no code of the folder is run."""
    try:
        from transformers import AutoConfig, AutoTokenizer
    except ImportError as error:
        raise MissingExtra(error.name or "transformers", "train") from error
    folder = resolve_model(name)
    try:
        with quiet():
            check_config(folder)
            config = AutoConfig.from_pretrained(folder, **ONLY_DATA)
            tokenizer = AutoTokenizer.from_pretrained(folder, **ONLY_DATA)
            image_token = getattr(config, "image_token_id", None)
            processor, ends = None, None
            if image_token is not None:
                from transformers import AutoImageProcessor

                processor = AutoImageProcessor.from_pretrained(folder, backend="pil", **ONLY_DATA)
            if (folder / "generation_config.json").is_file():
                from transformers import GenerationConfig

                ends = GenerationConfig.from_pretrained(folder, local_files_only=True).eos_token_id
    except Exception as error:  # a damaged folder fails in as many ways as there are file formats
        raise ConfigError(f"the model in {folder} cannot be read: {type(error).__name__}: {error}") from error
    if processor is not None and not hasattr(processor, "merge_size"):
        raise ConfigError("the model's image processor is not supported; use a model of the Qwen-VL family")
    encoder = PromptEncoder(tokenizer, processor, image_token)
    context = int(getattr(config.get_text_config(), "max_position_embeddings", None) or 1 << 20)
    stops = encoder.specials | frozenset([ends] if isinstance(ends, int) else ends or [])
    return Reader(folder, encoder, stops, context)


class VLLMEngine:
    """An engine that several policies may share; use as a context manager, or `close` it.

    - `model`: a folder or a built-in name. `mode`: "process" runs the engine in a supervised process, "server" starts
      vLLM's own server on loopback with a key of its own; `base_url` uses a server that runs already, with the key in
      the environment variable `api_key_env`.
    - `python`: an interpreter that has vLLM; `agentrl.core.interpreter.find_interpreter` says where it is looked for.
    - `dtype`: float32 on a processor and bfloat16 on a GPU unless told. `max_model_len` shortens the model's context,
      `batch_size` limits the rows computed together, `gpu_memory` is vLLM's share of the GPU. `options` are further
      engine arguments of vLLM.
    - `transfer`: how new weights get there: "file" (written to memory that all processes share), "ipc" (a block of
      memory that trainer and engine both map, see `weights`: of the GPU where both use the same one), or, with a
      server and untested, "nccl" (see there, too).
    - `sleep`: lets `sleep()` move an engine on a GPU out of its memory until the next question or update.
    - `deadline`: seconds without a sign of life (of a server: for one answer) after which an engine is taken for dead.

    An engine that dies or hangs is started again with the newest weights and asked once more (`restarts`, `retries`
    count that). One that cannot start because another program gave GPU memory back while vLLM measured it is started
    once more too; the second time that is `MemoryUnsettled`. `update_weights` replaces all weights between two calls;
    one that fails half-way leaves the engine refusing every question (`EngineFault`) until another succeeds.
    """

    def __init__(
        self,
        model: str | Path,
        *,
        mode: Mode = "process",
        base_url: str | None = None,
        api_key_env: str = "VLLM_API_KEY",
        port: int = 0,
        python: str | Path | None = None,
        dtype: str = "auto",
        max_model_len: int | None = None,
        batch_size: int = 256,
        gpu_memory: float = 0.4,
        options: Mapping[str, Any] | None = None,
        transfer: Kind = "file",
        sleep: bool = False,
        deadline: float = 600.0,
        start_deadline: float = 900.0,
    ) -> None:
        if mode not in ("process", "server"):
            raise ConfigError(f'mode must be "process" or "server"; got {mode!r}')
        if dtype not in DTYPES:
            raise ConfigError(f"dtype must be one of {', '.join(DTYPES)}; got {dtype!r}")
        if transfer not in KINDS or (transfer == "nccl" and mode != "server" and base_url is None):
            raise ConfigError(f"transfer must be one of {', '.join(KINDS)}, the last with a server; got {transfer!r}")
        self.transfer: Kind = transfer
        self._sender: DeviceTransfer | None = None
        self.reader: Reader = load_reader(model)
        self.context = self.reader.context
        if max_model_len is not None:
            self.context = min(whole_number("max_model_len", max_model_len, at_least=2), self.context)
        times = {
            "deadline": positive_number("deadline", deadline),
            "start_deadline": positive_number("start_deadline", start_deadline),
        }
        whole_number("batch_size", batch_size, at_least=1)
        self.interpreter: Interpreter | None = None
        if base_url is not None:
            self.backend: Backend = RemoteServer(base_url, api_key_env, deadline=times["deadline"])
        else:
            self.interpreter = find_interpreter(VLLM, python)
            check_version(self.interpreter, mode)
            if sleep and is_cpu_build(self.interpreter):
                raise ConfigError("sleep=True needs a GPU; this vLLM is a CPU build")
            chosen = self._options(dtype, batch_size, gpu_memory, options or {})
            if sleep:
                chosen["enable_sleep_mode"] = True
            variables = {name: os.environ.get(name, value) for name, value in VARIABLES.items()}
            given = (self.interpreter, self.reader.folder, chosen, variables)
            self.backend = (
                LocalBackend(*given, **times) if mode == "process" else ServerBackend(*given, port=port, **times)
            )
        self.store: WeightFiles | SharedWeights = SharedWeights() if transfer == "ipc" else WeightFiles()
        self.version = 0  # what trainers call the weights that are in the engine now
        self.restarts = self.retries = self.updates = 0
        self.update_seconds = 0.0
        self._name = FIRST  # what the engine calls them: another name for every set of weights
        self._mixed = ""
        self._up = self._asleep = False
        self._can_sleep = sleep
        self._lock = threading.RLock()

    # ------------------------------------------------------------------ asking

    def generate(self, requests: Sequence[Request]) -> tuple[list[Reply], int]:
        """Answer all requests with one set of weights; the answers, and the version of those weights."""
        with self._lock:  # an update waits until the number is read
            replies = self._ask(len(requests), lambda: self._generate(requests)) if requests else []
            return replies, self.version

    def score(self, requests: Sequence[Request], temperature: float) -> list[list[float]]:
        """The log-probability of every token of each prompt but its first, and of the answer's."""
        return self._ask(len(requests), lambda: self.backend.score(requests, temperature)) if requests else []

    def start(self) -> None:
        """Start the engine now rather than at the first question."""
        with self._lock, self._noticing_loss():
            self._raise()

    def sleep(self) -> None:
        """Leave the GPU's memory to others, until the next question or update; does nothing without `sleep=True`."""
        with self._lock, self._noticing_loss():
            if self._can_sleep and self._up and not self._asleep:
                self.backend.sleep()
                self._asleep = True

    def _wake(self) -> None:
        if self._asleep:
            self.backend.wake()
            self._asleep = False

    def _generate(self, requests: Sequence[Request]) -> list[Reply]:
        replies = self.backend.generate(requests)
        wrong = {version for reply in replies for version in reply.versions} - {self._name}
        if wrong and self.backend.restartable:
            raise EngineLost(f"vLLM answered with weights {sorted(wrong)}; expected {self._name}")
        return replies

    def _ask(self, rows: int, work: Callable[[], Result]) -> Result:
        """Do it, and once more if the engine is lost on the way."""
        with self._lock:
            self._refuse_mixed()
            try:
                with self._noticing_loss():
                    self._raise()
                    return work()
            except EngineLost as fault:
                log.warning("vLLM died (%s); retrying %d requests", str(fault).splitlines()[0], rows)
                self.retries += rows
            with self._noticing_loss():
                self._raise()
                return work()

    def _raise(self) -> None:
        """An engine that runs, with the newest weights."""
        if self._up:
            self._wake()
            return
        self._begin()
        if self.store.newest is not None:
            self.backend.load(self.store.newest, self._name)
        elif self.updates and self.transfer == "nccl":
            self._mixed = "a fresh engine has the first weights, and the newest were not kept"
            self._refuse_mixed()
        self._up = True

    def _begin(self) -> None:
        try:
            able = self.backend.start()
        except MemoryUnsettled as fault:  # by the time it measures again, what was given back has been
            log.warning("restarting vLLM: %s", str(fault).splitlines()[0])
            self._drop()
            able = self.backend.start()
        if able < self.context:
            log.warning("vLLM's context is %d tokens, the model's %d; using the shorter one", able, self.context)
            self.context = able

    @contextlib.contextmanager
    def _noticing_loss(self) -> Iterator[None]:
        try:
            yield
        except EngineLost:
            self._drop()
            raise
        except BaseException as error:
            if not isinstance(error, Exception):  # interrupted: what it was doing would meet the next question
                self._up = self._asleep = False
                self.backend.stop()
            raise

    def _drop(self) -> None:
        """End what is left of the engine; the next question finds a fresh one."""
        self._up, self._asleep, self._sender = False, False, None
        if self.backend.restartable:
            self.restarts += 1
            self.backend.stop()

    def _refuse_mixed(self) -> None:
        if self._mixed:
            raise EngineFault(
                f"the engine's weights are partly old and partly new ({self._mixed}); "
                "it answers again after a whole update"
            )

    # ------------------------------------------------------------------ new weights

    def update_weights(self, weights: Mapping[str, torch.Tensor], version: int | None = None) -> None:
        """Replace all weights by these (names as in checkpoint files) and call them `version`.

        Waits for the answers that are being computed, and forgets what the old weights computed.
        """
        begun = time.perf_counter()
        with self._lock:
            number = self.version + 1 if version is None else whole_number("version", version, at_least=0)
            ticket = self.store.write(weights) if self.transfer != "nccl" else None
            try:
                self._replace(ticket, weights, str(self.updates + 1))
            except EngineFault as fault:
                if ticket is not None:
                    self.store.discard(ticket)
                self._mixed = str(fault).splitlines()[0][:300]
                raise EngineFault(f"the update of the engine's weights failed: {fault}") from fault
            if ticket is not None:
                self.store.keep(ticket)
            self._mixed = ""
            self.updates += 1
            self.version = number
            self.update_seconds += time.perf_counter() - begun

    def _replace(self, ticket: str | None, weights: Mapping[str, torch.Tensor], name: str) -> None:
        if self._mixed:  # whatever the failed update left behind, a fresh engine has nothing of it
            self._drop()
        before, self._name = self._name, name
        try:
            with self._noticing_loss():
                self._wake() if self._up else self._begin()
                self._hand_over(ticket, weights, name)
        except EngineLost:
            with self._noticing_loss():
                self._begin()
                self._hand_over(ticket, weights, name)
        except EngineFault:
            self._name = before
            raise
        self._up = True

    def _hand_over(self, ticket: str | None, weights: Mapping[str, torch.Tensor], name: str) -> None:
        if ticket is not None:
            self.backend.load(ticket, name)
            return
        assert isinstance(self.backend, Wire)
        sender = self._sender = self._sender or DeviceTransfer(self.backend.client)
        self.backend.replace_weights(lambda: sender.send(weights), name)

    # ------------------------------------------------------------------ end

    def metrics(self) -> dict[str, float]:
        """What happened so far, by name."""
        names = ("restarts", "retries", "updates", "update_seconds")
        return {name: float(getattr(self, name)) for name in names}

    def close(self) -> None:
        """End the engine and remove its weights. The next question would start it anew with the model's own."""
        with self._lock:
            self._up = self._asleep = False
            self.backend.stop()
            self.store.close()
            self._name, self._mixed, self.version = FIRST, "", 0

    def __enter__(self) -> VLLMEngine:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # ------------------------------------------------------------------ arguments

    def _options(self, dtype: str, batch_size: int, gpu_memory: float, further: Mapping[str, Any]) -> dict[str, Any]:
        """vLLM's own arguments; the same for the process and the server."""
        if refused := sorted(set(further) & set(OURS)):
            raise ConfigError(f"options cannot set {refused[0]}")
        assert self.interpreter is not None
        seeing = self.reader.encoder.image_token is not None
        found: dict[str, Any] = {
            "dtype": dtype,
            "max_model_len": self.context,
            "max_num_seqs": batch_size,
            "enable_prefix_caching": True,
            "generation_config": "vllm",  # every sampling parameter is sent with every request
            "skip_tokenizer_init": not seeing,  # prompts and answers are token ids
        }
        if seeing:
            found["limit_mm_per_prompt"] = {"image": 256, "video": 0}
        if is_cpu_build(self.interpreter):
            found |= {"dtype": "float32" if dtype == "auto" else dtype, "enforce_eager": True}
            found |= {"kv_cache_memory_bytes": CACHE_BYTES}
        else:
            found["gpu_memory_utilization"] = gpu_memory
        if self.transfer == "nccl":
            found["weight_transfer_config"] = {"backend": self.transfer}
        return found | dict(further)
