"""Troubles: what cannot be done now is logged once, counted each time, and told when it is over (SPEC B2, B4)."""

from pathlib import Path

from bot.engine.deps import Deps


def failed(deps: Deps, what: str, error: Exception) -> None:
    """Remember that something could not be done; only a new trouble, or a new reason for it, is logged."""
    deps.bells.count(f"failed:{what}")
    reason = _reason(error)
    if deps.bells.troubles.get(what) != reason:
        deps.log.error("trouble.began", what=what, error=reason)
    deps.bells.troubles[what] = reason


def over(deps: Deps, what: str) -> None:
    """Forget a trouble, if there was one."""
    if deps.bells.troubles.pop(what, None) is not None:
        deps.log.info("trouble.over", what=what)


def _reason(error: Exception) -> str:
    """Return the reason in words; the same again for the next attempt, whose temporary file has another name."""
    if not isinstance(error, OSError) or not error.strerror:
        return str(error) or type(error).__name__
    place = error.filename2 or (Path(error.filename).parent if error.filename else "a file")
    return f"{place} cannot be written: {error.strerror}"
