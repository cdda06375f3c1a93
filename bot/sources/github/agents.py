"""How a mention, an assignment or a review request at GitHub finds its agent (SPEC B3, R2)."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from bot.sources.github.payload import GHOST

_APP: Final = "[bot]"  # an app's login ends so; people mention it without


def _nothing_tracked(_source: str, _thread_id: str) -> bool:
    return False


@dataclass(frozen=True, kw_only=True)
class Address:
    """Whom the words or the event speak to."""

    names: tuple[str, ...] = ()  # as GitHub names them, for the routing rules
    agent: str = ""  # ours; empty where only the routing rules can say
    direct: bool = False  # somebody of ours is spoken to


@dataclass(frozen=True, kw_only=True)
class Agents:
    """Who of ours is who at GitHub.

    With neither logins nor teams nobody can say whom a name stands for: every mention and review request then
    counts, and the routing rules decide whose it is.
    """

    logins: Mapping[str, str] = field(default_factory=dict)  # casefolded login -> agent
    teams: Mapping[str, str] = field(default_factory=dict)  # casefolded `org/team`, or the team's slug -> agent
    tracks: Callable[[str, str], bool] = _nothing_tracked  # (source, thread_id): do we follow this thread already?

    @property
    def known(self) -> bool:
        """Whether anybody was named at all."""
        return bool(self.logins or self.teams)

    def of(self, name: str) -> str:
        """Return the agent behind a login or an `org/team`, or nothing."""
        folded = name.casefold()
        if "/" in folded:
            return self.teams.get(folded) or self.teams.get(folded.partition("/")[2]) or ""
        plain = folded.removesuffix(_APP)
        return self.logins.get(plain) or self.logins.get(plain + _APP) or ""

    def addressed(self, names: Iterable[str], *, author: str) -> Address:
        """Return who is spoken to by these names; nobody speaks to himself.

        One happening is one item, so where several agents are named the first has it and the rest are in `names`.
        """
        own = self.of(author)
        kept = tuple(name for name in names if name.casefold() not in {author.casefold(), GHOST})
        found = [agent for name in kept if (agent := self.of(name)) and agent != own]
        return Address(names=kept, agent=found[0] if found else "", direct=bool(found or (kept and not self.known)))


def is_bot(login: str, account_type: str) -> bool:
    """Return whether an account is an app rather than a person."""
    return account_type == "Bot" or login.endswith(_APP)
