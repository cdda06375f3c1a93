"""What machines report: checks, workflow runs, commit states, and runs that wait for an approval (SPEC S1).

Only what went wrong, or waits for somebody, becomes an item. It belongs to whoever set the machine going: a failure of
one's own push is news, not an own action. Check runs and workflow runs of one suite share its thread, so that the
failures of one push collapse by the dedup key; an approval has the run's thread.
"""

from dataclasses import replace
from datetime import datetime
from typing import Final

from bot.buffer.items import Ignored, Kind, Signal
from bot.sources.github.agents import Address
from bot.sources.github.deliveries import NO_NUMBER, Delivery, Readers, happened
from bot.sources.github.payload import GHOST, Json
from bot.sources.github.places import talk_key
from bot.sources.github.subjects import Subject
from bot.sources.github.threads import REVIEWERS_MAX, team_name

NOT_FAILED: Final = Ignored(reason="nothing failed")
_FAILED: Final = {
    "failure": "failed",
    "timed_out": "timed out",
    "startup_failure": "failed to start",
    "action_required": "needs action",
}
_FAILED_STATES: Final = {"failure": "failed", "error": "failed"}


def _machine(delivery: Delivery, thread_id: str, title: str, url: str) -> Subject:
    return Subject(
        source=delivery.source,
        thread_id=thread_id,
        name=f"{delivery.place_name} CI",
        title=title,
        url=url,
        labels=(*delivery.labels, "is:ci"),
    )


def _on_branch(name: str, branch: str) -> str:
    return f"{name or 'a run'} on {branch}" if branch else name or "a run"


def _reported(delivery: Delivery, subject: Subject, what: str, key: str, at: datetime | None) -> list[Signal]:
    """Give a report to the agent that set the machine going, where it was one of ours."""
    address = Address(agent=delivery.agents.of(delivery.sender))
    return happened(delivery, subject, what=what, key=key, at=at, address=address, own_counts=True)


def _check_run(delivery: Delivery) -> list[Signal]:
    run = delivery.body.at("check_run")
    id_, what = run.number("id"), _FAILED.get(run.text("conclusion"))
    if not what:
        return [NOT_FAILED]
    if not id_:
        return [NO_NUMBER]
    suite = run.number("check_suite", "id")
    title = _on_branch(run.line("name"), run.line("check_suite", "head_branch", most=100))
    subject = _machine(delivery, f"suite-{suite}" if suite else f"check-{id_}", title, run.url("html_url"))
    return _reported(delivery, subject, what, talk_key(delivery.source, "check_run", id_), run.time("completed_at"))


def _status(delivery: Delivery) -> list[Signal]:
    sha, what = delivery.body.line("sha", most=64), _FAILED_STATES.get(delivery.body.text("state"))
    if not what:
        return [NOT_FAILED]
    if not sha:
        return [NO_NUMBER]
    author = delivery.body.login("commit", "author")
    by = "unknown" if author == GHOST else author  # the account of a commit's author is often null
    title = f"{delivery.body.line('context', most=100) or 'status'} on commit {sha[:7]} by {by}"
    url = delivery.body.url("target_url") or delivery.body.url("commit", "html_url")
    subject = _machine(delivery, f"commit-{sha}", title, url)
    key = talk_key(delivery.source, "status", delivery.body.number("id"))
    return _reported(delivery, subject, what, key, delivery.body.time("updated_at"))


def _run_title(run: Json) -> str:
    name = run.line("name") or run.line("display_title")
    return _on_branch(name, run.line("head_branch", most=100))


def _workflow_run(delivery: Delivery) -> list[Signal]:
    """A run that ended takes its wait for an approval with it; one that succeeded also the failures before it."""
    run = delivery.body.at("workflow_run")
    id_, conclusion, at = run.number("id"), run.text("conclusion"), run.time("updated_at")
    if not id_:
        return [NO_NUMBER]
    waiting = _machine(delivery, f"run-{id_}", _run_title(run), run.url("html_url"))
    if conclusion == "action_required":
        return _approval(delivery, waiting, run, Address(direct=True), at)
    suite = run.number("check_suite_id")
    thread = f"suite-{suite}" if suite else f"run-{id_}"
    failing = _machine(delivery, thread, waiting.title, waiting.url)
    if conclusion == "success":
        return [subject.closed("run succeeded", at) for subject in (waiting, failing)]
    if conclusion not in _FAILED or delivery.action != "completed":
        return [NOT_FAILED]
    key = talk_key(delivery.source, "run", f"{id_}:{run.number('run_attempt')}")
    return [
        waiting.closed("run ended", at),
        *_reported(delivery, failing, _FAILED[conclusion], key, at),
    ]


def _job_waits(delivery: Delivery) -> list[Signal]:
    job = delivery.body.at("workflow_job")
    run = job.number("run_id")
    if not run:
        return [NO_NUMBER]
    title = _on_branch(job.line("workflow_name") or job.line("name"), job.line("head_branch", most=100))
    subject = _machine(delivery, f"run-{run}", title, job.url("html_url"))
    return _approval(delivery, subject, Json({"id": run, "run_attempt": job.number("run_attempt")}), None, _begun(job))


def _begun(job: Json) -> datetime | None:
    return job.time("started_at") or job.time("created_at")


def _deployment_asked(delivery: Delivery) -> list[Signal]:
    run, names = delivery.body.at("workflow_run"), _reviewers(delivery)
    if not run.number("id"):
        return [NO_NUMBER]
    subject = _machine(delivery, f"run-{run.number('id')}", _run_title(run), run.url("html_url"))
    address = delivery.agents.addressed(names, author=delivery.sender) if names else None
    return _approval(delivery, subject, run, address, delivery.body.time("since") or run.time("updated_at"))


def _reviewers(delivery: Delivery) -> tuple[str, ...]:
    reviewers = [entry.at("reviewer") for entry in delivery.body.items("reviewers")[:REVIEWERS_MAX]]
    names = [who.login() if who.text("login") else team_name(who, delivery.owner) for who in reviewers]
    return tuple(name for name in names if name != GHOST)


def _approval(
    delivery: Delivery, subject: Subject, run: Json, address: Address | None, at: datetime | None
) -> list[Signal]:
    """Ask for the approval that a run waits for; where the payload names nobody, the routing rules say who.

    The waiting job and the request for a review of its deployment are one happening.
    """
    address = address or Address(direct=True)
    address = replace(address, agent=address.agent or delivery.agents.of(delivery.sender))
    key = talk_key(delivery.source, "approval", f"{run.number('id')}:{run.number('run_attempt')}")
    kind = Kind.REVIEW_REQUEST if address.direct else Kind.NOTIFICATION
    what = "approval requested"
    return happened(delivery, subject, what=what, key=key, at=at, address=address, kind=kind, own_counts=True)


def _deployment_decided(delivery: Delivery) -> list[Signal]:
    run = delivery.body.at("workflow_run")
    if not run.number("id"):
        return [NO_NUMBER]
    subject = _machine(delivery, f"run-{run.number('id')}", "", "")
    return [subject.closed("deployment decided", delivery.body.time("since") or run.time("updated_at"))]


CHECK_RUNS: Final[Readers] = {"completed": _check_run}
STATUSES: Final[Readers] = {"": _status}  # this event has no action
WORKFLOW_RUNS: Final[Readers] = {"requested": _workflow_run, "completed": _workflow_run}
WORKFLOW_JOBS: Final[Readers] = {"waiting": _job_waits}
DEPLOYMENT_REVIEWS: Final[Readers] = {
    "requested": _deployment_asked,
    "approved": _deployment_decided,
    "rejected": _deployment_decided,
}
