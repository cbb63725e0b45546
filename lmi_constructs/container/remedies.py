"""What to change when something goes wrong in operation: the guide's five remedies as code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lmi_constructs.container.cdk_tokens import is_token
from lmi_constructs.container.release import LmiContainer
from lmi_constructs.facts.engine_arguments import engine_arguments
from lmi_constructs.facts.handler import handler_behavior
from lmi_constructs.facts.limits import limits
from lmi_constructs.facts.options import options

if TYPE_CHECKING:
    from lmi_constructs.container.settings import LmiSettings

_LEAST_SEQUENCES: Final = 4
_LEAST_TOKENS: Final = 1024
_LEAST_MEMORY: Final = 0.8
_MOST_MEMORY: Final = 0.95
_MOST_SEQUENCES: Final = 256
_MEMORY_DOWN: Final = 0.05
_MEMORY_UP: Final = 0.03
"""Floors, ceilings and steps of the remedies: chosen here, so that a few steps lead from any sensible
setting to the end; no source states them."""


@dataclass(frozen=True, slots=True)
class Change:
    """One changed setting.

    Attributes:
        field: Field of the settings.
        before: Value before, `None` if it was not set.
        after: Value now.
        why: Why this helps.
    """

    field: str
    before: object
    after: object
    why: str

    def __str__(self) -> str:
        """Return the change as a sentence."""
        return f"{self.field}: {self.before} -> {self.after} ({self.why})"


@dataclass(frozen=True, slots=True)
class Remedy:
    """Changed settings, and what was changed.

    Attributes:
        settings: The settings to deploy next.
        changes: What was changed, in the order of effect; empty if nothing is left to change.
        notes: What else to look at, outside the settings.
    """

    settings: LmiSettings
    changes: tuple[Change, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Remedies:
    """Remedies for one set of settings; each can be applied again to its own result.

    Each takes the release that is deployed, so that they are called alike; by default the library's
    default release. Some change the same on all.

    Attributes:
        settings: The settings that were in use when it went wrong.
    """

    settings: LmiSettings

    def out_of_memory(self, container: LmiContainer | None = None) -> Remedy:
        """Lower, by one step, what takes GPU memory.

        More GPUs share the model first; then the number of sequences, the longest sequence and the
        tokens of a step are halved, and the engine's share of the memory is lowered toward 0.8
        (that leaves room for what the engine does not count). When all that is at its floor, CUDA
        graphs go.
        """
        release = container or LmiContainer.default()
        settings, changes = self.settings, list[Change]()
        degree, sequences = settings.tensor_parallel_degree, _sequences(settings, release)
        if isinstance(degree, int) and not is_token(degree):
            why = "weights and cache are spread over all GPUs of the instance"
            changes.append(Change("tensor_parallel_degree", degree, "max", why))
        if not is_token(settings.max_rolling_batch_size) and sequences > _LEAST_SEQUENCES:
            half = max(_LEAST_SEQUENCES, sequences // 2)
            why = "fewer sequences in flight need less memory for activations and graphs"
            changes.append(Change("max_rolling_batch_size", sequences, half, why))
        for field in ("max_model_len", "max_num_batched_tokens"):
            tokens = getattr(settings, field)
            if isinstance(tokens, int) and tokens > _LEAST_TOKENS:
                half = max(_LEAST_TOKENS, tokens // 2)
                why = "shorter sequences and steps need less cache and fewer activations"
                changes.append(Change(field, tokens, half, why))
        memory = _memory(settings, release)
        if memory is not None and memory > _LEAST_MEMORY:
            lower = max(_LEAST_MEMORY, round(memory - _MEMORY_DOWN, 2))
            why = "leaves room for what the engine does not count"
            changes.append(Change("gpu_memory_utilization", memory, lower, why))
        if not changes and settings.enforce_eager is not True:
            why = "CUDA graphs are not kept; answers become slower"
            changes.append(Change("enforce_eager", settings.enforce_eager, True, why))
        note = "if the engine finds no memory for the cache at start, the model does not fit: take"
        notes = [f"{note} more or larger GPUs, or a quantized checkpoint"]
        if settings.max_model_len is None:
            notes.append("max_model_len is not set, so the model's own context counts: set it")
        return self._remedy(changes, *notes)

    def loading_timeout(self, container: LmiContainer | None = None) -> Remedy:
        """Give loading twice the time inside the container, up to one hour."""
        del container
        before = self.settings.model_loading_timeout
        seconds = before if isinstance(before, int) else _loading_seconds_of_image()
        after = min(limits()["health_check_timeout"].maximum or 2 * seconds, 2 * seconds)
        why = "seconds that the server waits for the model"
        raised = after > seconds and not is_token(before)
        changes = [Change("model_loading_timeout", before, after, why)] if raised else []
        return self._remedy(
            changes,
            "the endpoint's container_startup_health_check_timeout must be at least as long (60 to"
            " 3600 seconds)",
            "weights from S3 load faster than from the hub; load_format='runai_streamer' may help",
        )

    def slow(self, container: LmiContainer | None = None) -> Remedy:
        """Remove what holds answers back on this release.

        The asynchronous handler serves, more sequences run at once (the container's default there
        is only 32), CUDA graphs and prefix caching are on, and the cache gets more memory. Chunked
        prefill stays on: since vLLM's V1 engine, turning it off does not help single requests.
        """
        release = container or LmiContainer.default()
        settings, changes = self.settings, list[Change]()
        behavior = handler_behavior(release.release.lmi or 0)
        older = (
            settings.rolling_batch in ("vllm", "lmi-dist", "disable") and not settings.async_mode
        )
        if behavior and (settings.async_mode is False or older):
            why = "the asynchronous handler replaces the slower one"
            changes.append(Change("rolling_batch", settings.rolling_batch, None, why))
            changes.append(Change("async_mode", settings.async_mode, True, why))
        sequences, tokens = _sequences(settings, release), settings.max_num_batched_tokens
        most = min(_MOST_SEQUENCES, tokens) if isinstance(tokens, int) else _MOST_SEQUENCES
        if not is_token(settings.max_rolling_batch_size) and sequences < most:
            why = "requests wait less for a place; this takes memory"
            more = min(most, 2 * sequences)
            changes.append(Change("max_rolling_batch_size", sequences, more, why))
        if settings.enforce_eager is True:
            changes.append(Change("enforce_eager", True, None, "CUDA graphs speed up decoding"))
        if settings.enable_prefix_caching in (None, False):
            before, why = settings.enable_prefix_caching, "equal beginnings are computed once"
            changes.append(Change("enable_prefix_caching", before, True, why))
        if settings.enable_chunked_prefill is False:
            why = "long prompts do not stop the others"
            changes.append(Change("enable_chunked_prefill", False, None, why))
        memory = _memory(settings, release)
        if memory is not None and memory < _MOST_MEMORY:
            more_memory = min(_MOST_MEMORY, round(memory + _MEMORY_UP, 2))
            why = "more cache for sequences at the same time"
            changes.append(Change("gpu_memory_utilization", memory, more_memory, why))
        return self._remedy(changes)

    def nccl(self, container: LmiContainer | None = None) -> Remedy:
        """Turn the engine's own all-reduce off, and let NCCL say what it does."""
        del container
        settings, changes = self.settings, list[Change]()
        if settings.disable_custom_all_reduce is not True:
            off = settings.disable_custom_all_reduce
            changes.append(Change("disable_custom_all_reduce", off, True, "uses plain NCCL"))
        if settings.environment.get("NCCL_DEBUG") != "INFO":
            after = {**settings.environment, "NCCL_DEBUG": "INFO"}
            why = "the log then names the failing transport; remove it afterward"
            changes.append(Change("environment", dict(settings.environment), after, why))
        return self._remedy(
            changes,
            "NCCL_SOCKET_IFNAME is not set: GPUs of one instance need no network interface, and"
            " eth0 can be wrong on instances with several",
        )

    def tokenizer(self, container: LmiContainer | None = None) -> Remedy:
        """Use the slow tokenizer, and allow code in the model repository."""
        del container
        settings, changes = self.settings, list[Change]()
        if settings.tokenizer_mode in (None, "auto"):
            mode, why = settings.tokenizer_mode, "does not need a fast tokenizer file"
            changes.append(Change("tokenizer_mode", mode, "slow", why))
        if settings.trust_remote_code is not True:
            before, why = settings.trust_remote_code, "the tokenizer may be code of the repository"
            changes.append(Change("trust_remote_code", before, True, why))
        return self._remedy(
            changes,
            "a gated model needs an access token: give it with the model data, from a secret",
            "code of the repository runs with the endpoint's permissions: pin a revision",
        )

    def _remedy(self, changes: list[Change], *notes: str) -> Remedy:
        changes = [change for change in changes if change.before != change.after]
        changed = self.settings.replace(**{change.field: change.after for change in changes})
        return Remedy(changed, tuple(changes), notes)


def _loading_seconds_of_image() -> int:
    """Return how long the server waits for a model by default: what the image's Dockerfile sets."""
    return int(options()["MODEL_LOADING_TIMEOUT"].default or 0)


def _sequences(settings: LmiSettings, container: LmiContainer) -> int:
    """Return the sequences in flight, with the container's default of the mode."""
    if isinstance(settings.max_rolling_batch_size, int):
        return settings.max_rolling_batch_size
    behavior = handler_behavior(container.release.lmi or 0)
    legacy = settings.async_mode is False or settings.rolling_batch in ("vllm", "lmi-dist")
    return 256 if legacy or behavior is None else 32


def _memory(settings: LmiSettings, container: LmiContainer) -> float | None:
    """Return the engine's share of the memory, with the engine's default; `None` for a token."""
    if is_token(settings.gpu_memory_utilization):
        return None
    if isinstance(settings.gpu_memory_utilization, float | int):
        return settings.gpu_memory_utilization
    table = engine_arguments(container.release.engine_version or "") or {}
    argument = table.get("gpu_memory_utilization")
    return float(argument.default) if argument and argument.default else 0.9
