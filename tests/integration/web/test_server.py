"""The server on a real port: what every request passes (SPEC §11, §12)."""

import asyncio
import signal

import httpx2
import pytest
from starlette.responses import JSONResponse
from starlette.routing import Route
from support.waiting import PATIENCE

from bot.errors import ConfigError, ConflictError, NotAllowedError, NotFoundError, StoreUnavailableError, UsageError
from bot.web import server as serving
from bot.web.server import BODY_MAX, Server, build_app


async def echo(request):
    return JSONResponse({"bytes": len(await request.body())})


def raising(error):
    async def endpoint(_request):
        raise error

    return endpoint


class Place:
    def __init__(self):
        self.counted = []

    def app(self, *routes):
        return build_app([Route("/echo", echo, methods=["POST"]), *routes], count=self.counted.append)


@pytest.fixture
def place():
    return Place()


@pytest.fixture
async def serve():
    running = []

    async def start(app, **more):
        server = Server(app, **{"host": "127.0.0.1", "port": 0, **more})
        await server.start()
        running.append(server)
        return server

    yield start
    for server in running:
        await server.stop()


async def test_a_free_port_is_told(place, serve):
    """`http.port = 0` takes any free port, and `address` says which."""
    server = await serve(place.app())
    assert not server.address.endswith(":0")
    async with httpx2.AsyncClient(base_url=server.address) as client:
        assert (await client.post("/echo", content=b"12345")).json() == {"bytes": 5}


async def test_a_taken_port_is_a_clear_error(place, serve):
    """SPEC §11: what cannot be had is named with the mend."""
    first = await serve(place.app())
    port = int(first.address.rpartition(":")[2])
    with pytest.raises(ConfigError, match=f"cannot listen on http://127.0.0.1:{port}"):
        await serve(place.app(), port=port)


@pytest.mark.parametrize(("size", "status"), [(BODY_MAX, 200), (BODY_MAX + 1, 413)])
async def test_announced_bodies(place, serve, size, status):
    """SPEC §11: a body of more than 1 MiB is 413, and counted."""
    server = await serve(place.app())
    async with httpx2.AsyncClient(base_url=server.address) as client:
        answer = await client.post("/echo", content=b"x" * size)
    assert answer.status_code == status
    assert place.counted == (["http.body_too_large"] if status == 413 else [])


async def test_a_body_that_hides_its_size(place, serve):
    """SPEC §11: chunked bodies are counted as they come."""

    async def chunks():
        for _ in range(3):
            yield b"x" * (BODY_MAX // 2)

    server = await serve(place.app())
    async with httpx2.AsyncClient(base_url=server.address) as client:
        answer = await client.post("/echo", content=chunks())
    assert answer.status_code == 413
    assert answer.json()["error"]["code"] in {"content_too_large", "request_entity_too_large"}
    assert place.counted == ["http.body_too_large"]


async def test_a_body_that_never_comes(place, serve, monkeypatch):
    """A sender that dribbles holds nothing open for ever."""
    monkeypatch.setattr(serving, "BODY_SECONDS", 0.05)
    server = await serve(place.app())
    port = int(server.address.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"POST /echo HTTP/1.1\r\nhost: bot\r\ncontent-length: 10\r\n\r\nabc")
    answer = await asyncio.wait_for(reader.readline(), PATIENCE)
    writer.close()
    assert b" 408 " in answer


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (UsageError("wrong", hint="so"), 400, "usage"),
        (NotFoundError("none", hint="so"), 404, "not_found"),
        (NotAllowedError("no", hint="so"), 403, "not_allowed"),
        (ConflictError("not now", hint="so"), 409, "conflict"),
        (StoreUnavailableError("full", hint="so"), 503, "store_unavailable"),
    ],
)
async def test_errors_are_json(place, serve, error, status, code):
    """SPEC §11: code, message and hint, whatever is wrong."""
    server = await serve(place.app(Route("/fails", raising(error))))
    async with httpx2.AsyncClient(base_url=server.address) as client:
        answer = await client.get("/fails")
    assert answer.status_code == status
    assert answer.json() == {"error": {"code": code, "message": str(error), "hint": "so"}}
    assert ("retry-after" in answer.headers) is (status == 503)


async def test_unknown_paths_and_methods(place, serve):
    """Errors of the routes themselves have the same shape."""
    server = await serve(place.app())
    async with httpx2.AsyncClient(base_url=server.address) as client:
        nowhere, wrong = await client.get("/nowhere"), await client.get("/echo")
    assert (nowhere.status_code, nowhere.json()["error"]["code"]) == (404, "not_found")
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (405, "method_not_allowed")


async def test_a_fault_of_ours_is_500_and_ends_nothing(place, serve):
    """SPEC §10 promise 4 in spirit: one request's fault harms no other, and says nothing of its cause."""
    server = await serve(place.app(Route("/fails", raising(ValueError("secret words")))))
    async with httpx2.AsyncClient(base_url=server.address) as client:
        answer = await client.get("/fails")
        assert (await client.post("/echo", content=b"1")).status_code == 200
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "internal")
    assert "secret" not in answer.text
    assert place.counted == ["http.failed"]


async def test_signals_are_left_to_the_bot(place, serve):
    """The bot handles SIGTERM; the server takes nothing over."""
    before = signal.getsignal(signal.SIGTERM)
    await serve(place.app())
    assert signal.getsignal(signal.SIGTERM) is before


async def test_stopping_is_bounded_and_answers_what_is_under_way(place, serve):
    """A request that is being answered gets its answer; afterwards the port is free."""
    begun, go = asyncio.Event(), asyncio.Event()

    async def slow(_request):
        begun.set()
        await go.wait()
        return JSONResponse({"late": True})

    server = await serve(place.app(Route("/slow", slow)))
    async with httpx2.AsyncClient(base_url=server.address) as client:
        asking = asyncio.create_task(client.get("/slow"))
        await begun.wait()
        stopping = asyncio.create_task(server.stop())
        go.set()
        assert (await asking).json() == {"late": True}
        await asyncio.wait_for(stopping, PATIENCE)
        with pytest.raises(httpx2.ConnectError):
            await client.get("/slow")
    await server.stop()
