"""§12: the manifests in deploy/slack have exactly the scopes and events that the code uses, and nothing else."""

import ast
import re
from pathlib import Path

import pytest

from bot.slack import payloads, scopes

ROOT = Path(__file__).resolve().parents[2]
METHOD = re.compile(r"(?:apps|auth|bots|chat|conversations|reactions|usergroups|users|views)(?:\.[a-zA-Z]+){1,2}")
SDK = re.compile(r"(?:apps|auth|bots|chat|conversations|reactions|usergroups|users|views)_[a-zA-Z_]+")
MANIFESTS = ("manifest-socket.yaml", "manifest-http.yaml")


def read(name):
    """Read the little of YAML that the manifests use: maps and lists by indentation, plain and quoted words."""
    lines = []
    for line in (ROOT / "deploy" / "slack" / name).read_text(encoding="utf-8").splitlines():
        bare = re.sub(r"(^|\s)#.*$", "", line).rstrip() if '"' not in line else line
        if bare.strip() and not bare.lstrip().startswith("#"):
            lines.append((len(bare) - len(bare.lstrip()), bare.strip()))
    value, rest = _block(lines, 0)
    assert rest == []
    return value


def _block(lines, indent):
    if lines[0][1].startswith("- "):
        found = []
        while lines and lines[0][0] == indent and lines[0][1].startswith("- "):
            inside = lines[0][1][2:]
            if ": " in inside or inside.endswith(":"):
                value, lines = _block([(indent + 2, inside), *lines[1:]], indent + 2)
            else:
                value, lines = _scalar(inside), lines[1:]
            found.append(value)
        return found, lines
    mapping = {}
    while lines and lines[0][0] == indent and not lines[0][1].startswith("- "):
        key, _, inside = lines[0][1].partition(":")
        if inside.strip():
            mapping[key], lines = _scalar(inside.strip()), lines[1:]
        else:
            mapping[key], lines = _block(lines[1:], lines[1][0])
    return mapping, lines


def _scalar(text):
    if text in {"true", "false"}:
        return text == "true"
    return int(text) if text.isdigit() else text.strip('"')


def methods_called():
    """Return the Web API methods that the product names or calls through the SDK, outside its tables of limits."""
    found = set()
    for path in (ROOT / "bot" / "slack").rglob("*.py"):
        if path.name in {"scopes.py", "budgets.py"}:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and METHOD.fullmatch(node.value):
                found.add(node.value)
            if isinstance(node, ast.Attribute) and SDK.fullmatch(node.attr) and "client" in ast.unparse(node.value):
                found.add(_dotted(node.attr))
    return found | {"chat.postMessage"}  # named in budgets.py, for its own limit there


def _dotted(name):
    known = {method.replace(".", "_").lower(): method for method in scopes.METHODS}
    return known.get(name.lower(), name)


def events_read():
    """Return the events that are read, as an app subscribes to them: a message by the kind of its channel."""
    kinds = set(payloads._READERS) - {"message", "app_mention"}  # a mention comes as its message, too
    return kinds | {"message.channels", "message.groups", "message.im"}


def test_every_method_that_is_called_has_its_scopes_and_no_other_has():
    assert methods_called() == set(scopes.METHODS)


def test_every_event_that_is_read_is_subscribed_and_no_other_is():
    assert events_read() == set(scopes.EVENTS)


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_manifest_asks_for_exactly_that(name):
    manifest = read(name)
    assert manifest["oauth_config"]["scopes"] == {"bot": sorted(scopes.SCOPES)}  # no user scopes
    assert manifest["settings"]["event_subscriptions"]["bot_events"] == sorted(scopes.EVENTS)


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_manifest_has_the_faces_that_the_code_has(name):
    """One command, one message shortcut, buttons and forms; no home tab before there is one."""
    features = read(name)["features"]
    (command,) = features["slash_commands"]
    (shortcut,) = features["shortcuts"]
    assert (command["command"], command["should_escape"]) == (scopes.COMMAND, True)
    assert (shortcut["type"], shortcut["callback_id"]) == ("message", scopes.SHORTCUT)
    assert features["app_home"]["home_tab_enabled"] is False
    assert features["app_home"]["messages_tab_read_only_enabled"] is False  # F4: a direct message can be answered
    assert read(name)["settings"]["interactivity"]["is_enabled"] is True


def test_only_the_http_manifest_names_addresses():
    """In Socket Mode Slack refuses a manifest with request addresses; over HTTP nothing arrives without them."""
    socket, http = (read(name) for name in MANIFESTS)
    assert socket["settings"]["socket_mode_enabled"] is True
    assert http["settings"]["socket_mode_enabled"] is False
    for manifest, wanted in ((socket, False), (http, True)):
        settings, (command,) = manifest["settings"], manifest["features"]["slash_commands"]
        assert ("request_url" in settings["event_subscriptions"]) is wanted
        assert ("request_url" in settings["interactivity"]) is wanted
        assert ("url" in command) is wanted


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_manifest_keeps_slacks_own_limits(name):
    """Reference §6: names and descriptions have lengths, and a token that rotates cannot come from the environment."""
    manifest = read(name)
    about = manifest["display_information"]
    assert len(about["name"]) <= 35
    assert len(about["description"]) <= 140
    assert manifest["settings"]["token_rotation_enabled"] is False
