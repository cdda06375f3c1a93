"""Configuration: the one place that reads files and the environment (SPEC §2, §11, §12).

    loading.py       `load`, and the values it returns
    schema.py        the file's tables and keys, with types, bounds and defaults
    environment.py   variables, secrets and where things are
    checks.py        what must hold between keys
    faults.py        what is wrong, where, and what was probably meant

`load` either returns a `Config` in which everything has been checked, or raises one error that lists every fault;
nothing is made or opened before that. Secrets are `SecretStr` and never come from the file.
"""

from bot.config.faults import Fault, FaultyConfigError
from bot.config.loading import Config, Http, Log, Slack, load

__all__ = ["Config", "Fault", "FaultyConfigError", "Http", "Log", "Slack", "load"]
