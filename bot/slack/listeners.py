"""Listeners: buttons, forms, the message shortcut and `/buffer` (SPEC U1, U2, P9, P11).

Slack does not repeat what a person pressed or typed, so a press and a submission are committed before they are
acknowledged. Where a form is to be opened that comes first, since its trigger dies within three seconds; who may use
it is asked when it is open, and again when it is sent.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from slack_bolt.app.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.engine import commands, voices
from bot.engine.deps import Deps
from bot.engine.messages import Author, Message
from bot.engine.operators import Actor, Face
from bot.errors import DigestbotError, StoreError, UsageError
from bot.protocol.slack_text import undo
from bot.protocol.verbs import Verb
from bot.slack import commands as slash
from bot.slack import modals
from bot.slack.asking import Typed
from bot.slack.blocks import ACTION
from bot.slack.modals import Origin, View
from bot.slack.pages import messages

Json = Mapping[str, Any]
Ack = Callable[..., Awaitable[Any]]
Respond = Callable[..., Awaitable[Any]]

VIA: Final = "button"
_AT_ONCE: Final = re.compile(rf"{ACTION}({Verb.ACK}|{Verb.CLAIM}|{Verb.NO_ACTION})")
_BY_FORM: Final = re.compile(rf"{ACTION}({Verb.RESULT}|{Verb.DECLINE})")


def register(app: AsyncApp, deps: Deps) -> None:
    """Let the app listen to what people press and type."""
    desk = Listeners(deps=deps)
    app.command("/buffer")(desk.command)
    app.action(_AT_ONCE)(desk.press)
    app.action(_BY_FORM)(desk.ask)
    app.action("matter:close")(desk.close_matter)
    app.action("matter:reroute")(desk.ask_where)
    app.shortcut(modals.REPLY)(desk.shortcut)
    app.view(modals.REPLY)(desk.submit)
    app.view(modals.REROUTE)(desk.submit_where)


@dataclass(frozen=True, kw_only=True)
class Press:
    """A button that was pressed: about which job, where, by whom; `key` names this very press."""

    job_id: str
    verb: str  # empty where the button is no reply
    place: Message
    key: str

    @property
    def origin(self) -> Origin:
        place = self.place
        return Origin(job_id=self.job_id, verb=self.verb, channel=place.channel, thread=place.thread, ts=place.ts)


@dataclass(frozen=True, kw_only=True)
class Listeners:
    deps: Deps

    # -- buttons ------------------------------------------------------------------------------------------------------

    async def press(self, ack: Ack, body: Json, respond: Respond) -> None:
        """Take a verb that needs no words."""
        pressed = read_press(body)
        await self._settled(ack, respond, pressed.place, self._reply(pressed))

    async def _reply(self, pressed: Press) -> None:
        place = pressed.place
        await commands.reply(
            self.deps,
            pressed.job_id,
            Verb(pressed.verb),
            author=place.author,
            via=VIA,
            key=pressed.key,
            place=place,
        )

    async def ask(self, ack: Ack, body: Json, client: AsyncWebClient, respond: Respond) -> None:
        """Open the form for a verb that needs words, or can have some."""
        await ack()
        pressed = read_press(body)
        form = modals.answer(self.deps.wording, pressed.origin)
        view = await self._open(client, body, respond, form)
        if view:
            await self._explain(client, view, voices.may_reply(self.deps, pressed.job_id, pressed.place))

    async def close_matter(self, ack: Ack, body: Json, respond: Respond) -> None:
        """Let a declined matter rest."""
        pressed = read_press(body)
        done = commands.settle(self.deps, pressed.job_id, _actor(pressed.place.author), place=pressed.place)
        await self._settled(ack, respond, pressed.place, done)

    async def ask_where(self, ack: Ack, body: Json, client: AsyncWebClient, respond: Respond) -> None:
        """Open the form that asks who gets a declined matter."""
        await ack()
        pressed = read_press(body)
        view = await self._open(client, body, respond, modals.waiting(self.deps.wording))
        if view and not await self._explain(client, view, voices.may_reply(self.deps, pressed.job_id, pressed.place)):
            names = [one.name for one in await commands.sidechat_list(self.deps)]
            await _renew(client, view, modals.reroute(self.deps.wording, pressed.origin, names))

    async def _settled(self, ack: Ack, respond: Respond, place: Message, work: Awaitable[None]) -> None:
        """Do it, then acknowledge; a refusal is told to the person alone. What is not stored is not acknowledged."""
        try:
            await work
        except StoreError as error:
            await self._tell(respond, self.deps.wording.say("modal", part="not_stored"), place.thread)
            raise error from None
        except DigestbotError as error:
            await ack()
            await self._tell(respond, slash.refusal(self.deps, error), place.thread)
        else:
            await ack()

    # -- forms --------------------------------------------------------------------------------------------------------

    async def shortcut(self, ack: Ack, body: Json, client: AsyncWebClient, respond: Respond) -> None:
        """Open the form that answers the digest to which a message belongs."""
        await ack()
        place = _place(body)
        view = await self._open(client, body, respond, modals.waiting(self.deps.wording))
        if not view:
            return
        try:
            job_id = await voices.meant(self.deps, place)
        except DigestbotError as error:
            await _renew(client, view, modals.refused(self.deps.wording, slash.refusal(self.deps, error)))
            return
        origin = Origin(job_id=job_id, verb="", channel=place.channel, thread=place.thread, ts=place.ts)
        await _renew(client, view, modals.answer(self.deps.wording, origin))

    async def submit(self, ack: Ack, body: Json) -> None:
        """Take a verb with its words; what is wrong with them is said beside the field."""
        said, author = modals.read(body["view"]), _author(body)
        place = _of_origin(said.origin, author)
        try:
            await commands.reply(
                self.deps,
                said.origin.job_id,
                Verb(said.chosen),
                text=said.text,
                author=author,
                via=VIA,
                key=f"{body['view']['id']}:{author.id}",
                place=place,
            )
        except UsageError as error:
            await ack(response_action="errors", errors={modals.TEXT: undo(slash.refusal(self.deps, error))})
        except StoreError:
            words = self.deps.wording.say("modal", part="not_stored")
            await ack(response_action="errors", errors={modals.TEXT: words})
        except DigestbotError as error:
            await self._refuse(ack, error)
        else:
            await ack()

    async def submit_where(self, ack: Ack, body: Json) -> None:
        """Give a declined matter to the sidechat that was chosen."""
        said, author = modals.read(body["view"]), _author(body)
        place = _of_origin(said.origin, author)
        try:
            await commands.reroute(self.deps, said.origin.job_id, said.chosen, _actor(author), place=place)
        except StoreError:
            words = self.deps.wording.say("modal", part="not_stored")
            await ack(response_action="errors", errors={modals.CHOICE: words})
        except DigestbotError as error:
            await self._refuse(ack, error)
        else:
            await ack()

    async def _refuse(self, ack: Ack, error: DigestbotError) -> None:
        view = modals.refused(self.deps.wording, slash.refusal(self.deps, error))
        await ack(response_action="update", view=view)

    async def _open(self, client: AsyncWebClient, body: Json, respond: Respond, view: View) -> View | None:
        """Open a form at once; none when Slack took too long to bring us here."""
        try:
            opened = await client.views_open(trigger_id=body["trigger_id"], view=view)
        except SlackApiError as error:
            self.deps.log.warning("slack.form_not_opened", reason=str(error.response.get("error")))
            await self._tell(respond, self.deps.wording.say("modal", part="too_late"), _place(body).thread)
            return None
        found: View = opened["view"]
        return found

    async def _explain(self, client: AsyncWebClient, view: View, asked: Awaitable[None]) -> bool:
        """Put the reason into the form's place where somebody may not use it; return whether it was so."""
        try:
            await asked
        except DigestbotError as error:
            await _renew(client, view, modals.refused(self.deps.wording, slash.refusal(self.deps, error)))
            return True
        return False

    # -- commands -----------------------------------------------------------------------------------------------------

    async def command(self, ack: Ack, body: Json, respond: Respond) -> None:
        """Answer `/buffer`: acknowledged at once, answered when all is committed."""
        await ack()
        typed = Typed(text=str(body.get("text") or ""), user=body["user_id"], channel=body["channel_id"])
        parts = await slash.answer(self.deps, typed)
        for message in messages(parts, lambda count: slash.more(self.deps, count)):
            await self._respond(respond, message)

    async def _tell(self, respond: Respond, words: str, thread: str) -> None:
        """Tell one person, and nobody else, in the thread where he is."""
        where = {"thread_ts": thread} if thread else {}
        await self._respond(respond, {"text": words, **where})

    async def _respond(self, respond: Respond, message: Json) -> None:
        answered = await respond(response_type="ephemeral", replace_original=False, **message)
        if answered.status_code != 200:
            self.deps.log.warning("slack.answer_refused", status=answered.status_code)


