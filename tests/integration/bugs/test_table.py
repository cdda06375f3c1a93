"""Every row of `cases/bugs.jsonl` is a story here, or is told where the table says."""

import ast
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
ROWS = ROOT.parent / "shared" / "cases" / "bugs.jsonl"

SOCKETS = "tests/integration/slack/test_sockets.py"
HOLDS = "tests/integration/buffer/test_holds.py"
HAPPENING = "tests/integration/sources/test_one_happening.py"
IMAP = "tests/integration/mail/test_imap.py"
LOCK = "tests/contract/test_run_lock.py"
TROUBLES = "tests/e2e/run/test_storage_troubles.py"

# Rows that are told elsewhere altogether: the tests that prove their outcome, and why there.
ELSEWHERE = {
    "O03": (
        "where acknowledgements are withheld, on the wire",
        f"{SOCKETS}::test_a_commit_after_the_deadline_leaves_the_envelope_to_be_sent_again",
        "tests/unit/slack/test_intake.py::test_a_commit_after_the_deadline_is_not_acknowledged_but_may_still_happen",
        f"{TROUBLES}::test_a_lock_that_outlasts_the_wait_loses_nothing",
    ),
    "O04": (
        "webhook identity is the source's",
        f"{HAPPENING}::test_redeliveries_and_two_hooks_are_one_job_and_a_shared_id_hides_nothing",
        "tests/unit/sources/test_github_cases.py::test_content_and_not_the_delivery_id_tells_happenings_apart",
    ),
    "O06": (
        "null addresses and cursors are the source's",
        "tests/integration/sources/test_github_poll.py::test_rows_without_addresses_between_good_ones",
        "tests/integration/sources/test_observing.py::test_a_bad_row_is_set_aside_and_the_cursor_passes_it",
    ),
    "O12": (
        "wall time of quiet hours, with their neighbours",
        f"{HOLDS}::test_quiet_hours_end_by_wall_time_once_a_day",
        f"{HOLDS}::test_nudges_are_measured_in_elapsed_time",
    ),
    "O13": (
        "the machine's clock itself; random histories set it back, too",
        "tests/unit/test_clock.py::test_set_back_it_goes_on_from_where_it_was_and_is_caught_up_with",
        "tests/unit/test_clock.py::test_it_never_goes_back_nor_faster_than_either_clock",
    ),
    "O27": (
        "one bad mail in a mailbox is the source's",
        f"{IMAP}::test_odd_mails_between_good_ones_hold_nothing_up",
        "tests/unit/sources/test_mail_poller.py::test_mail_that_cannot_be_fetched_is_tried_so_often_and_set_aside",
    ),
    "O28": ("mail of machines is the source's", f"{IMAP}::test_machines_answers_open_nothing"),
    "O30": (
        "two processes on one store",
        "tests/e2e/run/test_starting.py::test_a_second_run_on_one_store_names_the_holder",
        "tests/e2e/run/test_starting.py::test_a_dead_holder_does_not_block",
        f"{LOCK}::test_a_killed_holder_does_not_block",
    ),
}

# Rows whose story is here, and of which a part can only be told elsewhere.
IN_PART = {
    "O05": ("by webhook", f"{HAPPENING}::test_a_request_that_comes_after_the_closing_it_preceded_opens_nothing"),
    "O07": (
        "the watchdog that finds the deafness",
        f"{SOCKETS}::test_a_silence_of_all_is_probed_and_found_to_be_deafness",
    ),
    "O10": ("the same through a restart", f"{HOLDS}::test_a_restart_in_quiet_hours_changes_nothing"),
    "O21": (
        "a hundred jobs in one answer",
        "tests/integration/slack_ui/test_commands.py::test_many_jobs_are_split_between_jobs",
    ),
    "O22": (
        "the list, in a Slack that enforces its limits; any card at all",
        "tests/integration/slack_ui/test_commands.py::test_many_jobs_are_split_between_jobs",
        "tests/unit/slack/test_blocks.py::test_a_card_of_any_size_keeps_slacks_limits",
    ),
    "O24": (
        "the kill between post and mark",
        "tests/e2e/run/test_kills.py::test_a_digest_is_visible_once_though_the_process_dies_around_its_post",
    ),
    "O29": ("a disk that is really full", f"{TROUBLES}::test_a_full_disk_loses_nothing"),
}


def told_here():
    text = (Path(__file__).parent / "test_bugs.py").read_text(encoding="utf-8")
    names = re.findall(r"^async def (test_(?:o\d\d_)+)", text, re.MULTILINE)
    return {ident.upper() for name in names for ident in re.findall(r"o\d\d", name)}


@pytest.mark.skipif(not ROWS.exists(), reason="the shared cases are not here")
def test_every_row_is_told():
    rows = {json.loads(line)["id"] for line in ROWS.read_text(encoding="utf-8").splitlines()}
    assert told_here() | set(ELSEWHERE) == rows
    assert told_here() & set(ELSEWHERE) == set()


POINTERS = [
    (ident, pointer)
    for table in (ELSEWHERE, IN_PART)
    for ident, (_, *pointers) in table.items()
    for pointer in pointers
]


def test_every_part_belongs_to_a_story():
    assert set(IN_PART) <= told_here()
    assert all(why and pointers for table in (ELSEWHERE, IN_PART) for why, *pointers in table.values())


@pytest.mark.parametrize(("ident", "pointer"), POINTERS)
def test_where_the_table_points_there_is_that_test(ident, pointer):
    """A test that is renamed or removed takes the proof of its row with it: the table must follow."""
    path, _, name = pointer.partition("::")
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    tests = {one.name for one in tree.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)}
    assert name in tests, f"{ident}: {pointer}"
