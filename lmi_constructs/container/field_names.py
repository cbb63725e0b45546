"""Which field of the settings belongs to a variable or option: the one table of these names."""

from __future__ import annotations

from typing import Final

from lmi_constructs.container.serving_properties import OVERRIDES

VARIABLE_OF_FIELD: Final = {
    "tensor_parallel_degree": "TENSOR_PARALLEL_DEGREE",
    "entry_point": "OPTION_ENTRYPOINT",
    "fail_fast": "SERVING_FAIL_FAST",
    "job_queue_size": "SERVING_JOB_QUEUE_SIZE",
}
"""Variables of fields that are no option of the same name; all others are `OPTION_<FIELD>`."""

FIELD_OF_OPTION: Final = {
    "quantization": "quantize",
    "max_num_seqs": "max_rolling_batch_size",
    "tensor_parallel_size": "tensor_parallel_degree",
    "max_rolling_batch_prefill_tokens": "max_num_batched_tokens",
    "cpu_offload_gb_per_gpu": "cpu_offload_gb",
    "guided_decoding_backend": "structured_outputs_backend",
    "entrypoint": "entry_point",
}
"""Fields by their second names, as options."""


def field_of(variable: str) -> str | None:
    """Return the field that renders a variable, if one does."""
    from lmi_constructs.container.settings import LmiSettings

    for field, name in VARIABLE_OF_FIELD.items():
        if variable in (name, f"OPTION_{field.upper()}", f"option.{field}"):
            return field
    if variable in OVERRIDES:
        return OVERRIDES[variable]
    if not variable.startswith("OPTION_"):
        return variable if variable in LmiSettings.model_fields else None
    name = variable.removeprefix("OPTION_").lower()
    name = FIELD_OF_OPTION.get(name, name)
    if name == "structured_outputs_config":
        return "structured_outputs_backend"
    return name if name in LmiSettings.model_fields else None
