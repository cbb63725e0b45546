"""Plans of known models and of configs, as several test modules make them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lmi_constructs.checks.examples import llama_config
from lmi_constructs.facts import find_accelerator
from lmi_constructs.planner import Architecture, EngineConfiguration, Plan, plan

if TYPE_CHECKING:
    from lmi_constructs.container import LmiContainer

LLAMA: dict[str, Any] = llama_config()
"""The config of Llama 3.1 8B, as far as the planner reads it."""

del LLAMA["tie_word_embeddings"]  # whose default differs between the families that tests make of it


def known(hub_id: str) -> Architecture:
    """Return the shape of a model that the planner knows."""
    found = Architecture.known(hub_id)
    assert found is not None
    return found


def planned(hub_id: str, where: str, **settings: Any) -> Plan:
    """Plan a known model on an instance type or accelerator, with vLLM's own defaults."""
    place = where if where.startswith("ml.") else find_accelerator(where)
    assert place is not None
    return plan(known(hub_id), place, EngineConfiguration(**settings))


def in_container(hub_id: str, instance: str, container: LmiContainer, **told: Any) -> Plan:
    """Plan a known model on all accelerators of an instance type, with a container's defaults."""
    count = plan(known(hub_id), instance).accelerator_count or 1
    configuration = EngineConfiguration.in_container(container, count, **told)
    return plan(known(hub_id), instance, configuration)


def of_config(changes: dict[str, Any], instance: str = "ml.g6e.2xlarge", **told: Any) -> Plan:
    """Plan Llama with changes of its config, for 2048 tokens."""
    architecture = Architecture.from_config_json({**LLAMA, **changes})
    return plan(architecture, instance, EngineConfiguration(max_model_len=2048, **told))


def severities(p: Plan) -> dict[str, str]:
    """Return the severity of each finding by its rule."""
    return {finding.rule: finding.severity for finding in p.findings}


def errors(p: Plan) -> list[str]:
    """Return the rules of the errors."""
    return [finding.rule for finding in p.findings if finding.severity == "error"]
