"""Write the next revision: what `state.tables` has and the revisions have not.

    python -m state.migrations.autogenerate "what changes" && ruff format state

Read the result and correct it: a renaming comes out as a drop and an addition. Until the first release
`versions/0001_initial.py` is rewritten instead: remove it, then run this with `initial`.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic import command
from alembic.operations.ops import CreateIndexOp, MigrationScript
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from state.engines import sqlite_migrator
from state.migrate import config_for
from state.migrations.comparison import indexes_on_expressions


def write(message: str) -> None:
    """Compare an empty database, upgraded by all revisions, with the tables, and write the difference."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scratch.db"
        file.touch()
        with sqlite_migrator(file).begin() as connection:
            config = config_for(connection)
            config.set_main_option("file_template", "%%(rev)s_%%(slug)s")
            command.upgrade(config, "head")
            number = len(list(ScriptDirectory.from_config(config).walk_revisions())) + 1
            command.revision(
                config,
                message,
                autogenerate=True,
                rev_id=f"{number:04}",
                process_revision_directives=_add_expression_indexes,
            )


def _add_expression_indexes(context: MigrationContext, _revision: Any, scripts: list[MigrationScript]) -> None:
    assert context.connection is not None
    there = set(context.connection.scalars(sa.text("SELECT name FROM sqlite_master WHERE type = 'index'")))
    operations = scripts[0].upgrade_ops
    assert operations is not None
    missing = [index for index in indexes_on_expressions() if index.name not in there]
    operations.ops += [CreateIndexOp.from_index(index) for index in missing]


if __name__ == "__main__":
    write(sys.argv[1])
