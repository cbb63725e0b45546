"""A plan in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmi_constructs.readable import readable

if TYPE_CHECKING:
    from lmi_constructs.planner.plan import Plan


def explain(plan: Plan) -> list[str]:
    """Return what each figure of a plan is made of, one a line."""
    a, setup = plan.architecture, plan.setup
    lines = [f"{a.name}: {_shape(plan)}"]
    if plan.doubt is not None:
        return [*lines, f"not planned: {plan.doubt}"]
    context = "what fits" if setup.context is None else f"{setup.context} tokens"
    holds = None if plan.max_concurrency is None else f", {plan.max_concurrency:.1f} requests of it"
    windowed = (
        f" if every layer kept all of them, where {a.window_layers} keep a window of {a.window}"
        if plan.cache is not None and plan.cache.window is not None
        else ""
    )
    cache = (
        f"cache {plan.kv_cache_gib:.2f} GiB: {plan.kv_tokens} tokens{windowed}; one request of {context} needs"
        f" {plan.kv_needed_gib:.2f} GiB{holds or ''}"
    )
    if plan.budget_gib is None:
        return [*lines, f"{cache}; measured by the engine"]
    quantized = setup.quantization
    stored = "16 bits" if setup.dtype_bytes == 2 else "32 bits"
    if quantized is not None:
        stored = f"{quantized.method}, {quantized.bytes_per_weight:.4g} bytes a converted weight"
    ranks = f"1/{setup.tensor} of each layer" if setup.tensor > 1 else "all of each layer"
    graphs = "counted in the budget" if setup.graphs_in_budget else "taken outside the budget"
    return [
        *lines,
        f"budget {plan.budget_gib:.2f} GiB: {readable(setup.utilization)} of the"
        f" {plan.usable_gib:.2f} GiB"
        f" that the driver shows of {plan.accelerator.name}",
        f"weights {plan.weights_gib:.2f} GiB: {stored}; {ranks} on each accelerator",
        f"activation {plan.activation_gib:.2f} GiB: a trial batch of {setup.batched_tokens} tokens"
        f" and {setup.sequences} sequences",
        f"overhead {plan.overhead_gib:.2f} GiB: outside PyTorch",
        f"CUDA graphs {plan.cuda_graph_gib:.2f} GiB: {graphs}",
        cache,
    ]


def copies(plan: Plan) -> list[str]:
    """Return what the accelerators that one copy of the model does not use are for, if there are any.

    The server starts as many workers as fit, each on its own accelerators; with adapters it starts
    one, as `LmiSettings` says of `tensor_parallel_degree` and `enable_lora`.

    Args:
        plan: The plan.
    """
    setup, count = plan.setup, plan.accelerator_count
    used = setup.tensor * setup.pipeline * setup.data
    told = plan.configuration
    if count is None or not 0 < used < count or told.doubt or not told.started_by_container:
        return []
    whole, idle = count // used, count % used
    if told.enable_lora or whole == 1:
        return [f"{count - used} of the {count} {plan.accelerator.name} stay idle"]
    rest = f"; {idle} stay idle" if idle else ""
    return [
        f"the container starts {whole} copies of the model, each on {used} of the {count}"
        f" {plan.accelerator.name}{rest}: the figures are those of one copy"
    ]


def _shape(plan: Plan) -> str:
    a = plan.architecture
    words = [a.family, f"{a.layers} layers", f"{a.heads} heads, {a.kv_heads} of keys and values"]
    if a.experts:
        words.append(f"{a.experts.count} experts")
    if a.latent:
        words.append("latent attention")
    if a.window_layers:
        words.append(f"{a.window_layers} layers with a window of {a.window} tokens")
    return ", ".join(words)
