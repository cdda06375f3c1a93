"""The durations of Socket Mode, in seconds."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class SocketTiming:
    """Defaults are those that were found good against Slack's own client (reference §8)."""

    watch_every: float = 5.0  # how often each connection is looked at
    ping_interval: float = 10.0
    stale_pings: float = 3.0  # a socket without a pong for so many intervals is not live
    connect_bound: float = 20.0  # Slack's client would try for ever
    stagger: float = 2.0  # between two starts: Slack refuses simultaneous ones, and their refreshes should not coincide
    reset_after: float = 15.0  # not live for so long: a new address
    replace_after: float = 60.0  # not live for so long: a new connection
    dead_after: float = 180.0  # no connection live for so long: give up and let a supervisor start us anew
    retry_min: float = 2.0  # between attempts to open a connection, doubling
    retry_max: float = 60.0
    drain_bound: float = 5.0
    close_bound: float = 5.0
    keepalive_every: float = 60.0
    silent_after: float = 60.0  # a live socket without payloads for so long, while others get them, is suspected
    silent_share: int = 20  # and this many payloads went to the others meanwhile
    probe_after: float = 600.0  # no payload on any socket for so long: ask for a sign
    probe_bound: float = 30.0  # how long the sign may take
