"""The policy that is a transformers model: any causal language model, or a model of the Qwen-VL family that sees."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium as gym

from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError, EngineFault
from agentrl.core.policy import Conversation, Generation
from agentrl.core.seeding import mixed_seed, named_noise
from agentrl.models.chat import Prompt
from agentrl.models.loading import LoadedModel, load_model, tokenizer_hash
from agentrl.models.prompt_settings import longest_reply, read_settings

if TYPE_CHECKING:
    import torch


import platform

log = logging.getLogger(__name__)


class HFPolicy:
    """Samples answers in batches and records their token ids and log-probabilities.

    `model` is a folder, a built-in name ("tiny-text", "tiny-vlm", "smollm2") or a `LoadedModel` that a trainer
    shares.
    Log-probabilities are those at `temperature`, before `top_k` and `top_p` cut; the cut only decides what is drawn.
    A turn ends at any special token ("stop") or after `max_new_tokens` ("length"). Sampling is
    seeded by `seed` and the conversation's key (collectors name every turn of every episode), so that answers do not
    depend on the other conversations of a call; without keys, by `seed`, the row and the number of calls so far
    (`calls`, which a resumed run sets). Neither depends on `batch_size`.
    `max_new_tokens` is what a checkpoint was trained with, else 128; `prompt_settings` is all that it carries.
    Where the conversation leaves the model no room to answer, the answer is empty and its finish reason "length".
    """

    name = "hf"
    needs_text = True
    batched = True  # many conversations at once are quicker than one after the other
    keyed = True  # `act` takes keys that seed sampling

    def __init__(
        self,
        model: str | Path | LoadedModel,
        *,
        temperature: float = 1.0,
        top_p: float = 1.0,
        top_k: int = 0,
        max_new_tokens: int | None = None,
        greedy: bool = False,
        batch_size: int = 256,
        device: str = "auto",
        dtype: str = "auto",
        seed: int = 0,
    ) -> None:
        self.loaded = model if isinstance(model, LoadedModel) else load_model(model, device, dtype)
        from agentrl.models.sampling import Sampling

        # A model that a trainer shares is being trained: its folder says how it began.
        self.prompt_settings = None if isinstance(model, LoadedModel) else read_settings(self.loaded.folder)
        longest = longest_reply(self.prompt_settings, max_new_tokens)
        self.sampling = Sampling(temperature, top_p, top_k, greedy, longest)
        self.batch_size = whole_number("batch_size", batch_size, at_least=1)
        self.seed, self.calls, self.version = seed, 0, 0
        self.tokenizer_hash = tokenizer_hash(self.loaded.tokenizer)
        self._text = lru_cache(4096)(self._decode_text)  # short answers are often the same

    def act(
        self,
        conversations: Sequence[Conversation],
        envs: Sequence[gym.Env] | None = None,
        *,
        keys: Sequence[str] | None = None,
    ) -> list[Generation]:
        """One answer to each conversation; `keys` seed the sampling of each."""
        return self.answer(self.encode_all(conversations), keys)

    def encode_all(self, conversations: Sequence[Conversation]) -> list[Prompt]:
        """The prompts of many conversations."""
        return self.loaded.encoder.encode_all(conversations)

    def encode(self, conversation: Conversation) -> Prompt:
        """The prompt of a conversation, ready to be answered."""
        return self.loaded.encoder.encode(conversation)

    def answer(self, prompts: Sequence[Prompt], keys: Sequence[str] | None = None) -> list[Generation]:
        """One answer to each prompt."""
        import torch

        self.calls += 1
        width = self.sampling.max_new_tokens
        if keys is None:
            generator = torch.Generator().manual_seed(mixed_seed(self.seed, self.calls - 1))
            noise = torch.rand(len(prompts), width, generator=generator)
        elif len(keys) == len(prompts):
            noise = torch.from_numpy(named_noise(self.seed, keys, width))
        else:
            raise ConfigError(f"keys must have one entry for each conversation; got {len(keys)} for {len(prompts)}")
        found: dict[int, Generation] = {}
        # Prompts of like length side by side: little padding.
        order = sorted(range(len(prompts)), key=lambda index: len(prompts[index].ids))
        for start in range(0, len(order), self.batch_size):
            chosen = order[start : start + self.batch_size]
            found |= zip(chosen, self._batch([prompts[index] for index in chosen], noise[chosen]), strict=True)
        return [found[index] for index in range(len(prompts))]

    def _batch(self, prompts: list[Prompt], noise: torch.Tensor) -> list[Generation]:
        from agentrl.models.sampling import Answer

        room = [min(self.sampling.max_new_tokens, self.loaded.context - len(prompt.ids)) for prompt in prompts]
        fits = [index for index, tokens in enumerate(room) if tokens > 0]
        if len(fits) < len(prompts):
            log.warning(
                "%d prompts leave no room to answer in the model's context of %d tokens",
                len(prompts) - len(fits),
                self.loaded.context,
            )
        given = ([prompts[index] for index in fits], noise[fits], [room[index] for index in fits])
        answers = dict(zip(fits, self._decode(*given) if fits else [], strict=True))
        generations, sampling = [], self.sampling.to_json()
        for index, prompt in enumerate(prompts):
            answer = answers.get(index) or Answer([], [], stopped=False)
            text = self._text(tuple(answer.ids[:-1] if answer.stopped else answer.ids))
            generations.append(
                Generation(
                    text=text,
                    action=text,
                    token_ids=answer.ids,
                    logprobs=answer.logprobs,
                    finish_reason="stop" if answer.stopped else "length",
                    version=self.version,
                    prompt_ids=prompt.ids,
                    sampling=sampling,
                )
            )
        return generations

    def _decode(self, prompts: list[Prompt], noise: torch.Tensor, limits: list[int]) -> list[Any]:
        import torch

        from agentrl.models.attention import supported
        from agentrl.models.decoding import FastDecoder
        from agentrl.models.sampling import Decoder
        from agentrl.models.scoring import pack

        loaded = self.loaded
        quick = quick_products(loaded.model)
        with engine_faults(self.batch_size), torch.inference_mode(), evaluating(loaded.model), quick:
            if supported(loaded.model):
                # All policies of one loaded model share its decoder: its memory and its recorded steps.
                stops = sorted(loaded.stops)
                if loaded.decoder is None or not loaded.decoder.serves(loaded.model, stops):
                    loaded.decoder = FastDecoder(loaded.model, loaded.pad, loaded.encoder.image_token, stops)
                return loaded.decoder.run(prompts, noise, limits, self.sampling)
            batch = pack(loaded.model, prompts, loaded.pad, loaded.encoder.image_token)
            return Decoder(loaded.model, batch, sorted(loaded.stops), limits).run(noise, self.sampling)

    def release(self) -> None:
        """Give back the GPU memory kept for generation, for a trainer that needs it; the next call takes it again."""
        if self.loaded.decoder is not None:
            self.loaded.decoder.release()

    def _decode_text(self, ids: tuple[int, ...]) -> str:
        return self.loaded.tokenizer.decode(list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False)

    def logprobs_of(
        self,
        prompts: Sequence[Sequence[int]],
        responses: Sequence[Sequence[int]],
        images: Sequence[Sequence[Any]] | None = None,
    ) -> list[torch.Tensor]:
        """The log-probabilities of given responses at the sampling temperature, by one forward pass over all rows.

        With gradients where they are switched on. `images` are the pictures of each prompt, in order; the prompt ids
        already hold their places.
        """
        shown = images if images is not None else [[]] * len(prompts)
        if not len(prompts) == len(responses) == len(shown):
            lengths = f"{len(prompts)}, {len(responses)} and {len(shown)}"
            raise ConfigError(f"prompts, responses and images must have the same length; got {lengths}")
        rows = []
        for prompt, response, pictures in zip(prompts, responses, shown, strict=True):
            pixels, grids, _ = self.loaded.encoder.pictures(pictures) if pictures else (None, None, [])
            # The last token is predicted, never read: a stop token that stands for a picture needs no picture.
            rows.append(Prompt([*prompt, *response[:-1]], pixels, grids))
        if not rows:
            return []
        import torch

        from agentrl.models.sampling import log_distribution
        from agentrl.models.scoring import pack

        loaded, scores = self.loaded, []
        with engine_faults(len(rows)), quick_products(loaded.model):
            batch = pack(loaded.model, rows, loaded.pad, loaded.encoder.image_token, side="right")
            found = loaded.model(
                input_ids=batch.ids,
                position_ids=batch.positions,
                attention_mask=batch.mask,
                use_cache=False,
                **batch.extra,
            )
            for logits, prompt, response in zip(found.logits, prompts, responses, strict=True):
                wanted = torch.tensor(response, dtype=torch.long, device=logits.device)
                first = len(prompt) - 1  # whose logits predict the first token of the response
                spread = log_distribution(logits[first : first + len(wanted)], self.sampling.temperature)
                scores.append(spread.gather(-1, wanted[:, None])[:, 0])
        return scores


@contextmanager
def evaluating(model: Any) -> Iterator[None]:
    """No dropout inside; afterwards the mode it was in."""
    training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(training)


@contextmanager
def quick_products(model: Any) -> Iterator[None]:
    """Inside, torch multiplies float32 matrices without oneDNN if `model` is on an ARM processor; else nothing changes.

    There oneDNN prepares the weights anew in every call, about 0.7 ms each: at 64 rows of a tiny model that is most of
    a forward pass, and large products gain nothing from it. A trainer puts forward *and* backward passes inside.
    """
    import torch

    slow = model.device.type == "cpu" and model.dtype == torch.float32 and platform.machine() in ("aarch64", "arm64")
    before = torch.backends.mkldnn.enabled
    if slow and before:
        torch.backends.mkldnn.set_flags(_enabled=False)
    try:
        yield
    finally:
        if slow and before:
            torch.backends.mkldnn.set_flags(_enabled=True)


@contextmanager
def engine_faults(rows: int) -> Iterator[None]:
    """Whatever the model raises as an `EngineFault`; out of memory says what to turn."""
    import torch

    try:
        yield
    except torch.OutOfMemoryError as error:
        raise EngineFault(f"out of GPU memory; lower batch_size (now {rows}) or max_new_tokens") from error
    except (RuntimeError, ValueError, IndexError, MemoryError) as error:
        if isinstance(error, MemoryError) or "DefaultCPUAllocator" in str(error):
            raise EngineFault(f"out of memory; lower batch_size (now {rows}) or max_new_tokens") from error
        raise EngineFault(f"the model failed: {type(error).__name__}: {error}") from error
