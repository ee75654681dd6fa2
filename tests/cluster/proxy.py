"""Proxies on loopback for the cluster tests. Prints the port or path, then one line for each
connection.

  proxy.py connect HOST [CERTIFICATE KEY]  an HTTP proxy on HOST that supports CONNECT only, or,
                                           with the files of an identity, an https:// proxy
  proxy.py forward HOST TO-HOST PORT-FILE [PORT [BYTES]]
                                           forwards connections to HOST:PORT to TO-HOST and the port
                                           in PORT-FILE, which is read for each connection. With
                                           BYTES, each response is held after this number of bytes
                                           on its connection, until SIGUSR2
  proxy.py drop-quiet SECONDS HOST …       as forward, and closes each connection on which no byte
                                           has passed for SECONDS, like a load balancer
  proxy.py unix PATH TO-PATH               forwards connections to a Unix socket to another one

SIGUSR1 makes all open connections silent, as after the loss of a route: no side receives anything
any more. New connections work.
"""

import asyncio
import pathlib
import signal
import ssl
import sys
import time

silenced = set()  # the copies that have to stop
copies = set()
released = asyncio.Event()  # set by SIGUSR2


def log(text):
    print(text, flush=True)


def silence_connections():
    silenced.update(copies)
    log("silenced")


class Activity:
    """The time of the last byte of a connection."""

    def __init__(self):
        self.last = time.monotonic()

    async def close_when_quiet(self, seconds, writers):
        while (left := self.last + seconds - time.monotonic()) > 0:
            await asyncio.sleep(left)
        log("closed")
        for writer in writers:
            writer.close()


async def copy(reader, writer, activity, hold_after=None):
    """Copies bytes until the end of `reader`, or until one side fails or the copy is silenced."""
    task = asyncio.current_task()
    copies.add(task)
    copied = 0
    try:
        while data := await reader.read(65536):
            copied += len(data)
            activity.last = time.monotonic()
            if hold_after is not None and copied > hold_after and not released.is_set():
                log("holding")
                await released.wait()
            if task in silenced:
                await asyncio.Event().wait()
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        copies.discard(task)
        writer.close()


async def forward(reader, writer, connection, greeting=b"", hold_after=None, quiet=None):
    """Connects the client to the server to which `connection` leads, until no byte has passed for
    `quiet` seconds."""
    try:
        to_reader, to_writer = await connection
    except OSError:
        writer.close()
        return
    writer.write(greeting)
    activity = Activity()
    both = asyncio.gather(asyncio.create_task(copy(reader, to_writer, activity)),
                          asyncio.create_task(copy(to_reader, writer, activity, hold_after)))
    if quiet is None:
        return await both
    limit = asyncio.create_task(activity.close_when_quiet(quiet, [writer, to_writer]))
    await both
    limit.cancel()


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
    await forward(reader, writer, asyncio.open_connection(host.strip("[]"), int(port)),
                  b"HTTP/1.1 200 Connection established\r\n\r\n")


def server_identity(certificate, key):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


def forward_to(host, port_file, hold_after, quiet):
    async def handle(reader, writer):
        log("connection")
        port = int(pathlib.Path(port_file).read_text())
        await forward(reader, writer, asyncio.open_connection(host, port), hold_after=hold_after,
                      quiet=quiet)
    return handle


def forward_to_unix(path):
    async def handle(reader, writer):
        log("connection")
        await forward(reader, writer, asyncio.open_unix_connection(path))
    return handle


async def start(mode, address, *to, quiet=None):
    if mode == "drop-quiet":
        return await start("forward", *to, quiet=float(address))
    if mode == "unix":
        return await asyncio.start_unix_server(forward_to_unix(to[0]), address)
    if mode == "connect":
        return await asyncio.start_server(connect, address, 0, ssl=server_identity(*to) if to else None)
    port, hold_after = (int(number) for number in (*to[2:], 0, 0)[:2])
    return await asyncio.start_server(forward_to(to[0], to[1], hold_after or None, quiet), address,
                                      port)


async def main(arguments):
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGUSR1, silence_connections)
    loop.add_signal_handler(signal.SIGUSR2, released.set)
    server = await start(*arguments)
    name = server.sockets[0].getsockname()
    log(name if isinstance(name, str) else name[1])
    await server.serve_forever()


asyncio.run(main(sys.argv[1:]))
