"""Everything of one running workspace in one place, wired together."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from bot.sandbox.delivery import Delivery
from bot.sandbox.events import Publisher
from bot.sandbox.faults import FaultBook
from bot.sandbox.limits import Limiter
from bot.sandbox.posting import Poster
from bot.sandbox.pushing import HttpPush
from bot.sandbox.settings import Settings
from bot.sandbox.sockets import SocketHub
from bot.sandbox.tickets import Tickets
from bot.sandbox.world import Channel, Json, Message, World

CALLS_MAX = 200_000


@dataclass(kw_only=True)
class Workspace:
    """The parts; the API, the control API and the agents work on them."""

    settings: Settings
    world: World
    faults: FaultBook
    limiter: Limiter
    sockets: SocketHub
    push: HttpPush
    delivery: Delivery
    publisher: Publisher
    poster: Poster
    tickets: Tickets
    url: str = ""
    calls: deque[Json] = field(default_factory=lambda: deque(maxlen=CALLS_MAX))
    call_numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def permalink(self, channel: Channel, message: Message) -> str:
        """Return a link of Slack's form; a reply's carries its thread."""
        base = f"{self.url}/archives/{channel.id}/p{message.ts.replace('.', '')}"
        parent = message.thread_ts
        return base if parent in {None, message.ts} else f"{base}?thread_ts={parent}&cid={channel.id}"


def build(settings: Settings) -> Workspace:
    """Return an empty workspace."""
    world, faults = World(), FaultBook()
    sockets = SocketHub(world=world, settings=settings, faults=faults)
    push = HttpPush(settings=settings)
    delivery = Delivery(world=world, settings=settings, faults=faults, socket=sockets, http=push)
    publisher = Publisher(world=world, deliver=delivery.event, now=settings.now)
    return Workspace(
        settings=settings, world=world, faults=faults, limiter=Limiter(), sockets=sockets, push=push,
        delivery=delivery, publisher=publisher, tickets=Tickets(settings=settings),
        poster=Poster(world=world, settings=settings, publisher=publisher),
    )  # fmt: skip