def read_press(body: Json) -> Press:
    """Read a button's payload."""
    action, place = body["actions"][0], _place(body)
    name = str(action["action_id"])
    return Press(
        job_id=str(action["value"]),
        verb=name.removeprefix(ACTION) if name.startswith(ACTION) else "",
        place=place,
        key=f"{place.channel}:{place.ts}:{place.author.id}:{action['action_ts']}",
    )


def _place(body: Json) -> Message:
    """Return the message that was acted upon, with who acted as its author."""
    message, container = body.get("message") or {}, body.get("container") or {}
    ts = str(message.get("ts") or container.get("message_ts") or "")
    root = str(message.get("thread_ts") or container.get("thread_ts") or "")
    thread = "" if root == ts else root
    return Message(channel=str(body["channel"]["id"]), ts=ts, thread=thread, author=_author(body), text="")


def _of_origin(origin: Origin, author: Author) -> Message:
    return Message(channel=origin.channel, ts=origin.ts, thread=origin.thread, author=author, text="")


def _author(body: Json) -> Author:
    user = body["user"]
    team = str(user.get("team_id") or (body.get("team") or {}).get("id") or "")
    return Author(user=str(user["id"]), team=team, name=str(user.get("name") or ""))


def _actor(author: Author) -> Actor:
    return Actor(face=Face.SLACK, id=author.id)


async def _renew(client: AsyncWebClient, view: View, content: View) -> None:
    await client.views_update(view_id=view["id"], hash=view["hash"], view=content)
