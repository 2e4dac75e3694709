"""How requests reach the server: httpx, or the standard library. A test may have its own."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Protocol

from ._http import HttpRequest, HttpResponse, TransportError

if TYPE_CHECKING:
    import asyncio
    import http.client

_CHUNK_BYTES = 65_536


class AsyncTransport(Protocol):
    """Sends one request. Raises TimeoutError after `timeout` seconds, and TransportError without a whole response."""

    async def send(self, request: HttpRequest, timeout: float) -> HttpResponse: ...

    async def aclose(self) -> None: ...


class Transport(Protocol):
    """The same without asyncio. Many threads may call it at once."""

    def send(self, request: HttpRequest, timeout: float) -> HttpResponse: ...

    def close(self) -> None: ...


class AsyncHttpxTransport:
    """httpx under asyncio, with connections of its own for each event loop."""

    def __init__(self, **options: Any) -> None:
        """`options` are those of `httpx.AsyncClient`, such as `verify` or `proxy`."""
        from weakref import WeakKeyDictionary

        self._options = options
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, Any] = WeakKeyDictionary()

    async def send(self, request: HttpRequest, timeout: float) -> HttpResponse:
        import asyncio

        import httpx

        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            # A worker renews many leases at once.
            limits = httpx.Limits(max_connections=None, max_keepalive_connections=100)
            options: dict[str, Any] = {"limits": limits, **self._options}
            client = self._clients[loop] = httpx.AsyncClient(**options)
        sending = client.request(
            request.method, request.url, headers=request.headers, content=request.body, timeout=None
        )
        try:
            response = await asyncio.wait_for(sending, timeout)
        except asyncio.TimeoutError:
            raise TimeoutError from None
        except httpx.RequestError as error:
            raise _from_httpx(error) from error
        return HttpResponse(response.status_code, _lower(response.headers), response.content)

    async def aclose(self) -> None:
        """Closes the connections of this loop; those of others end with their loops."""
        import asyncio

        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()


class HttpxTransport:
    """httpx without asyncio."""

    def __init__(self, **options: Any) -> None:
        """`options` are those of `httpx.Client`, such as `verify` or `proxy`."""
        import httpx

        self._client = httpx.Client(**options)

    def send(self, request: HttpRequest, timeout: float) -> HttpResponse:
        import httpx

        ends_at = time.monotonic() + timeout
        try:
            with self._client.stream(
                request.method, request.url, headers=request.headers, content=request.body, timeout=timeout
            ) as response:
                body = bytearray()
                # httpx has a deadline for each piece only.
                for piece in response.iter_bytes():
                    body += piece
                    if time.monotonic() > ends_at:
                        raise TimeoutError
                return HttpResponse(response.status_code, _lower(response.headers), bytes(body))
        except httpx.TimeoutException:
            raise TimeoutError from None
        except httpx.RequestError as error:
            raise _from_httpx(error) from error

    def close(self) -> None:
        self._client.close()


def _lower(headers: Any) -> dict[str, str]:
    return {str(name).lower(): str(value) for name, value in headers.items()}


def _from_httpx(error: Any) -> TransportError:
    import httpx

    refused = isinstance(error, (httpx.ConnectError, httpx.UnsupportedProtocol))
    return TransportError(str(error) or type(error).__name__, refused=refused)


class HttpClientTransport:
    """The standard library's http.client, with a connection for each thread. Needs nothing to be installed."""

    def __init__(self) -> None:
        import threading

        self._local = threading.local()

    def send(self, request: HttpRequest, timeout: float) -> HttpResponse:
        import http.client
        from urllib.parse import urlsplit

        parts = urlsplit(request.url)
        origin = (parts.scheme, parts.netloc)
        path = f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}"
        ends_at = time.monotonic() + timeout
        kept: http.client.HTTPConnection | None = getattr(self._local, "connection", None)
        reused = kept is not None and getattr(self._local, "origin", None) == origin and not _is_readable(kept)
        connection = kept if kept is not None and reused else self._connect(*origin)
        try:
            if connection.sock is None:
                _set_timeout(connection, ends_at)
                try:
                    connection.connect()
                except TimeoutError:
                    raise
                except OSError as error:
                    raise TransportError(str(error), refused=True) from error
            _set_timeout(connection, ends_at)
            connection.request(request.method, path, body=request.body, headers=request.headers)
            response = connection.getresponse()
            body = bytearray()
            while piece := response.read1(_CHUNK_BYTES):
                body += piece
                _set_timeout(connection, ends_at)
            if response.length:
                raise http.client.IncompleteRead(bytes(body), response.length)
            # `read1` does not, and the connection would take no further request.
            response.close()
            return HttpResponse(response.status, _lower(response.headers), bytes(body))
        except TimeoutError:
            self._drop()
            raise TimeoutError from None
        except TransportError:
            self._drop()
            raise
        except (http.client.HTTPException, OSError) as error:
            self._drop()
            raise TransportError(str(error) or type(error).__name__, refused=False) from error
        except BaseException:
            # Such as KeyboardInterrupt: the rest of the response must not be the next one's.
            self._drop()
            raise

    def _connect(self, scheme: str, netloc: str) -> http.client.HTTPConnection:
        import http.client

        self._drop()
        kind = http.client.HTTPSConnection if scheme == "https" else http.client.HTTPConnection
        self._local.connection, self._local.origin = kind(netloc), (scheme, netloc)
        connection: http.client.HTTPConnection = self._local.connection
        return connection

    def _drop(self) -> None:
        connection = getattr(self._local, "connection", None)
        self._local.connection = None
        if connection is not None:
            connection.close()

    def close(self) -> None:
        """Closes the connection of this thread; those of others end with their threads."""
        self._drop()


def _set_timeout(connection: http.client.HTTPConnection, ends_at: float) -> None:
    left = ends_at - time.monotonic()
    if left <= 0:
        raise TimeoutError
    connection.timeout = left
    if connection.sock is not None:  # pyright: ignore[reportUnnecessaryComparison]
        connection.sock.settimeout(left)


def _is_readable(connection: http.client.HTTPConnection) -> bool:
    """Before a request there is nothing to read, unless the server has closed the connection."""
    import selectors

    sock = connection.sock
    if sock is None:  # pyright: ignore[reportUnnecessaryComparison]
        return False
    with selectors.DefaultSelector() as selector:
        selector.register(sock, selectors.EVENT_READ)
        return bool(selector.select(0))


def default_transport() -> Transport:
    try:
        return HttpxTransport()
    except ImportError:
        return HttpClientTransport()


def default_async_transport() -> AsyncTransport:
    return AsyncHttpxTransport()
