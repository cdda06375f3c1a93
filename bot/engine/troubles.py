"""Troubles: what cannot be done now is logged once, counted each time, and told when it is over (SPEC B2, B4)."""

from bot.engine.deps import Deps


def failed(deps: Deps, what: str, error: Exception) -> None:
    """Remember that something could not be done; only a new trouble, or a new reason for it, is logged."""
    deps.bells.count(f"failed:{what}")
    reason = str(error) or type(error).__name__
    if deps.bells.troubles.get(what) != reason:
        deps.log.error("trouble.began", what=what, error=reason)
    deps.bells.troubles[what] = reason


def over(deps: Deps, what: str) -> None:
    """Forget a trouble, if there was one."""
    if deps.bells.troubles.pop(what, None) is not None:
        deps.log.info("trouble.over", what=what)
