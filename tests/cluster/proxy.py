"""Proxies on loopback for the cluster tests. Prints the port, then one line for each connection.

  proxy.py connect HOST [CERTIFICATE KEY]  an HTTP proxy on HOST that supports CONNECT only, or,
                                           with the files of an identity, an https:// proxy
  proxy.py forward HOST TO-HOST TO-PORT [PORT]
                                           forwards connections to HOST:PORT to TO-HOST:TO-PORT

SIGUSR1 makes all open connections silent, as after the loss of a route: no side receives anything
any more. New connections work.
"""

import asyncio
import signal
import ssl
import sys

silenced = set()  # the copies that have to stop
copies = set()


def log(text):
    print(text, flush=True)


def silence_connections():
    silenced.update(copies)
    log("silenced")


async def copy(reader, writer):
    """Copies bytes until the end of `reader`, or until one side fails or the copy is silenced."""
    task = asyncio.current_task()
    copies.add(task)
    try:
        while data := await reader.read(65536):
            if task in silenced:
                await asyncio.Event().wait()
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        copies.discard(task)
        writer.close()


async def forward(reader, writer, host, port, greeting=b""):
    try:
        to_reader, to_writer = await asyncio.open_connection(host, port)
    except OSError:
        writer.close()
        return
    writer.write(greeting)
    await asyncio.gather(asyncio.create_task(copy(reader, to_writer)),
                         asyncio.create_task(copy(to_reader, writer)))


async def connect(reader, writer):
    """Handles one request: CONNECT HOST:PORT HTTP/1.1."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        writer.close()
        return
    method, target, _ = head.decode("latin-1").split("\r\n")[0].split(" ")
    log(f"{method} {target}")
    if method != "CONNECT":
        writer.write(b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n")
        writer.close()
        return
    host, port = target.rsplit(":", 1)
    await forward(reader, writer, host.strip("[]"), int(port),
                  b"HTTP/1.1 200 Connection established\r\n\r\n")


def server_identity(certificate, key):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


async def main(mode, host, *to):
    async def handle(reader, writer):
        if mode == "connect":
            await connect(reader, writer)
        else:
            log("connection")
            await forward(reader, writer, to[0], int(to[1]))

    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, silence_connections)
    port = int(to[2]) if len(to) > 2 else 0
    identity = server_identity(*to) if mode == "connect" and to else None
    server = await asyncio.start_server(handle, host, port, ssl=identity)
    log(server.sockets[0].getsockname()[1])
    await server.serve_forever()


asyncio.run(main(*sys.argv[1:]))
