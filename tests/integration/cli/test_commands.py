"""Every command: the good case, and the most likely mistake (SPEC U4, §11; issue C acceptance 3)."""

import json
import os
import subprocess
import sys

import pytest
import typer

from bot.cli import published
from bot.cli.contract import PRIME_MAX
from bot.cli.main import app
from bot.engine.operators import Face

THREAD = ("github:acme/api", "pr-1")
ROW = {"source": "github:acme/api", "thread_id": "pr-1", "content_summary": "look at this", "kind": "mention"}
NOBODY = "ml-646-20200101-000000"


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


# -- looking ----------------------------------------------------------------------------------------------------------


def test_status(cli):
    """U4, §8: the same figures as everywhere, and what is open now."""
    cli.job()
    status = cli.data("status")
    assert (status["delivered"], status["pending"], status["now"]["open"]) == (1, 1, 1)
    assert "closure rate" in cli.ok("status")


def test_status_of_what(cli):
    """The likely mistake: an argument that it does not take."""
    assert "--help" in cli.fails(2, "status", "646")


def test_jobs(cli):
    """U4: open jobs, of one agent if one is named."""
    job = cli.job()
    assert [one["job_id"] for one in cli.data("jobs")] == [job]
    assert job in cli.ok("jobs", "646")
    assert cli.data("jobs", "nobody") == []


def test_digest(cli):
    """B11: the digest of the buffer."""
    assert "pending: 0" in cli.ok("digest")
    cli.fails(2, "digest", "--jsn")


def test_plan(cli):
    """U1: what happens next, and when."""
    job = cli.job()
    assert ("nudge", job) in [(one["what"], one["subject"]) for one in cli.data("plan")]
    assert job in cli.ok("plan")
    cli.fails(2, "plan", "tomorrow")


def test_why(cli):
    """U1: the decision trace of a job, an item or a sidechat."""
    job = cli.job()
    assert cli.data("why", job)["trace"]
    assert cli.ok("why", "646 tasks")
    assert cli.data("job", "why", job)["trace"]
    assert job in cli.fails(3, "why", job[:-1] + "x")


# -- one job ----------------------------------------------------------------------------------------------------------


def test_a_job_is_shown_by_its_id_alone(cli):
    """P3: what `+N more` stands for is listed by `job ID`; an id that is near gets the right one."""
    job = cli.job()
    assert cli.ok("job", job) == cli.ok("job", "show", job)
    assert json.loads(cli.ok("job", job, "--json"))["data"]["job_id"] == job
    assert job in cli.fails(3, "job", job[:-1] + "x")
    assert "shown" in cli.fails(2, "job", "shown")


def test_a_job_from_claim_to_result(cli):
    """§9: every verb by the command line, through the same use case."""
    job = cli.job()
    assert cli.data("job", "status", job)["status"] == "pending"
    assert cli.data("job", "reply", job, "CLAIM", "--as", "646")["owner"] == "U0646"
    assert cli.data("job", "result", job, "it is merged", "--as", "646")["result_text"] == "it is merged"
    assert cli.data("job", "result", job) == {"job_id": job, "result_text": "it is merged"}
    assert cli.ok("job", "result", job) == "it is merged\n"
    assert cli.ok("job", "status", job) == "resolved RESULT\n"
    shown = cli.data("job", "show", job)
    assert [one["verb"] for one in shown["replies"]] == ["CLAIM", "RESULT"]
    assert "look at this" in cli.ok("job", "show", job)


@pytest.mark.parametrize("word", ["no-action", "NO_ACTION", "no action", "noaction", "[NO-ACTION]"])
def test_verbs_as_people_type_them(cli, word):
    """P8's spirit: the dash of NO-ACTION is nobody's business."""
    assert cli.data("job", "reply", cli.job(), word)["outcome"] == "NO-ACTION"


def test_a_key_counts_once(cli):
    """§10 promise 3: the same act again changes nothing."""
    job = cli.job()
    for _ in range(2):
        cli.ok("job", "reply", job, "RESULT", "done", "--as", "646", "--key", "k")
    assert cli.data("job", "result", job)["result_text"] == "done"


