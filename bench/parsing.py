"""Reading a reply of 40,000 characters (SPEC §13): the worst fills found, and how the cost grows."""

import time
from collections.abc import Callable

from bench.report import Figure
from bot.protocol.reading import read

LENGTH = 40_000
ROUNDS = 5
TAG = "[RESULT ml-646-20260101-000001]"
FILLS: dict[str, str] = {
    "prose": "all is well, the deploy went through and nothing else happened. ",
    "open brackets": "[",
    "bracketed prose": "[see here] ",
    "tags": f"{TAG} done. ",
    "invisible characters": "[AC\u200b\u200b\u200bK ml-646-20260101-000001\u200b] ",
    "code ticks": "`",
    "fences": "``` x\n",
    "quotes": "> [ACK ml-646-20260101-000001]\n",
    "angle brackets": "<",
    "struck": "~x~ ",
}


def figures() -> list[Figure]:
    taken = {name: _best(fill) for name, fill in FILLS.items()}
    worst = max(taken, key=lambda name: taken[name])
    half = _best(FILLS[worst], LENGTH // 2)
    return [
        Figure.of(
            f"reading {LENGTH:,} characters, worst of {len(FILLS)} fills ({worst}), against 5 ms",
            [(taken[worst] * 1e6, 5_000.0)],
            unit="µs",
            at_most=1.0,
        ),
        Figure.of(
            "the same against half its length: linear is 2", [(taken[worst] * 1e6, half * 1e6)], unit="µs", at_most=3.0
        ),
    ]


def _best(fill: str, length: int = LENGTH) -> float:
    text = (fill * (length // len(fill) + 1))[:length]
    return min(_timed(lambda: read(text)) for _ in range(ROUNDS))


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
