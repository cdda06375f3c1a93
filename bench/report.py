"""A measured figure, and how it is shown."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median_low
from typing import Self


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One row of the table. Only ratios taken in one run count: absolute figures differ between machines."""

    name: str
    ours: float
    theirs: float  # the yardstick's, measured in the same run
    unit: str
    ratio: float  # ours to theirs
    target: str  # of the ratio; empty where the specification sets none
    met: bool | None

    @classmethod
    def of(
        cls,
        name: str,
        runs: Sequence[tuple[float, float]],
        *,
        unit: str,
        at_least: float | None = None,
        at_most: float | None = None,
    ) -> Self:
        """Take the run with the median ratio of several runs of ours and theirs."""
        ratio = median_low(ours / theirs for ours, theirs in runs)
        ours, theirs = next(run for run in runs if run[0] / run[1] == ratio)
        target, met = _judge(ratio, at_least, at_most)
        return cls(name=name, ours=ours, theirs=theirs, unit=unit, ratio=ratio, target=target, met=met)


def as_table(figures: Sequence[Figure]) -> str:
    return "\n".join(
        f"{figure.name:<70} {figure.ours:>10,.0f} {figure.theirs:>10,.0f} {figure.unit:<9}"
        f" {figure.ratio:>6.2f} {figure.target:>7} {_verdict(figure)}"
        for figure in figures
    )


def write_json(figures: Sequence[Figure], file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps([asdict(figure) for figure in figures], indent=2, ensure_ascii=False), encoding="utf-8")


def _judge(ratio: float, at_least: float | None, at_most: float | None) -> tuple[str, bool | None]:
    if at_least is not None:
        return f"≥ {at_least:g}", ratio >= at_least
    if at_most is not None:
        return f"≤ {at_most:g}", ratio <= at_most
    return "", None


def _verdict(figure: Figure) -> str:
    return {True: "met", False: "MISSED", None: ""}[figure.met]
