"""A folder of its own for every configuration, and what it needs to be loaded."""

import pytest

from bot.config import FaultyConfigError, load

LEAST = 'escalate_to = "U0123456789"\n'


class Place:
    """A folder with a configuration file, and the environment that points at it."""

    def __init__(self, folder):
        self.folder = folder
        self.file = folder / "digestbot.toml"
        self.home = folder / "home"
        self.environ = {"DIGESTBOT_CONFIG": str(self.file), "DIGESTBOT_HOME": str(self.home), "HOME": str(folder)}

    def load(self, text=LEAST, *, starting=True, **environ):
        self.file.write_text(text, encoding="utf-8")
        return load({**self.environ, **environ}, starting=starting)

    def faults(self, text=LEAST, *, starting=True, **environ):
        with pytest.raises(FaultyConfigError) as caught:
            self.load(text, starting=starting, **environ)
        assert not self.home.exists(), "nothing is made while there is a fault"
        return caught.value.faults

    def findings(self, text, **environ):
        """Faults of the file as (key, words) pairs, and nothing else wrong."""
        faults = self.faults(text, **environ)
        assert {fault.file for fault in faults} == {str(self.file)}
        return [(fault.key, str(fault).removeprefix(f"{self.file}: {fault.key}: ")) for fault in faults]


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)
