"""Logs as fields: `event`, and what belongs to it. `JsonFormatter` writes one JSON object a line."""

from __future__ import annotations

import json
import logging
from datetime import datetime, timezone
from typing import Any

logger = logging.getLogger("atlasqueue")


def log(level: int, event: str, message: str, traceback: BaseException | None = None, **fields: Any) -> None:
    if logger.isEnabledFor(level):
        logger.log(level, message, exc_info=traceback, extra={"atlasqueue": {"event": event, **fields}})


class JsonFormatter(logging.Formatter):
    """time, level, logger and message, with the fields of atlasqueue's own lines. One line each."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, timezone.utc).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "atlasqueue", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)
