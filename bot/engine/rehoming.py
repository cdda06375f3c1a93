"""What becomes of a matter that its agent does not take: another sidechat, or rest (SPEC F9)."""

from dataclasses import replace

import sqlalchemy as sa

from bot.engine import closing, composer, registry
from bot.engine.composer import Sheet
from bot.engine.deps import Deps
from bot.engine.policies import policy_of
from bot.errors import ConflictError
from bot.protocol.digest import DigestClass, Entry
from bot.protocol.verbs import OPEN, Status, Verb
from state import items, jobs, records
from state.rows import Digest, Followup, Sidechat


def settled(connection: sa.Connection, job_id: str) -> str:
    """Return what became of a declined matter, in a word and who decided it: `closed UALEX`, `ml-… UALEX`."""
    found = records.marked(connection, f"matter:{job_id}")
    return found[0] if found else ""


def reroute(deps: Deps, connection: sa.Connection, job: Followup, to: Sidechat, *, by: str) -> str:
    """Give a matter to another sidechat; return the id of the job that it is now.

    Raises:
        ConflictError: it is there already, was settled, or is closed and was not declined.
    """
    why = f"rerouted to {to.name}"
    if job.status in OPEN:
        if to.name == job.sidechat:
            raise ConflictError(f"{job.job_id} is in {to.name} already")
        registry.rehome(deps, connection, job, to, why)
        return job.job_id
    _require_declined(connection, job)
    digest = jobs.digest(connection, job.digest)
    # What was sent with the global target gets the one that its new place has (F1).
    policy = policy_of(job)
    policy = replace(policy, escalate_to="") if policy.escalate_to == deps.settings.escalate_to else policy
    sheet = Sheet(
        sidechat=to,
        kind=DigestClass.ACTIONABLE,
        marker=digest.marker,
        entries=_entries(connection, digest),
        policy=policy,
        author=by,
    )
    fresh = composer.owe(deps, connection, sheet)
    _settle(deps, connection, job, fresh, by)
    records.note(connection, job.job_id, "moved", deps.clock.now(), why=f"{why} as {fresh}", who=by)
    return fresh


def settle(deps: Deps, connection: sa.Connection, job: Followup, *, by: str) -> None:
    """Let a declined matter rest.

    Raises:
        ConflictError: it was not declined, or it is settled already.
    """
    _require_declined(connection, job)
    _settle(deps, connection, job, "closed", by)
    records.note(connection, job.job_id, "matter closed", deps.clock.now(), who=by)


def _require_declined(connection: sa.Connection, job: Followup) -> None:
    if job.status is not Status.RESOLVED or job.outcome is not Verb.DECLINE:
        raise ConflictError(f"{job.job_id} is {job.status}" + (f" by {job.outcome}" if job.outcome else ""))
    if became := settled(connection, job.job_id):
        word = became.partition(" ")[0]
        raise ConflictError(f"{job.job_id} is settled already: {'closed' if word == 'closed' else f'now {word}'}")


def _settle(deps: Deps, connection: sa.Connection, job: Followup, word: str, by: str) -> None:
    now = deps.clock.now()
    records.mark(connection, f"matter:{job.job_id}", f"{word} {by}", now)
    closing.refresh_card(connection, job.job_id, now)


def _entries(connection: sa.Connection, digest: Digest) -> tuple[Entry, ...]:
    members = items.of_digest(connection, digest.seq)
    if members:
        return tuple(composer.entry_of(item) for item in members)
    stored = digest.body.get("entries", ())
    assert isinstance(stored, list | tuple)
    return tuple(Entry(**entry) for entry in stored)
