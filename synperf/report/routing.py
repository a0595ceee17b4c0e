"""How the rows of an expert layer, or of a grouped GEMM, fall on its experts or groups, as labelled lines."""

from __future__ import annotations

from ..explanation import Explanation
from ..light_classes import dataclass
from .text import counted, number


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """The busiest rank's rows; a mean over routings need not be whole. `noun` is `expert` or `group`."""

    noun: str
    num_ranks: int
    rows: float
    rows_over_mean: float
    experts: int
    active: float
    hottest: float
    padded: float
    tile_m: int

    @classmethod
    def of(cls, x: Explanation) -> Routing | None:
        """The routing of a call; None for families without experts or groups."""
        f, tile_m = x.launch.facts, x.launch.choice.get("tile_m", 0)
        if "rank_rows" in f:
            return cls(
                noun="expert", num_ranks=x.call.ep, rows=f["rank_rows"], rows_over_mean=f["rank_rows_over_mean"],
                experts=int(f["rank_experts"]), active=f["active_experts"], hottest=f["hottest_expert_rows"],
                padded=f["padded_rows"], tile_m=tile_m,
            )  # fmt: skip
        if "active_groups" in f:
            return cls(
                noun="group", num_ranks=1, rows=f["rows"], rows_over_mean=1.0, experts=int(f["groups"]),
                active=f["active_groups"], hottest=f["hottest_group_rows"], padded=f["padded_rows"], tile_m=tile_m,
            )  # fmt: skip
        return None

    @property
    def mean(self) -> float:
        """Rows of the mean expert of those that have any."""
        return self.rows / self.active

    def rank(self) -> str:
        """The busiest rank's rows beside those of the mean rank."""
        rows = counted(self.rows, "row")
        if self.num_ranks == 1:
            return f"{rows} of all {self.noun}s"
        return f"{rows}, {self.rows_over_mean:.3g} times the mean of {self.num_ranks:,} ranks"

    def activity(self) -> str:
        """Experts that have any row."""
        return f"{number(self.active)} of {self.experts:,}, those with any row"

    def heat(self) -> str:
        """The hottest expert beside the mean one."""
        return f"{counted(self.hottest, 'row')}, {self.hottest / self.mean:.3g} times the mean active {self.noun}"

    def padding(self) -> str:
        """What whole tiles add to the rows."""
        more = f"{self.padded / self.rows:.3g} times the rows that there are"
        return f"{counted(self.padded, 'row')} in whole tiles of {self.tile_m}, {more}"


def lines(x: Explanation) -> list[tuple[str, str]]:
    """The busiest rank, its active experts, the hottest one, and what padding adds; nothing for other families."""
    r = Routing.of(x)
    if r is None:
        return []
    return [
        ("busiest rank" if r.num_ranks > 1 else "rows", r.rank()),
        (f"active {r.noun}s", r.activity()),
        (f"hottest {r.noun}", r.heat()),
        ("padding", r.padding()),
    ]
