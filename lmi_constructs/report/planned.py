"""What runs where, with its plans; and why there is none, in words that say what to give for one."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lmi_constructs.checks.queries.container_images import release
from lmi_constructs.checks.queries.containers import environment, running
from lmi_constructs.checks.queries.instance_types import instance
from lmi_constructs.checks.rules.engine import judged_runs
from lmi_constructs.checks.rules.memory import plans
from lmi_constructs.checks.values import UNKNOWN, literal, shown

if TYPE_CHECKING:
    from lmi_constructs.checks import Deployment
    from lmi_constructs.checks.queries.containers import Running
    from lmi_constructs.checks.resources import (
        Component,
        ComponentSpecification,
        EndpointConfig,
        Variant,
    )
    from lmi_constructs.container import Verdict
    from lmi_constructs.planner import Plan

_Place = tuple[object, ...]


@dataclass(frozen=True)
class PlannedContainer:
    """A container where it runs.

    Attributes:
        running: The container on its variant.
        plans: What fits, for each instance type that it may run on; none where it is not planned.
        unplanned: Why there is no plan; `None` if there is one.
    """

    running: Running
    plans: tuple[Plan, ...]
    unplanned: str | None

    @property
    def model(self) -> str | None:
        """Hub id of the model, if the template says it."""
        return _model_name(self.running)


class Places:
    """The containers of a deployment by where they run."""

    def __init__(self, deployment: Deployment) -> None:
        """Plan what can be planned."""
        verdicts = {id(one): judged for one, judged in judged_runs(deployment)}
        found: dict[int, list[Plan]] = defaultdict(list)
        for planned in plans(deployment):
            found[id(planned.run)].append(planned.plan)
        self._by_place: dict[_Place, list[PlannedContainer]] = defaultdict(list)
        for one in running(deployment):
            its_plans = tuple(found[id(one)])
            reason = None if its_plans else _reason(deployment, one, verdicts.get(id(one)))
            place = _place(one.config, one.variant, one.component, one.specification)
            self._by_place[place].append(PlannedContainer(one, its_plans, reason))

    def containers(
        self,
        config: EndpointConfig,
        variant: Variant,
        component: Component | None = None,
        specification: ComponentSpecification | None = None,
    ) -> tuple[PlannedContainer, ...]:
        """Return the containers that a variant, or a component on it, runs."""
        return tuple(self._by_place.get(_place(config, variant, component, specification), ()))


def _place(
    config: EndpointConfig,
    variant: Variant,
    component: Component | None,
    specification: ComponentSpecification | None,
) -> _Place:
    kinds = tuple(path for path, _ in variant.instance_types) if component is None else ()
    part = specification.path if specification else None
    return (config.key, variant.path, kinds, component and component.key, part)


def _reason(deployment: Deployment, one: Running, judged: Verdict | None) -> str:
    """Return why nothing is planned: the first that is missing."""
    from lmi_constructs.planner import is_planned

    container = one.container
    if release(deployment, container) is None:
        image = shown(container.image) if container.image is not None else "its image"
        return (
            f"what {image} does with settings is not known; say which release it behaves like, if it"
            f" does, with --image {literal(container.image) or 'URI'}=v27"
        )
    if container.environment is UNKNOWN:
        return "its settings are known at deployment"
    if judged is not None and not is_planned(judged.backend):
        return f"the planner does not know the memory of the engine {judged.backend}"
    kinds = [kind for _, kind in one.variant.instance_types]
    if not any(instance(kind) for kind in kinds):
        named = [kind for kind in map(literal, kinds) if kind]
        there = f"{', '.join(named)} is no known instance type with accelerators"
        return there if named else "its instance type is known at deployment"
    name = _model_name(one)
    what = f"the planner does not know {name}" if name else "the template does not say its model"
    return (
        f"{what}; give the model's own config.json with --model-config"
        f" {one.resource.logical_id}=config.json"
    )


def _model_name(one: Running) -> str | None:
    mounted = one.model.mounted_model if one.model else None
    return mounted or literal(environment(one.container).get("HF_MODEL_ID"))
