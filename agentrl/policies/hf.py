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
from agentrl.models.arm_matmul import quick_products
from agentrl.models.chat import Prompt
from agentrl.models.loading import LoadedModel, load_model, tokenizer_hash
from agentrl.models.prompt_settings import longest_reply, read_settings

if TYPE_CHECKING:
    import torch

    from agentrl.models.decoding import FastDecoder
    from agentrl.models.sampling import Answer

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
        return self.answer(self.loaded.encoder.encode_all(conversations), keys)

    def encode(self, conversation: Conversation) -> Prompt:
        """The prompt of a conversation, ready to be answered."""
        return self.loaded.encoder.encode(conversation)

    def answer(self, prompts: Sequence[Prompt], keys: Sequence[str] | None = None) -> list[Generation]:
        """One answer to each prompt."""
        noise = self._noise(len(prompts), keys)
        found: dict[int, Generation] = {}
        # Prompts of like length side by side: little padding.
        order = sorted(range(len(prompts)), key=lambda index: len(prompts[index].ids))
        for start in range(0, len(order), self.batch_size):
            chosen = order[start : start + self.batch_size]
            found |= zip(chosen, self._batch([prompts[index] for index in chosen], noise[chosen]), strict=True)
        return [found[index] for index in range(len(prompts))]

    def _noise(self, rows: int, keys: Sequence[str] | None) -> torch.Tensor:
        import torch

        self.calls += 1
        width = self.sampling.max_new_tokens
        if keys is None:
            generator = torch.Generator().manual_seed(mixed_seed(self.seed, self.calls - 1))
            return torch.rand(rows, width, generator=generator)
        if len(keys) != rows:
            raise ConfigError(f"keys must have one entry for each conversation; got {len(keys)} for {rows}")
        return torch.from_numpy(named_noise(self.seed, keys, width))

    def _batch(self, prompts: list[Prompt], noise: torch.Tensor) -> list[Generation]:
        room = [min(self.sampling.max_new_tokens, self.loaded.context - len(prompt.ids)) for prompt in prompts]
        fits = [index for index, tokens in enumerate(room) if tokens > 0]
        if len(fits) < len(prompts):
            log.warning(
                "%d conversations fill the model's context of %d tokens", len(prompts) - len(fits), self.loaded.context
            )
        given = ([prompts[index] for index in fits], noise[fits], [room[index] for index in fits])
        answers = dict(zip(fits, self._decode(*given) if fits else [], strict=True))
        how = self.sampling.to_json()
        return [self._generation(prompt, answers.get(index), dict(how)) for index, prompt in enumerate(prompts)]

    def _decode(self, prompts: list[Prompt], noise: torch.Tensor, limits: list[int]) -> list[Any]:
        import torch

        from agentrl.models.attention import supported
        from agentrl.models.sampling import Decoder
        from agentrl.models.scoring import pack

        loaded = self.loaded
        quick = quick_products(loaded.model)
        with engine_faults(self.batch_size), torch.inference_mode(), evaluating(loaded.model), quick:
            if supported(loaded.model):
                return self._fast().run(prompts, noise, limits, self.sampling)
            batch = pack(loaded.model, prompts, loaded.pad, loaded.encoder.image_token)
            return Decoder(loaded.model, batch, sorted(loaded.stops), limits).run(noise, self.sampling)

    def _fast(self) -> FastDecoder:
        """The model's decoder: all policies of one loaded model share its memory and its recorded steps."""
        from agentrl.models.decoding import FastDecoder

        loaded, stops = self.loaded, sorted(self.loaded.stops)
        if loaded.decoder is None or not loaded.decoder.serves(loaded.model, stops):
            loaded.decoder = FastDecoder(loaded.model, loaded.pad, loaded.encoder.image_token, stops)
        return loaded.decoder

    def release(self) -> None:
        """Give back the GPU memory kept for generation, for a trainer that needs it; the next call takes it again."""
        if self.loaded.decoder is not None:
            self.loaded.decoder.release()

    def _generation(self, prompt: Prompt, answer: Answer | None, how: dict[str, Any]) -> Generation:
        from agentrl.models.sampling import Answer

        answer = answer or Answer([], [], stopped=False)
        said = answer.ids[:-1] if answer.stopped else answer.ids
        text = self._text(tuple(said))
        return Generation(
            text=text,
            action=text,
            token_ids=answer.ids,
            logprobs=answer.logprobs,
            finish_reason="stop" if answer.stopped else "length",
            version=self.version,
            prompt_ids=prompt.ids,
            sampling=how,
        )

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
        rows = [self._whole(*row) for row in zip(prompts, responses, shown, strict=True)]
        with engine_faults(len(rows)), quick_products(self.loaded.model):
            return self._forced(rows, [len(prompt) for prompt in prompts], responses) if rows else []

    def _whole(self, prompt: Sequence[int], response: Sequence[int], images: Sequence[Any]) -> Prompt:
        pixels, grids, _ = self.loaded.encoder.pictures(images) if images else (None, None, [])
        # The last token is predicted, never read: a stop token that stands for a picture needs no picture.
        return Prompt([*prompt, *response[:-1]], pixels, grids)

    def _forced(self, rows: list[Prompt], starts: list[int], responses: Sequence[Sequence[int]]) -> list[torch.Tensor]:
        import torch

        from agentrl.models.sampling import log_distribution
        from agentrl.models.scoring import pack

        loaded = self.loaded
        batch = pack(loaded.model, rows, loaded.pad, loaded.encoder.image_token, side="right")
        found = loaded.model(
            input_ids=batch.ids,
            position_ids=batch.positions,
            attention_mask=batch.mask,
            use_cache=False,
            **batch.extra,
        )
        scores = []
        for logits, start, response in zip(found.logits, starts, responses, strict=True):
            wanted = torch.tensor(response, dtype=torch.long, device=logits.device)
            spread = log_distribution(logits[start - 1 : start - 1 + len(wanted)], self.sampling.temperature)
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
