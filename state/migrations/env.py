"""Run the revisions on the connection that `state.migrate` hands over, in its transaction."""

from typing import Literal

from alembic import context
from alembic.autogenerate.api import AutogenContext

from state.migrations.comparison import is_comparable
from state.tables import metadata
from state.types import UtcDateTime


def _render(kind: str, item: object, _context: AutogenContext) -> str | Literal[False]:
    # A revision stays what it is when our types change: it names only the database's.
    return "sa.DateTime(timezone=True)" if kind == "type" and isinstance(item, UtcDateTime) else False


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,  # SQLite changes a table by building it anew
    render_item=_render,
    include_object=is_comparable,
    compare_type=True,
)
with context.begin_transaction():
    context.run_migrations()
