# Written by scripts/unasync.py from _async. Do not edit.
# pyright: reportUnnecessaryIsInstance=false
"""Sends calls: each try has a deadline, failures that may pass are retried, and every failure is a typed error."""

from __future__ import annotations

import random
from dataclasses import replace
from time import monotonic
from typing import Any, Mapping

from .._clock import sleep
from .._errors import AtlasQueueError, DeadlineError
from .._http import (
    Answer,
    Call,
    Options,
    TransportError,
    answer_of,
    key_header,
    network_error,
    path_of,
    request_of,
    to_body,
)
from .._retry import next_try_in
from .._transports import Transport


class Sender:
    def __init__(self, options: Options, transport: Transport) -> None:
        self.options = options
        self.transport = transport

    def call(self, call: Call) -> Answer:
        """Sends a call until it is answered, as often as it is safe and the options allow."""
        started = monotonic()
        tries = 1
        while True:
            sent_at = monotonic()
            try:
                return replace(self._once(call), sent_at=sent_at, tries=tries)
            except AtlasQueueError as error:
                error.tries = tries
                wait = next_try_in(
                    error,
                    safe=call.safe,
                    tries=tries,
                    retries=self.options.retries,
                    left=self.options.retry_max - (monotonic() - started),
                    random=random.random(),
                    rest_most=call.answer_max,
                )
                if wait is None:
                    raise
                sleep(wait)
            tries += 1

    def _once(self, call: Call) -> Answer:
        timeout = call.timeout(self.options)
        try:
            response = self.transport.send(request_of(self.options, call), timeout)
        except TimeoutError:
            raise DeadlineError(f"{call.what}: no response within {timeout:g} s") from None
        except TransportError as error:
            raise network_error(self.options, call, error) from error
        return answer_of(self.options, call, response)

    def ask(
        self,
        method: str,
        *at: str,
        query: Mapping[str, object] | None = None,
        body: Mapping[str, object] | None = None,
        safe: bool = True,
        key: str | None = None,
        hold: float = 0.0,
    ) -> Any:
        """The JSON of a response. With a key any call is safe to repeat. Fields that are None are left out."""
        call = Call(
            method,
            path_of(*at),
            query=query or {},
            body=None if body is None else to_body({name: value for name, value in body.items() if value is not None}),
            headers={} if key is None else key_header(key),
            safe=safe or key is not None,
            hold=hold,
        )
        return (self.call(call)).body
