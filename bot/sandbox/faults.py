"""Misbehaviour on demand: what is switched on, how often it may strike, how often it struck."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import count

from bot.sandbox.errors import ControlError
from bot.sandbox.world import Json

KINDS = {
    "rate_limit": "429 with Retry-After before anything happens",
    "rate_limit_after_store": "429 although the call was carried out",
    "lose_reply_after_store": "the call is carried out, then the connection is closed without an answer",
    "server_error": "HTTP 500 before anything happens",
    "server_error_after_store": "HTTP 500 although the call was carried out",
    "bad_json": "HTTP 200 with a body that is not JSON, although the call was carried out",
    "timeout": "no answer for `seconds`, nothing carried out",
    "timeout_after_store": "no answer for `seconds`, although the call was carried out",
    "slow": "the answer comes `seconds` late",
    "refuse": "the `error` code instead of an answer",
    "misplace": "a threaded post is stored in no thread",
    "drop_silently": "ok:true, but nothing is stored",
    "no_metadata": "message metadata is dropped",
    "stale_reads": "reads do not show what was stored in the last `seconds`",
    "small_pages": "history and replies give at most 15 messages a page",
    "refuse_ticket": "opening a socket is refused",
    "silent_socket": "a socket answers pings and delivers nothing",
    "half_open": "a socket answers nothing at all and stays registered",
    "hold_events": "events wait until they are released",
    "drop_events": "events are never sent",
    "duplicate_events": "events are sent `copies` times more",
    "lose_ack": "an acknowledgement is not seen",
}


@dataclass(kw_only=True)
class Fault:
    """One switched-on misbehaviour. None in method, channel or connections means all of them."""

    id: int
    kind: str
    method: str | None = None
    channel: str | None = None
    app: str | None = None
    connections: frozenset[int] | None = None
    times: int | None = None  # strikes left to give; None: until cleared
    error: str = "internal_error"
    retry_after: int = 1
    seconds: float = 5.0
    copies: int = 1
    hits: int = 0

    def fits(self, kind: str, method: str | None, channel: str | None, app: str | None, connection: int | None) -> bool:
        return (
            self.kind == kind
            and (self.times is None or self.hits < self.times)
            and self.method in {None, method}
            and self.channel in {None, channel}
            and self.app in {None, app}
            and (self.connections is None or connection in self.connections)
        )

    def shown(self) -> Json:
        shown = asdict(self)
        shown["connections"] = None if self.connections is None else sorted(self.connections)
        return shown


@dataclass(kw_only=True)
class FaultBook:
    """All faults that were ever switched on, in order; a cleared one strikes no more but keeps its count."""

    active: dict[int, Fault] = field(default_factory=dict)
    hits: dict[str, int] = field(default_factory=dict)
    _ids: Iterator[int] = field(default_factory=lambda: count(1))

    def add(self, kind: str, **options: object) -> Fault:
        if kind not in KINDS:
            raise ControlError(f"no fault called {kind!r}; there are {', '.join(KINDS)}")
        try:
            fault = Fault(id=next(self._ids), kind=kind, **options)  # type: ignore[arg-type]
        except TypeError as error:
            raise ControlError(f"{kind}: {error}") from error
        self.active[fault.id] = fault
        return fault

    def clear(self, *, ident: int | None = None, kind: str | None = None) -> int:
        gone = [f.id for f in self.active.values() if ident in {None, f.id} and kind in {None, f.kind}]
        for fault_id in gone:
            del self.active[fault_id]
        return len(gone)

    def strike(
        self,
        kind: str,
        *,
        method: str | None = None,
        channel: str | None = None,
        app: str | None = None,
        connection: int | None = None,
    ) -> Fault | None:
        """Return the first fault that applies here, counting the strike; none when all is well."""
        for fault in self.active.values():
            if fault.fits(kind, method, channel, app, connection):
                fault.hits += 1
                self.hits[kind] = self.hits.get(kind, 0) + 1
                return fault
        return None

    def first(self, kinds: Iterable[str], *, method: str, channel: str | None, app: str) -> Fault | None:
        struck = (self.strike(kind, method=method, channel=channel, app=app) for kind in kinds)
        return next((fault for fault in struck if fault), None)
