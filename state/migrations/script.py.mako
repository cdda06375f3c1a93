% if upgrades.count("\n") > 100:
# ruff: noqa: PLR0915 - a statement a table
% endif
"""${message.capitalize()}."""

import sqlalchemy as sa
from alembic import op

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = None
depends_on = None


def upgrade() -> None:
    ${"\n".join(line for line in (upgrades or "pass").splitlines() if "# ###" not in line).strip()}
