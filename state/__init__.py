"""Persistence: tables, store, migrations, and the statements on them. The only place that knows SQL."""
