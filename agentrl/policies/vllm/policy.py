"""The policy that is a model in vLLM: token ids in and out, with the meaning they have in the transformers policy."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np

from agentrl.core.errors import ConfigError, EngineFault
from agentrl.core.policy import Conversation, Generation
from agentrl.core.seeding import mixed_seed
from agentrl.models.chat import Prompt, checked_picture, parts_of
from agentrl.models.loading import tokenizer_hash
from agentrl.models.prompt_settings import longest_reply, read_settings
from agentrl.policies.vllm.backend import Reply, Request
from agentrl.policies.vllm.engine import Mode, VLLMEngine

if TYPE_CHECKING:
    from agentrl.models.sampling import Sampling

log = logging.getLogger(__name__)

SILENCE = Reply([], [], False, [], None)  # where there is no room to answer


@dataclass(frozen=True)
class PicturePrompt(Prompt):
    """A prompt with its pictures as they are: vLLM cuts them into patches itself."""

    pictures: list[np.ndarray] = field(default_factory=list)


class VLLMPolicy:
    """Samples answers by vLLM and records their token ids and log-probabilities.

    `model` is a folder, a built-in name or a `VLLMEngine` shared with others; the arguments of an engine of its own are
    `VLLMEngine`'s. Log-probabilities are those at `temperature`, before `top_k` and `top_p` cut. A turn ends at any
    special token ("stop") or after `max_new_tokens` ("length"), which is what a checkpoint was trained with, else 128;
    where the conversation leaves no room to answer, the answer is empty and its finish reason "length". Every row's
    sampling is seeded by `seed`, the number of calls so far (`calls`) and its place in the call: the same calls give
    the same answers, as long as the engine's rounding, which depends on what it computes together, does not tip a draw.
    """

    name = "vllm"
    needs_text = True
    batched = True

    def __init__(
        self,
        model: str | Path | VLLMEngine,
        *,
        temperature: float = 1.0,
        top_p: float = 1.0,
        top_k: int = 0,
        max_new_tokens: int | None = None,
        greedy: bool = False,
        seed: int = 0,
        mode: Mode = "process",
        base_url: str | None = None,
        python: str | Path | None = None,
        dtype: str = "auto",
        max_model_len: int | None = None,
        batch_size: int = 256,
        options: Mapping[str, Any] | None = None,
        deadline: float = 600.0,
    ) -> None:
        from agentrl.models.sampling import Sampling

        self._owned = not isinstance(model, VLLMEngine)
        self.prompt_settings = None if isinstance(model, VLLMEngine) else read_settings(model)
        longest = longest_reply(self.prompt_settings, max_new_tokens)
        self.sampling: Sampling = Sampling(temperature, top_p, top_k, greedy, longest)
        self.engine = (
            model
            if isinstance(model, VLLMEngine)
            else VLLMEngine(
                model,
                mode=mode,
                base_url=base_url,
                python=python,
                dtype=dtype,
                max_model_len=max_model_len,
                batch_size=batch_size,
                options=options,
                deadline=deadline,
            )
        )
        self.seed, self.calls = seed, 0
        self.tokenizer_hash = tokenizer_hash(self.engine.reader.tokenizer)

    @property
    def version(self) -> int:
        """Of the weights in the engine; a trainer that counts in its own way may name them anew."""
        return self.engine.version

    @version.setter
    def version(self, number: int) -> None:
        """Name the weights in the engine."""
        self.engine.version = number

    # ------------------------------------------------------------------ the protocol

    def act(self, conversations: Sequence[Conversation], envs: Sequence[gym.Env] | None = None) -> list[Generation]:
        """One answer to each conversation."""
        return self.answer([self.encode(conversation) for conversation in conversations])

    def encode(self, conversation: Conversation) -> Prompt:
        """The prompt of a conversation, ready to be answered."""
        encoder = self.engine.reader.encoder
        prompt = encoder.encode(conversation)
        if prompt.grids is None:
            return prompt
        shown = [value for message in conversation for kind, value in parts_of(message) if kind == "image"]
        return self._with_pictures(prompt, shown)

    def answer(self, prompts: Sequence[Prompt]) -> list[Generation]:
        """One answer to each prompt."""
        self.calls += 1
        room = [min(self.sampling.max_new_tokens, self.engine.context - len(prompt.ids)) for prompt in prompts]
        fits = [row for row, tokens in enumerate(room) if tokens > 0]
        if len(fits) < len(prompts):
            log.warning(
                "%d prompts leave no room to answer in the model's context of %d tokens",
                len(prompts) - len(fits),
                self.engine.context,
            )
        requests = [self._request(prompts[row], room[row], row) for row in fits]
        replies, version = self.engine.generate(requests)
        found = [self._generation(prompt, SILENCE, version) for prompt in prompts]
        for row, reply in zip(fits, replies, strict=True):
            found[row] = self._generation(prompts[row], reply, version)
        return found

    def logprobs_of(
        self,
        prompts: Sequence[Sequence[int]],
        responses: Sequence[Sequence[int]],
        images: Sequence[Sequence[Any]] | None = None,
    ) -> list[np.ndarray]:
        """The log-probabilities of given responses at the sampling temperature; `images` are those of each prompt."""
        if not len(prompts) == len(responses) == len(images if images is not None else prompts):
            raise ConfigError("prompts, responses and images must have the same length")
        shown = images if images is not None else [[]] * len(prompts)
        found = [np.zeros(0, np.float32) for _ in prompts]
        asked = [row for row, response in enumerate(responses) if len(response)]
        requests = []
        for row in asked:
            prompt, response, pictures = prompts[row], responses[row], shown[row]
            # The answer must be the response's last token. That one is predicted, never read: a stop token that stands
            # for a picture needs no picture.
            whole = Prompt([*prompt, *response[:-1]])
            if pictures:
                pixels, grids, _ = self.engine.reader.encoder.pictures(pictures)
                whole = self._with_pictures(Prompt(whole.ids, pixels, grids), pictures)
            request = self._request(whole, 1, 0)
            only = {"prompt_logprobs": 0, "allowed_token_ids": [int(response[-1])], "top_p": 1.0, "top_k": 0}
            requests.append(replace(request, sampling=request.sampling | only))
        for row, scores in zip(asked, self.engine.score(requests, self.sampling.temperature), strict=True):
            found[row] = np.array(scores[-len(responses[row]) :], dtype=np.float32)
        return found

    def metrics(self) -> dict[str, float]:
        """Restarts, retries and weight updates of the engine so far."""
        return self.engine.metrics()

    def close(self) -> None:
        """End the engine, if it is this policy's own."""
        if self._owned:
            self.engine.close()

    # ------------------------------------------------------------------ prompts

    def _with_pictures(self, prompt: Prompt, pictures: Sequence[Any]) -> PicturePrompt:
        """The pictures at the size that our own processor gives them: so vLLM's finds nothing left to resize."""
        from PIL import Image

        processor, ready = self.engine.reader.encoder.image_processor, []
        for picture, grid in zip(pictures, prompt.grids.tolist(), strict=True):
            array = checked_picture(picture)
            height, width = (side * processor.patch_size for side in grid[1:])
            if array.shape[:2] != (height, width):
                array = np.asarray(Image.fromarray(array).resize((width, height), processor.resample))
            ready.append(array)
        return PicturePrompt(prompt.ids, prompt.pixels, prompt.grids, ready)

    def _request(self, prompt: Prompt, limit: int, row: int) -> Request:
        pictures = prompt.pictures if isinstance(prompt, PicturePrompt) else []
        if prompt.grids is not None and not pictures:
            raise ConfigError("this prompt was encoded by another policy; vLLM wants the pictures themselves")
        how, reader = self.sampling, self.engine.reader
        sampling = {
            "max_tokens": limit,
            "temperature": how.temperature,
            # The likeliest token as a cut, not as vLLM's temperature 0: log-probabilities stay those at ours.
            "top_p": 1.0 if how.greedy else how.top_p,
            "top_k": 1 if how.greedy else how.top_k,
            "seed": mixed_seed(self.seed, self.calls, row) >> 1,
            "logprobs": 0,
            "stop_token_ids": sorted(reader.stops),
            "detokenize": False,
        }
        return Request(self._folded(prompt), sampling, pictures)

    def _folded(self, prompt: Prompt) -> list[int]:
        """One token for each picture, as vLLM wants it."""
        if prompt.grids is None:
            return prompt.ids
        encoder = self.engine.reader.encoder
        lengths = iter(int(grid.prod()) // encoder.image_processor.merge_size**2 for grid in prompt.grids)
        ids, place = list[int](), 0
        while place < len(prompt.ids):
            ids.append(prompt.ids[place])
            place += next(lengths) if prompt.ids[place] == encoder.image_token else 1
        return ids

    # ------------------------------------------------------------------ answers

    def _generation(self, prompt: Prompt, reply: Reply, version: int) -> Generation:
        if reply.prompt_ids is not None and reply.prompt_ids != prompt.ids:
            raise EngineFault("vLLM encoded the prompt differently; check its image processor settings")
        if len(reply.ids) != len(reply.logprobs):
            raise EngineFault(f"vLLM gave {len(reply.logprobs)} log-probabilities of {len(reply.ids)} tokens")
        said = reply.ids[:-1] if reply.stopped else reply.ids
        tokenizer = self.engine.reader.tokenizer
        text = tokenizer.decode(said, skip_special_tokens=False, clean_up_tokenization_spaces=False)
        return Generation(
            text=text,
            action=text,
            token_ids=reply.ids,
            logprobs=reply.logprobs,
            finish_reason="stop" if reply.stopped else "length",
            version=version,
            prompt_ids=prompt.ids,
            sampling=self.sampling.to_json(),
        )