@pytest.mark.parametrize(
    ("code", "arguments", "words"),
    [
        (2, ("reply", "JOB", "DONE"), "one of: ACK"),
        (2, ("reply", "JOB", "RESULT"), "a RESULT needs words"),
        (3, ("reply", NOBODY, "ACK"), "there is no job"),
        (3, ("show", NOBODY), "there is no job"),
        (3, ("status", NOBODY), "there is no job"),
        (3, ("result", "JOB"), "has no result"),
        (3, ("why", NOBODY), "nothing is known"),
        (2, ("snooze", "JOB", "soon"), "is no span of time"),
        (2, ("snooze", "JOB", "8d"), "at most 7 days"),
        (3, ("nudge", NOBODY), "there is no job"),
        (3, ("escalate", NOBODY), "there is no job"),
        (3, ("reroute", "JOB", "nobody"), "no sidechat is called"),
        (5, ("settle", "JOB"), ""),
        (2, ("shw", "JOB"), ""),
    ],
)
def test_mistakes_about_a_job(cli, code, arguments, words):
    """§11: unknown job 3, wrong state 5, usage 2; each says what would do."""
    job = cli.job()
    assert words in cli.fails(code, "job", *(job if one == "JOB" else one for one in arguments))


def test_a_closed_job_is_a_conflict(cli):
    """§11: wrong state: exit 5; it is kept as a late reply."""
    job = cli.job()
    cli.ok("job", "reply", job, "NO-ACTION", "--as", "646")
    assert "closed" in cli.fails(5, "job", "reply", job, "DECLINE", "no", "--as", "pip")
    cli.fails(5, "job", "nudge", job)
    cli.fails(5, "job", "escalate", job)


def test_clocks_are_moved(cli):
    """U1: snooze, nudge, escalate."""
    job = cli.job()
    before = cli.data("job", "show", job)["due_at"]
    assert cli.data("job", "snooze", job, "2h")["due_at"] > before
    assert "Next due" in cli.ok("job", "nudge", job)
    assert cli.data("job", "escalate", job)["status"] == "escalated"


def test_a_matter_moves_and_rests(cli):
    """F9: an open job is rerouted, a declined matter settled."""
    job = cli.job()
    assert cli.data("job", "reroute", job, "opm") == {"job_id": job}
    cli.ok("job", "reply", job, "DECLINE", "not ours", "--as", "opm")
    assert cli.data("job", "settle", job) == {"job_id": job}


# -- acting -----------------------------------------------------------------------------------------------------------


def test_acting_within_the_limits(cli):
    """B8, B9: clear, then counted, then limited; the thread rests."""
    assert cli.data("act", "check", "github_comment", *THREAD)["verdict"] == "clear"
    assert cli.ok("act", "check", "github_comment") == "clear\n"
    assert cli.data("act", "record", "github_comment", *THREAD)["verdict"] == "rate limited"
    assert "until" in cli.ok("act", "check", "github_comment")
    assert cli.data("act", "check", "github_review", *THREAD)["verdict"] == "thread cooldown active"
    assert cli.data("act", "refused", "email_reply", "--retry-after", "60")["verdict"] == "rate limited"


@pytest.mark.parametrize("what", ["check", "record", "refused"])
def test_acting_on_nothing(cli, what):
    """§11: a misspelt action has the nearest one in its hint."""
    assert "github_comment" in cli.fails(2, "act", what, "github_coment")


# -- items ------------------------------------------------------------------------------------------------------------


def test_ingest_and_export(cli, tmp_path):
    """B2: what export writes, ingest reads."""
    cli.register()
    taken = cli.data("ingest", stdin=lines(ROW, {"source": "x"}))
    assert (taken["stored"], len(taken["quarantined"])) == (1, 1)
    assert cli.data("ingest", "--dry-run", stdin=lines({**ROW, "thread_id": "pr-2"}))["items"][0]["thread_id"] == "pr-2"
    (row,) = [json.loads(line) for line in cli.ok("export").splitlines()]
    assert (row["id"], row["content_summary"]) == (taken["ids"][0], "look at this")
    target = tmp_path / "out.jsonl"
    assert "Wrote 1 items" in cli.ok("export", str(target))
    assert json.loads(target.read_text(encoding="utf-8")) == row
    assert cli.data("ingest", str(target))["already_stored"] == 1


def test_ingest_shows_the_rows_that_it_set_aside(cli):
    """B4: of many rows the bad ones are found by what they hold, shown as one inert line."""
    said = cli.ok("ingest", stdin=lines(ROW, {"source": "x"}) + "not \x1b[31mjson\n")
    assert 'missing, in: {"source": "x"}' in said
    assert "json" in said.splitlines()[-1]
    assert "\x1b" not in said


