"""A server of hypercorn that offers HTTP/2 and HTTP/1.1 over TLS: says its port, and in its document which was chosen."""
import asyncio, json, socket, sys

from hypercorn.asyncio import serve
from hypercorn.config import Config


async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    size = 0
    while True:
        event = await receive()
        size += len(event.get("body", b""))
        if not event.get("more_body"):
            break
    document = {"title": scope["http_version"], "properties": {"size": size, "method": scope["method"]}}
    headers = [(b"content-type", b"application/vnd.siren+json")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(document).encode()})


listener = socket.create_server(("127.0.0.1", 0))
config = Config()
config.bind = [f"fd://{listener.fileno()}"]
config.certfile = config.keyfile = sys.argv[1]
config.loglevel = "CRITICAL"
print(listener.getsockname()[1], flush=True)


async def end_of_input():
    # It ends with the process that started it.
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


asyncio.run(serve(app, config, shutdown_trigger=end_of_input))
