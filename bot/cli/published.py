"""The published JSON Schemas of `--json`: which command answers what, and the files that say so.

    python -m bot.cli.published

writes `schemas/*.json`, one a command. They come with the package; a test holds them against the shapes, and every
command's answer against them.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bot.engine import shapes
from bot.engine.shapes import SCHEMA_VERSION, Shape

FOLDER: Final = Path(__file__).with_name("schemas")


@dataclass(frozen=True)
class Answer:
    """The shape of a command's data; a list of such where `many`."""

    shape: type[Shape]
    many: bool = False


ANSWERS: Final[dict[str, Answer]] = {
    "act check": Answer(shapes.ActionAnswer),
    "act record": Answer(shapes.ActionAnswer),
    "act refused": Answer(shapes.ActionAnswer),
    "doctor": Answer(shapes.Examined),
    "ingest": Answer(shapes.Ingested),
    "job escalate": Answer(shapes.Job),
    "job nudge": Answer(shapes.Job),
    "job reply": Answer(shapes.Replied),
    "job reroute": Answer(shapes.JobNamed),
    "job result": Answer(shapes.JobResult),
    "job settle": Answer(shapes.JobNamed),
    "job show": Answer(shapes.JobDetail),
    "job snooze": Answer(shapes.Job),
    "job status": Answer(shapes.JobStatus),
    "job why": Answer(shapes.Why),
    "jobs": Answer(shapes.Job, many=True),
    "lint-reply": Answer(shapes.Linted),
    "migrate": Answer(shapes.Migrated),
    "pause": Answer(shapes.Pause),
    "plan": Answer(shapes.Due, many=True),
    "prime": Answer(shapes.Text),
    "resume": Answer(shapes.Pause),
    "send": Answer(shapes.Sent),
    "sidechat add": Answer(shapes.Sidechat),
    "sidechat list": Answer(shapes.Sidechat, many=True),
    "sidechat mute": Answer(shapes.Sidechat),
    "sidechat unmute": Answer(shapes.Sidechat),
    "sidechat remove": Answer(shapes.Removed),
    "snippet": Answer(shapes.Text),
    "status": Answer(shapes.StatusAnswer),
    "why": Answer(shapes.Why),
}


def file_of(command: str) -> Path:
    return FOLDER / f"{command.replace(' ', '-')}.json"


def schema(command: str) -> dict[str, Any]:
    """Return the schema of what a command prints with `--json`."""
    answer = ANSWERS[command]
    inner = answer.shape.model_json_schema(mode="serialization", by_alias=True)
    definitions = {**inner.pop("$defs", {}), answer.shape.__name__: inner}
    one = {"$ref": f"#/$defs/{answer.shape.__name__}"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"digestbot {command} --json",
        "type": "object",
        "required": ["schema_version", "data"],
        "additionalProperties": False,
        "properties": {
            "schema_version": {"const": SCHEMA_VERSION},
            "data": {"type": "array", "items": one} if answer.many else one,
        },
        "$defs": definitions,
    }


def text_of(command: str) -> str:
    return json.dumps(schema(command), indent=2, ensure_ascii=False, sort_keys=True) + "\n"


def write() -> None:
    """Write all files."""
    for command in ANSWERS:
        file_of(command).write_text(text_of(command), encoding="utf-8")


if __name__ == "__main__":
    write()