def test_ingesting_what_is_not_there(cli, tmp_path):
    """The likely mistakes: no such file, no such format."""
    assert "cannot be read" in cli.fails(2, "ingest", str(tmp_path / "nothing.jsonl"))
    assert "one of:" in cli.fails(2, "ingest", "--format", "xml")


def test_exporting_to_nowhere(cli, tmp_path):
    """A file that cannot be written is named; nothing is half written."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert "cannot be written" in cli.fails(2, "export", str(tmp_path / "file" / "out.jsonl"))


def test_a_big_file_shows_no_bar_in_a_pipe(cli):
    """U4: progress bars on long work, none when not a terminal."""
    rows = "".join(json.dumps({**ROW, "thread_id": f"pr-{number}"}) + "\n" for number in range(2100))
    ended = cli.run("ingest", stdin=rows)
    assert (ended.code, ended.err) == (0, "")
    assert "Stored 2100" in ended.out


# -- running it -------------------------------------------------------------------------------------------------------


def test_send(cli):
    """P1: an ad-hoc digest with its policy."""
    cli.register()
    job = cli.data("send", "646", "check it", "--marker", "urgent", "--timeout", "60", "--nudges", "0")["job_id"]
    (stored,) = cli.all_jobs()
    assert (stored.job_id, stored.urgent, stored.reply_nudges) == (job, True, 0)
    assert cli.data("send", "646", "fyi", "--marker", "none")["job_id"] is None
    assert "646 tasks" in cli.fails(3, "send", "nobody", "check it")
    cli.fails(2, "send", "646", "check it", "--marker", "!")


def test_sidechats(cli):
    """R1: registered, listed, removed; the same place twice is a conflict."""
    cli.register()
    added = cli.data("sidechat", "add", "pip tasks", "--channel", "C0PIP")
    assert (added["agent"], added["members"]) == ("pip", [])
    assert {one["name"] for one in cli.data("sidechat", "list")} == {"646 tasks", "main-loop brain", "pip tasks"}
    assert cli.data("sidechat", "remove", "pip tasks") == {"name": "pip tasks", "open_jobs": 0}
    assert "registered:" in cli.fails(3, "sidechat", "remove", "pip tasks")
    cli.fails(2, "sidechat", "add", "lou desk", "--channel", "#lou")
    cli.fails(5, "sidechat", "add", "lou desk", "--channel", "C0646")


def test_mute_and_unmute(cli):
    """R5: a sidechat is muted for a span, or until somebody unmutes it."""
    cli.register()
    assert cli.data("sidechat", "mute", "646 tasks", "2h")["name"] == "646 tasks"
    assert cli.data("sidechat", "unmute", "646")["agent"] == "646"
    assert "is muted" in cli.ok("sidechat", "mute", "646 tasks")
    assert "unmuted" in cli.ok("sidechat", "list")
    assert cli.data("sidechat", "list")[0]["muted_since"]
    cli.fails(3, "sidechat", "mute", "nobody")
    cli.fails(3, "sidechat", "unmute", "nobody")
    cli.fails(2, "sidechat", "mute", "646", "soon")


def test_pause_and_resume(cli):
    """U1: pause stops posting; resuming what is not paused is a conflict."""
    assert cli.data("pause")["paused"]
    assert "Paused since" in cli.ok("pause")
    assert cli.data("resume")["paused"] is False
    assert "not paused" in cli.fails(5, "resume")
    cli.fails(2, "pause", "2h")


def test_migrate(cli):
    """§11: made, or up to date already."""
    made = cli.data("migrate")
    assert (made["from"], made["backup"]) == (None, None)
    assert "already" in cli.ok("migrate")
    cli.fails(2, "migrate", "--force")


# -- for agents -------------------------------------------------------------------------------------------------------


def test_prime_is_short_and_true(cli):
    """U4: the contract in at most 1,500 characters; `lint-reply` takes every example of it."""
    text = cli.data("prime")["text"]
    assert len(text) <= PRIME_MAX
    examples = [line.strip() for line in text.splitlines() if line.startswith("  [") and "main-loop" not in line]
    verbs = []
    for example in examples:
        job = example.split("]")[0].rpartition(" ")[2]
        read = cli.data("lint-reply", "--open", job, stdin=example)
        assert read["hint"] is None
        verbs += [one["verb"] for one in read["verbs"]]
    assert verbs == ["ACK", "CLAIM", "RESULT", "DECLINE", "NO-ACTION"]


def test_what_prime_warns_of_does_nothing(cli):
    """P8: "I will post [RESULT id] later" must not close a job."""
    read = cli.data("lint-reply", "--open", NOBODY, stdin=f"I will post [RESULT {NOBODY}] later")
    assert read["verbs"] == []
    assert "cannot be read" in cli.fails(2, "lint-reply", "nothing.txt")


def test_snippet(cli):
    """U4: a block for an AGENTS.md, with the agent's own name."""
    assert "agent `pip`" in cli.ok("snippet", "--agent", "pip")
    assert "ml-pip-" in cli.data("snippet", "--agent", "pip")["text"]
    cli.fails(2, "snippet", "--agent", "the one")


