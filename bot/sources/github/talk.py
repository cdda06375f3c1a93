"""What people say under a subject: comments, reviews, review threads (SPEC B3, P1)."""

from dataclasses import replace
from typing import Final

from bot.buffer.items import Ignored, Signal
from bot.sources.github.deliveries import NO_NUMBER, Delivery, Readers, Words, said, withdrawn
from bot.sources.github.mentions import prose
from bot.sources.github.payload import Json
from bot.sources.github.places import talk_key
from bot.sources.github.subjects import Subject
from bot.sources.github.threads import about, newly_named

_COMMENT: Final = "comment"
_VERDICTS: Final = {"approved": "approved", "changes_requested": "changes requested"}


def _words(delivery: Delivery, sort: str, comment: Json, *, what: str = _COMMENT, path: str = _COMMENT) -> Words:
    return Words(
        what=what,
        author=delivery.author_of(path),
        body=comment.text("body"),
        url=comment.url("html_url"),
        at=comment.time("created_at") or comment.time("submitted_at"),
        key=talk_key(delivery.source, sort, comment.number("id")),
    )


def comments(subject_sort: str, sort: str) -> Readers:
    """Return the readers of one sort of comment."""

    def created(delivery: Delivery, subject: Subject) -> list[Signal]:
        return said(delivery, subject, _words(delivery, sort, delivery.body.at(_COMMENT)))

    def edited(delivery: Delivery, subject: Subject) -> list[Signal]:
        before = delivery.mentions(prose(delivery.body.text("changes", "body", "from")))
        comment = delivery.body.at(_COMMENT)
        words = replace(_words(delivery, sort, comment), at=comment.time("updated_at"))
        return newly_named(said(delivery, subject, words), before)

    def deleted(delivery: Delivery, subject: Subject) -> list[Signal]:
        key = talk_key(delivery.source, sort, delivery.body.number(_COMMENT, "id"))
        at = delivery.body.time(_COMMENT, "updated_at")
        return withdrawn(subject, key, "comment deleted", at) if key else [NO_NUMBER]

    return {
        "created": about(subject_sort, created),
        "edited": about(subject_sort, edited),
        "deleted": about(subject_sort, deleted),
    }


def _commit_comment(delivery: Delivery) -> list[Signal]:
    comment = delivery.body.at(_COMMENT)
    sha = comment.line("commit_id", most=64)
    if not sha:
        return [NO_NUMBER]
    subject = Subject(
        source=delivery.source,
        thread_id=f"commit-{sha}",
        name=f"{delivery.place_name} commit {sha[:7]}",
        url=comment.url("html_url"),
        labels=delivery.labels,
    )
    return said(delivery, subject, _words(delivery, "commit_comment", comment))


def _reviewed(delivery: Delivery, subject: Subject) -> list[Signal]:
    review = delivery.body.at("review")
    verdict = _VERDICTS.get(review.text("state").casefold(), "")
    if not verdict and not review.text("body").strip():
        return [Ignored(reason="review without words")]  # its comments come by themselves
    return said(delivery, subject, _words(delivery, "review", review, what=verdict or "review", path="review"))


def _thread_resolved(delivery: Delivery, subject: Subject) -> list[Signal]:
    """Take back the items of this thread's comments; the pull request goes on."""
    at = delivery.body.time("updated_at") or delivery.body.time("pull_request", "updated_at")
    keys = [
        talk_key(delivery.source, "review_comment", comment.number("id"))
        for comment in delivery.body.items("thread", "comments")
    ]
    taken = [signal for key in keys if key for signal in withdrawn(subject, key, "resolved", at)]
    return taken or [Ignored(reason="review thread without comments")]


def _thread_unresolved(delivery: Delivery, subject: Subject) -> list[Signal]:
    """Bring the thread's first comment back, once: a redelivery has the same key."""
    comment = next(iter(delivery.body.items("thread", "comments")), Json())
    at = delivery.body.time("updated_at") or delivery.body.time("pull_request", "updated_at")
    first = talk_key(delivery.source, "review_comment", comment.number("id"))
    if not first:
        return [Ignored(reason="review thread without comments")]
    words = Words(
        what="review thread reopened",
        author=delivery.sender,
        body=comment.text("body"),
        url=comment.url("html_url"),
        at=at,
        key=f"{first}:unresolved:{at.isoformat() if at else ''}",
    )
    return said(delivery, subject, words, names=())  # whoever was mentioned has been told already


ISSUE_COMMENTS: Final = comments("issue", "comment")
REVIEW_COMMENTS: Final = comments("pull_request", "review_comment")
DISCUSSION_COMMENTS: Final = comments("discussion", "discussion_comment")
COMMIT_COMMENTS: Final[Readers] = {"created": _commit_comment}
REVIEWS: Final[Readers] = {"submitted": about("pull_request", _reviewed)}
REVIEW_THREADS: Final[Readers] = {
    "resolved": about("pull_request", _thread_resolved),
    "unresolved": about("pull_request", _thread_unresolved),
}
