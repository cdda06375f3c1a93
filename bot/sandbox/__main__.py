"""Run a sandbox as its own process: `python -m bot.sandbox --port N --ready-file F`.

When it listens it prints one JSON line with its addresses and tokens, and writes the same to the ready file.
"""

import argparse
import asyncio
import json
import os
import signal
import sys
from pathlib import Path

from bot.sandbox import Sandbox, Settings


def main() -> None:
    asyncio.run(_serve(_arguments()))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bot.sandbox", description=__doc__)
    defaults = Settings()
    parser.add_argument("--host", default="127.0.0.1", help="a loopback address")
    parser.add_argument("--port", type=int, default=0, help="0: any free port")
    parser.add_argument("--ready-file", type=Path, help="where to write the JSON line too")
    parser.add_argument("--bot-token", default=defaults.bot_token)
    parser.add_argument("--app-token", default=defaults.app_token)
    parser.add_argument("--signing-secret", default=defaults.signing_secret)
    parser.add_argument("--limits", choices=["off", "real"], default="off", help="real: Slack's rate limits")
    parser.add_argument("--time-scale", type=float, default=1.0, help="0.1: Slack's retry waits in a tenth of the time")
    return parser.parse_args()


async def _serve(options: argparse.Namespace) -> None:
    sandbox = Sandbox(
        Settings(
            bot_token=options.bot_token,
            app_token=options.app_token,
            signing_secret=options.signing_secret,
            limits=options.limits,
            time_scale=options.time_scale,
        )
    )
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await sandbox.start(options.host, options.port)
    try:
        _announce(json.dumps(sandbox.ready()), options.ready_file)
        await stop.wait()
    finally:
        await sandbox.stop()


def _announce(line: str, ready_file: Path | None) -> None:
    if ready_file:
        unfinished = ready_file.with_suffix(ready_file.suffix + ".part")
        unfinished.write_text(f"{line}\n", encoding="utf-8")
        os.replace(unfinished, ready_file)  # noqa: PTH105 - a reader sees all of it or nothing
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
