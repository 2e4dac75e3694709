"""Writes src/atlasqueue/_sync from src/atlasqueue/_async, so that each rule is written once.

unasync.py          writes the files
unasync.py --check  exits with 1 if they differ
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "atlasqueue"
HEADER = "# Written by scripts/unasync.py from _async. Do not edit.\n# pyright: reportUnnecessaryIsInstance=false\n"

#: Of words, in this order.
WORDS = [
    (r"\basync (def|with|for)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\b__aenter__\b", "__enter__"),
    (r"\b__aexit__\b", "__exit__"),
    (r"\baclose\b", "close"),
    (r"\basync_sleep\b", "sleep"),
    (r"\bdefault_async_transport\b", "default_transport"),
    (r"\bAsync([A-Z]\w*)", r"\1"),
]


def to_sync(text: str) -> str:
    for pattern, by in WORDS:
        text = re.sub(pattern, by, text)
    return HEADER + re.sub(r"^from typing import .*$", _without_doubles, text, flags=re.M)


def _without_doubles(line: re.Match[str]) -> str:
    names = line[0].removeprefix("from typing import ").split(", ")
    return f"from typing import {', '.join(dict.fromkeys(names))}"


def main() -> int:
    target = SOURCE / "_sync"
    wanted = {path.name: to_sync(path.read_text()) for path in sorted((SOURCE / "_async").glob("*.py"))}
    if "--check" in sys.argv:
        there = {path.name: path.read_text() for path in sorted(target.glob("*.py"))}
        differ = sorted(name for name in {*wanted, *there} if wanted.get(name) != there.get(name))
        if differ:
            print(f"not as _async says: {', '.join(differ)}; run scripts/unasync.py", file=sys.stderr)
        return 1 if differ else 0
    target.mkdir(exist_ok=True)
    for name, text in wanted.items():
        (target / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