# -- the house --------------------------------------------------------------------------------------------------------


def test_errors_are_json_for_programs(cli):
    """U4: errors on stderr with code and hint."""
    ended = cli.run("job", "show", NOBODY, "--json")
    error = json.loads(ended.err)["error"]
    assert (ended.code, ended.out, error["code"]) == (3, "", "not_found")
    assert {"message", "hint"} <= error.keys()


def commands(group=None, before=""):
    """Yield every command's name with its parameters."""
    group = group or typer.main.get_command(app)
    for name, one in group.commands.items():
        if hasattr(one, "commands"):
            yield from commands(one, f"{before}{name} ")
        else:
            yield f"{before}{name}", one


def test_every_json_answer_has_a_published_schema():
    """U4: `--json` outputs validate against published schemas; `digestbot demo` tells its own story."""
    told = {name for name, one in commands() if any("--json" in parameter.opts for parameter in one.params)}
    assert told - {"demo"} == set(published.ANSWERS)


@pytest.mark.parametrize("command", sorted(published.ANSWERS))
def test_the_files_say_what_the_shapes_say(command):
    """After a change: python -m bot.cli.published."""
    assert published.file_of(command).read_text(encoding="utf-8") == published.text_of(command)


def test_no_file_is_of_no_command():
    """A command that went takes its schema with it."""
    assert {file.name for file in published.FOLDER.glob("*.json")} == {
        published.file_of(one).name for one in published.ANSWERS
    }


def test_the_program_itself(tmp_path):
    """The installed entry point, in a process of its own, answers with the exit codes too."""
    environ = {"PATH": os.environ["PATH"], "DIGESTBOT_HOME": str(tmp_path), "HOME": str(tmp_path)}  # noqa: TID251
    command = [sys.executable, "-m", "bot.cli", "job", "show", NOBODY]
    done = subprocess.run(command, env=environ, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("digestbot: there is no job")


def test_ingesting_nothing_but_bad_rows_is_an_error(cli):
    """U4, §11: 1 where every row was set aside, with the report all the same; 0 while anything was taken or known."""
    said = cli.run("ingest", stdin=lines({"source": "x"}) + "not json\n")
    assert (said.code, "set aside 2" in said.out, "every row was set aside" in said.err) == (1, True, True)
    ended = cli.run("ingest", "--json", stdin="not json\n")
    assert ended.code == 1
    assert len(json.loads(ended.out)["data"]["quarantined"]) == 1
    assert json.loads(ended.err)["error"]["code"] == "error"
    cli.ok("ingest", stdin=lines(ROW, {"source": "x"}))
    cli.ok("ingest", stdin="")


@pytest.mark.parametrize("option", ["--open", "--thread"])
@pytest.mark.parametrize("wrong", ["garbage", "ml-646-20261004", "ml-646-20261304-210000"])
def test_lint_reply_refuses_what_is_no_job_id(cli, option, wrong):
    """U4: a usage fault that names the form; whatever the message says still ends with 0."""
    said = cli.fails(2, "lint-reply", option, wrong, stdin="[ACK x] seen")
    assert wrong in said
    assert "ml-AGENT-YYYYMMDD-HHMMSS" in said
    cli.ok("lint-reply", option, "ML-646-20261004-210000", stdin="[ACK garbage] seen")


def test_a_sidechat_by_command_line_goes_the_way_of_every_face(cli, monkeypatch):
    """§9: register and unregister through the one use case with the one check; nothing is logged to the person."""
    asked = []

    async def check(_deps, by):
        asked.append(by.face)

    monkeypatch.setattr("bot.engine.commands.operators.check", check)
    cli.config('escalate_to = "U0ROBIN"\n')
    added = cli.run("sidechat", "add", "pip chat", "--channel", "C0123456789")
    removed = cli.run("sidechat", "remove", "pip chat")
    assert (added.code, added.err, removed.code, removed.err) == (0, "", 0, "")
    assert asked == [Face.CLI, Face.CLI]
