"""The policy of a stored job, as it was declared when its digest was sent (SPEC F1)."""

from datetime import timedelta

from bot.protocol.policy import Policy
from state.rows import Followup


def policy_of(job: Followup) -> Policy:
    """Return what was declared at send time; later changes of the configuration do not touch it."""
    return Policy(timeout=timedelta(seconds=job.reply_timeout), nudges=job.reply_nudges, escalate_to=job.reply_escalate)
