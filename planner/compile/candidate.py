"""The legal ways to run an ask: every pool that takes it, and for every other pool the reason why not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from planner.compile import egress, market, quotas
from planner.compile.ask import timing
from planner.compile.denial import denial
from planner.compile.domains import spreads
from planner.compile.horizon import length_text
from planner.compile.joined import unjoined
from planner.compile.portion import PORTIONS
from planner.compile.refusal import Code, Refusal
from planner.compile.shape import memory_of, profile_of, shapes, size_of
from planner.compile.site import Site, sites
from planner.compile.taints import taints
from planner.spec.work import Within
from planner.units import Memory, Money, ceil_div

if TYPE_CHECKING:
    from planner.catalog import Catalog, Vendor, VendorFacts
    from planner.compile.ask import Ask, Speeds, Timing, Wish
    from planner.compile.cuts import Cut
    from planner.compile.domains import Spread
    from planner.compile.fleet import FleetPool
    from planner.compile.shape import Shape
    from planner.spec.policy import DenyRule

_HOUR: Final = 3_600


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounds:
    """What candidates are judged by besides the ask itself."""

    fleet: tuple[FleetPool, ...]
    known: quotas.Quotas
    speeds: Speeds
    currency: str
    facts: Mapping[Vendor, VendorFacts]
    catalog: Catalog
    rules: tuple[DenyRule, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One legal way to run: `variant` on a site, in `shapes`; `nodes` are the eligible ones by position (None: all).

    Money is per hour in micros, power in milliwatts; both are of the whole gang. `devices` are what it holds.
    `egress_micros` is paid once, for the data that it fetches.
    It may start in slots `first` to `last` (None: any); what runs already may be `paused` before it. `lost_seconds` are
    lost to what interrupts it: `lost_part` of the whole work before it begins, the rest as expected on the spot market,
    for which `extra_micros_per_slot` counts against the mode beside cash and power. `milliqps` is what one replica of a
    service serves there. `within` and `further` are as in `planner.compile.domains.Spread`. `devices` that are parts of
    one are of that `size`, partitions of that `profile`. Each of the rows `counted` counts it once. Work that goes on
    until a `cut` begins again as this after it; on divided devices it goes on in just these `seats`, hosts and cells.
    """

    variant: str
    site: Site
    shapes: tuple[Shape, ...]
    devices: int
    expected_seconds: int
    limit_seconds: int
    estimated: bool
    nodes: tuple[int, ...] | None
    cash_micros_per_hour: int
    power_milliwatts: int
    egress_micros: int = 0
    first: int = 0
    last: int | None = None
    paused: bool = False
    lost_seconds: int = 0
    lost_part: Fraction = Fraction(0)
    cut: Cut | None = None
    seats: tuple[int, ...] | None = None
    extra_micros_per_slot: int = 0
    milliqps: Fraction = Fraction(0)
    within: int | None = None
    further: int = 0
    counted: tuple[int, ...] = ()
    size: Fraction = Fraction(1)
    profile: str | None = None

    @property
    def amount(self) -> Fraction:
        """How many devices it holds; a part of one counts as that part."""
        return self.devices * self.size

    @property
    def name(self) -> str:
        """How messages of the solver name the mode."""
        return f"{self.variant} on {self.site.pool.name}"

    @property
    def node_count(self) -> int:
        """Nodes of the whole gang."""
        return sum(shape.count for shape in self.shapes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """A site that takes an ask, and one way for the gang to lie there."""

    site: Site
    spread: Spread


@dataclass(frozen=True, slots=True, kw_only=True)
class Fits:
    """The sites that take an ask in order of the fleet, and the reasons of those that do not."""

    fits: tuple[Fit, ...]
    refusals: tuple[Refusal, ...]


def fits(ask: Ask, grounds: Grounds) -> Fits:
    """Try every device group of every pool."""
    found = tuple(_fit(ask, site, grounds) for site in sites(grounds.fleet, devices=ask.vendor is not None))
    return Fits(
        fits=tuple(fit for each in found if not isinstance(each, Refusal) for fit in each),
        refusals=tuple(each for each in found if isinstance(each, Refusal)),
    )


def candidate(wish: Wish, fit: Fit, grounds: Grounds) -> Candidate | Refusal:
    """The wish on a site that takes its ask, or why its times or costs rule that out."""
    times = _times(wish, fit.site, grounds)
    if isinstance(times, Refusal):
        return times
    limit = _limited(fit.site, times)
    if isinstance(limit, Refusal):
        return limit
    made = replace(
        seated(wish.ask, fit), expected_seconds=times.expected_seconds, limit_seconds=limit,
        estimated=times.estimated, egress_micros=egress.cost(wish, fit.site, grounds.fleet),
    )  # fmt: skip
    return _too_dear(wish, made, grounds) or made


def _fit(ask: Ask, site: Site, grounds: Grounds) -> tuple[Fit, ...] | Refusal:
    for check in (*_BEFORE, *PORTIONS):
        if found := check(ask, site, grounds):
            return found
    spread = shapes(ask, site.pool, site.group)
    if isinstance(spread, Refusal):
        return spread
    for test in _AFTER:
        if found := test(ask, site, grounds, spread):
            return found
    ways = denial(grounds.rules, ask, site) or spreads(ask, site.pool, spread)
    return ways if isinstance(ways, Refusal) else tuple(Fit(site=site, spread=way) for way in ways)


def eligible(ask: Ask, site: Site, grounds: Grounds) -> bool:
    """Whether a site could take an ask, however its devices are divided."""
    return all(check(ask, site, grounds) is None for check in _BEFORE)


def _place(ask: Ask, site: Site, grounds: Grounds) -> Refusal | None:
    place, pool = ask.place, site.pool
    region = egress.place_name(pool)
    here = {pool.cluster.name, pool.name, region}
    allowed = ((place.clusters, pool.cluster.name), (place.pools, pool.name), (place.regions, region))
    if any(wanted and name not in wanted for wanted, name in allowed):
        wanted = ", ".join((*place.clusters, *place.pools, *place.regions))
        return site.refuse(Code.PLACE, f"the job's place allows only {wanted}", "widen place")
    if excluded := sorted(here & set(place.exclude)):
        return site.refuse(Code.PLACE, f"the job's place excludes {excluded[0]}", "take it out of place.not")
    return None


def _pin(ask: Ask, site: Site, grounds: Grounds) -> Refusal | None:
    if ask.pin_pool not in {None, site.pool.name}:
        return site.refuse(Code.PIN, f"the job is pinned to {ask.pin_pool}", "remove pin.pool")
    missing = [name for name in ask.pin_nodes if name not in site.pool.nodes]
    if missing and missing[0] in site.pool.reserved:
        message = f"the job is pinned to node {missing[0]}, which is kept in reserve"
        return site.refuse(Code.PIN, message, "change pin.nodes, or the pool's reserve")
    if missing:
        return site.refuse(
            Code.PIN, f"the job is pinned to node {missing[0]}, which is not in this pool", "change pin.nodes"
        )
    return None


def _market(ask: Ask, site: Site, grounds: Grounds) -> Refusal | None:
    return market.refusal(ask, site)


def _vendor(ask: Ask, site: Site, grounds: Grounds) -> Refusal | None:
    if ask.vendor is None:
        return None
    if site.group is None:
        return site.refuse(Code.VENDOR, "the pool has no devices")
    if site.group.vendor is not ask.vendor:
        facts = grounds.facts
        here, wanted = facts[site.group.vendor].title, facts[ask.vendor].title
        message = f"{site.group.model} is made by {here}, variant {ask.variant} runs on {wanted}"
        return site.refuse(Code.VENDOR, message, f"add a variant for {here}")
    return None


def _model(ask: Ask, site: Site, grounds: Grounds) -> Refusal | None:
    if site.group is None:
        return None
    model = site.group.model
    if ask.models and model not in ask.models:
        message = f"the pool has {model}, variant {ask.variant} asks for {', '.join(ask.models)}"
        return site.refuse(Code.MODEL, message, f"let it run on {model} too")
    if ask.timed_models and model not in ask.timed_models:
        message = f"the pool has {model}, variant {ask.variant} has a duration only for {', '.join(ask.timed_models)}"
        return site.refuse(Code.MODEL, message, f"give it a duration for {model}")
    return None


def _device_memory(ask: Ask, site: Site, grounds: Grounds) -> Refusal | None:
    if site.group is None or not ask.device_memory_mib:
        return None
    memory = memory_of(ask, site.group)
    if memory is None:
        return site.refuse(
            Code.DEVICE_MEMORY, f"the memory of {site.group.model} is not known", "state gpus.memory in the pool"
        )
    if memory < ask.device_memory_mib:
        what = profile_of(ask, site.group) or site.group.model
        message = f"needs {Memory(ask.device_memory_mib)} on a device, {what} has {Memory(memory)}"
        return site.refuse(Code.DEVICE_MEMORY, message)
    return None


def _software(ask: Ask, site: Site, grounds: Grounds) -> Refusal | None:
    """Compare what both sides state: the image's toolkit with the driver's, and with those that know the model."""
    if site.group is None or ask.vendor is None or not ask.toolkit:
        return None
    key = grounds.facts[ask.vendor].software_key or ""
    here = _release(getattr(site.pool.pool.software, key, None) if key else None)
    wanted = _release_text(ask.toolkit)
    if here and ask.toolkit[0] > here[0]:
        message = f"the image needs {key} {wanted}, drivers here run up to {_release_text(here)}"
        return site.refuse(Code.SOFTWARE, message, "use an older image, or renew the drivers")
    first, dropped = (
        _release(text) for text in (site.group.accelerator.software_first, site.group.accelerator.software_dropped)
    )
    if first and ask.toolkit < first[: len(ask.toolkit)]:
        message = f"the image has {key} {wanted}, {site.group.model} is known from {_release_text(first)} on"
        return site.refuse(Code.SOFTWARE, message, "use a newer image")
    if dropped and ask.toolkit >= dropped[: len(ask.toolkit)]:
        message = f"the image has {key} {wanted}, which dropped {site.group.model} in {_release_text(dropped)}"
        return site.refuse(Code.SOFTWARE, message, "use an older image")
    return None


def _release(text: str | None) -> tuple[int, ...]:
    parts = (text or "").split(".")
    return tuple(map(int, parts)) if all(part.isdigit() for part in parts) else ()


def _release_text(release: tuple[int, ...]) -> str:
    return ".".join(map(str, release))


def _pinned_nodes(ask: Ask, site: Site, grounds: Grounds, spread: tuple[Shape, ...]) -> Refusal | None:
    nodes = sum(shape.count for shape in spread)
    if ask.pin_nodes and nodes > len(ask.pin_nodes):
        message = f"takes {nodes} nodes, pin.nodes names {len(ask.pin_nodes)}"
        return site.refuse(Code.PIN, message, "name more nodes, or leave pin.nodes out")
    return None


def _topology(ask: Ask, site: Site, grounds: Grounds, spread: tuple[Shape, ...]) -> Refusal | None:
    nodes = sum(shape.count for shape in spread)
    if nodes == 1 or ask.within not in {Within.NODE, Within.ISLAND, Within.SOCKET}:
        return None
    message = f"needs {ask.devices} devices within one {ask.within}, here they take {nodes} nodes"
    return site.refuse(Code.NODE_SIZE, message, "ask for fewer devices, or let it spread over the pool")


def _link(ask: Ask, site: Site, grounds: Grounds, spread: tuple[Shape, ...]) -> Refusal | None:
    return unjoined(ask, max(shape.devices for shape in spread), site)


def _features(ask: Ask, site: Site, grounds: Grounds, spread: tuple[Shape, ...]) -> Refusal | None:
    missing = sorted(set(ask.features) - set(site.pool.pool.features))
    if missing:
        return site.refuse(
            Code.FEATURES, f"the pool does not declare feature {missing[0]}", f"add {missing[0]} to its features"
        )
    here = {name.removeprefix("gres/") for name in site.pool.resources if name.startswith("gres/")}
    lacking = sorted({name for name, number in ask.host.gres if number} - here)
    if lacking:
        return site.refuse(
            Code.FEATURES, f"the pool states no {lacking[0]} in its gres", f"add {lacking[0]} to its gres"
        )
    return None


def _rdma(ask: Ask, site: Site, grounds: Grounds, spread: tuple[Shape, ...]) -> Refusal | None:
    if ask.rdma and not site.pool.pool.network.rdma:
        return site.refuse(
            Code.RDMA, "the job needs RDMA, the pool's network states none", "set network.rdma if it has it"
        )
    return None


def _quota(ask: Ask, site: Site, grounds: Grounds, spread: tuple[Shape, ...]) -> Refusal | None:
    if site.position is None:
        return None
    cell = (site.at, site.position)
    amount = ask.devices * size_of(ask, site.pool, site.pool.groups[site.position])
    return quotas.refusal(grounds.known, ask.team, cell, amount, interruptible=ask.interruptible, subject=site.subject)


def _times(wish: Wish, site: Site, grounds: Grounds) -> Timing | Refusal:
    model = site.group.model if site.group else None
    found = timing(wish, model, grounds.speeds)
    if found is None:
        message = f"how fast {model} is against {grounds.speeds.reference} is not known"
        return site.refuse(Code.SPEED_UNKNOWN, message, f"give the job a duration for {model}")
    return found


def _limited(site: Site, times: Timing) -> int | Refusal:
    """The limit of a run on the site; one that is not written is cut to what the pool allows."""
    most = site.pool.pool.max_duration
    if most is None or times.limit_seconds <= most.seconds:
        return times.limit_seconds
    if times.expected_seconds > most.seconds or times.limit_is_given:
        asked = times.limit_seconds if times.limit_is_given else times.expected_seconds
        message = f"may run for {length_text(asked)}, the pool allows {length_text(most.seconds)}"
        return site.refuse(Code.DURATION_LIMIT, message, "shorten duration or raise the pool's max_duration")
    return most.seconds


def seated(ask: Ask, fit: Fit) -> Candidate:
    """The ask where it fits, what it costs there, and no time yet."""
    pool, group = fit.site.pool, fit.site.group
    power = group.power_milliwatts if group and pool.is_own else None
    size = size_of(ask, pool, group) if group else Fraction(1)
    return Candidate(
        variant=ask.variant,
        site=fit.site,
        shapes=fit.spread.shapes,
        devices=ask.devices,
        expected_seconds=0,
        limit_seconds=0,
        estimated=False,
        nodes=tuple(sorted(pool.nodes.index(name) for name in ask.pin_nodes)) or None,
        cash_micros_per_hour=sum(shape.count for shape in fit.spread.shapes) * pool.node_micros_per_hour,
        power_milliwatts=int(ask.devices * size * (power or 0)),
        size=size,
        profile=profile_of(ask, group) if group else None,
        within=fit.spread.within,
        further=fit.spread.further,
    )


def _too_dear(wish: Wish, made: Candidate, grounds: Grounds) -> Refusal | None:
    hourly = made.cash_micros_per_hour
    if not hourly and not made.egress_micros:
        return None
    rate = f"{made.node_count} nodes at {Money(grounds.currency, made.site.pool.node_micros_per_hour)}/h"
    if wish.most_micros_per_hour is not None and hourly > wish.most_micros_per_hour:
        cost, allowed = Money(grounds.currency, hourly), Money(grounds.currency, wish.most_micros_per_hour)
        message = f"{rate} cost {cost}/h, max_cost allows {allowed}/h"
        return made.site.refuse(Code.MAX_COST, message, f"raise max_cost.per_hour to {cost}")
    total = ceil_div(hourly * made.expected_seconds, _HOUR) + made.egress_micros
    if wish.most_micros is not None and total > wish.most_micros:
        cost, allowed = Money(grounds.currency, total), Money(grounds.currency, wish.most_micros)
        data = f" with {Money(grounds.currency, made.egress_micros)} for its data" if made.egress_micros else ""
        message = f"{rate} for {length_text(made.expected_seconds)}{data} cost {cost}, max_cost allows {allowed}"
        return made.site.refuse(Code.MAX_COST, message, f"raise max_cost.total to {cost}")
    return None


_BEFORE: Final[tuple[Callable[[Ask, Site, Grounds], Refusal | None], ...]] = (
    _place, _pin, _market, _vendor, _model, _device_memory, _software,
)  # fmt: skip
_AFTER: Final[tuple[Callable[[Ask, Site, Grounds, tuple[Shape, ...]], Refusal | None], ...]] = (
    _pinned_nodes, _topology, _link, _features, _rdma, _quota, taints,
)  # fmt: skip
