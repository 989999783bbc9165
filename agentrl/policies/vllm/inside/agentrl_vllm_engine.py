"""vLLM's engine as the target of a supervised worker: it answers prompts of token ids and takes new weights."""

# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import time
from typing import Any

EXTENSION = "agentrl_vllm_worker.Extension"


class Engine:
    """One engine in this process. Whatever it raises leaves it as it was, but for `load`: see there."""

    def __init__(self, model: str, options: dict[str, Any]) -> None:
        from vllm import LLM

        self._llm: Any = LLM(model=model, worker_extension_cls=EXTENSION, **options)
        self._llm.collective_rpc("agentrl_prepare")
        self._mixed = False
        self._rows: dict[str, int] = {}  # where the answers of the requests under way belong

    def facts(self) -> dict[str, Any]:
        """What the outside wants to know about it."""
        import vllm

        return {"vllm": vllm.__version__, "context": self._llm.model_config.max_model_len}

    def begin(self, requests: list[dict[str, Any]]) -> None:
        """Take requests on; `proceed` answers them."""
        from vllm import SamplingParams

        if self._mixed:
            raise RuntimeError("the weights are partly old and partly new")
        known, prompts = self._llm.model_config.get_vocab_size(), []
        for request in requests:
            # vLLM without a tokenizer would take any number for a token, and break on it half-way.
            if not request["ids"] or min(request["ids"]) < 0 or max(request["ids"]) >= known:
                raise ValueError(f"a prompt is one or more of the model's {known} tokens")
            prompt: dict[str, Any] = {"prompt_token_ids": request["ids"]}
            if request.get("images"):
                from PIL import Image

                prompt["multi_modal_data"] = {"image": [Image.fromarray(picture) for picture in request["images"]]}
            prompts.append(prompt)
        settings = [SamplingParams(**request["sampling"]) for request in requests]
        names = self._llm.enqueue(prompts, settings, use_tqdm=False)
        # Answers come under the number alone; inside, vLLM adds a dash and letters to it.
        self._rows = {name.partition("-")[0]: row for row, name in enumerate(names)}

    def proceed(self, seconds: float) -> list[list[Any]]:
        """Work for about so long; [row, answer] for what was finished in that time.

        An answer is its token ids, log-probabilities, finish reason, weights' versions, and the prompt as read with its
        own log-probabilities where they were asked for.
        """
        until, found = time.monotonic() + seconds, []
        while self._llm.llm_engine.has_unfinished_requests() and time.monotonic() < until:
            done = [output for output in self._llm.llm_engine.step() if output.finished]
            found += [[self._rows.pop(output.request_id), _answer(output)] for output in done]
        if self._rows and not self._llm.llm_engine.has_unfinished_requests():
            raise RuntimeError(f"vLLM lost {len(self._rows)} requests")
        return found

    def prompt_heat(self, temperature: float) -> None:
        """The temperature of the log-probabilities of prompts from now on."""
        self._llm.collective_rpc("agentrl_prompt_heat", args=(str(temperature),))

    def load(self, ticket: str, version: str) -> None:
        """Take all weights from where the ticket leads; after a failure nothing is answered until one succeeds."""
        self._mixed = True
        self._llm.collective_rpc("agentrl_load", args=(ticket,))
        if not self._llm.reset_prefix_cache():
            raise RuntimeError("the prefix cache still holds what the old weights computed")
        self._llm.reset_mm_cache()
        self._llm.llm_engine.reset_encoder_cache()
        if hasattr(self._llm, "update_weight_version"):  # 0.20 marks no answers with it
            self._llm.update_weight_version(version)
        self._mixed = False

    def sleep(self) -> None:
        """Move the weights to the machine's memory and give the cache up, until `wake`."""
        self._llm.sleep(level=1)

    def wake(self) -> None:
        """Get ready to answer again, with the weights of before."""
        self._llm.wake_up()


def _answer(output: Any) -> list[Any]:
    said = output.outputs[0]
    ids = list(said.token_ids)
    scores = [float(row[token].logprob) for token, row in zip(ids, said.logprobs or [], strict=True)]
    versions = sorted({span.version for span in getattr(said, "weight_versions", None) or []})
    prompt = list(zip(output.prompt_token_ids, output.prompt_logprobs or [], strict=False))
    prompt_scores = [float(row[token].logprob) for token, row in prompt[1:]]
    return [ids, scores, said.finish_reason, versions, list(output.prompt_token_ids), prompt_scores]
