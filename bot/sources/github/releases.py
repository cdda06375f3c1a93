"""Releases: announcements to everybody (SPEC B3)."""

from typing import Final

from bot.buffer.items import Kind, Signal
from bot.sources.github.agents import Address
from bot.sources.github.deliveries import NO_NUMBER, Delivery, Readers, happened
from bot.sources.github.payload import Json
from bot.sources.github.places import talk_key
from bot.sources.github.subjects import UNTITLED, Subject


def release_thread(release: Json) -> str:
    """Return the thread of a release: its tag is what people know it by, its id all that an API address tells."""
    tag, id_ = release.line("tag_name", most=100), release.number("id")
    return f"release-{tag}" if tag else f"release-id-{id_}" if id_ else ""


def _subject(delivery: Delivery) -> Subject:
    release = delivery.body.at("release")
    return Subject(
        source=delivery.source,
        thread_id=release_thread(release),
        name=f"{delivery.place_name} release",
        title=release.line("name") or release.line("tag_name") or UNTITLED,
        url=release.url("html_url"),
        labels=delivery.labels,
    )


def _published(delivery: Delivery) -> list[Signal]:
    """One release comes as `published` and as `released` or `prereleased`: the same key makes them one."""
    release, subject = delivery.body.at("release"), _subject(delivery)
    if not subject.thread_id:
        return [NO_NUMBER]
    author = release.login("author")
    return happened(
        delivery,
        subject,
        what="published",
        key=talk_key(delivery.source, "release", release.number("id")),
        at=release.time("published_at") or release.time("created_at"),
        author=delivery.sender if author == "ghost" else author,
        address=Address(),
        kind=Kind.BROADCAST,
        text=release.text("body"),
    )


def _gone(delivery: Delivery) -> list[Signal]:
    subject = _subject(delivery)
    return [subject.closed("release withdrawn")] if subject.thread_id else [NO_NUMBER]


RELEASES: Final[Readers] = {
    "published": _published,
    "released": _published,
    "prereleased": _published,
    "unpublished": _gone,
    "deleted": _gone,
}
