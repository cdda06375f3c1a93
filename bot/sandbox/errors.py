"""The answers that are not `ok`."""

from bot.sandbox.world import Json


class SlackError(Exception):
    """Slack's `{"ok": false, "error": code}`, with whatever else that error carries."""

    def __init__(self, code: str, **extra: object) -> None:
        super().__init__(code)
        self.code = code
        self.extra = extra

    def body(self) -> Json:
        return {"ok": False, "error": self.code, **self.extra}


class ControlError(Exception):
    """A control request that cannot be carried out, in words for the person who sent it."""
