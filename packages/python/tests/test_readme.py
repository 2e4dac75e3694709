"""The README's examples, as they stand there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_the_examples_run(atlasqueue_server: str, tmp_path: Path) -> None:
    text = README.read_text()
    assert len(text.splitlines()) <= 60
    shop, submit = (
        block.replace("http://127.0.0.1:8000", atlasqueue_server)
        for block in re.findall(r"```python\n(.*?)```", text, re.S)
    )
    (tmp_path / "shop.py").write_text(shop)
    (tmp_path / "submit.py").write_text(submit)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(README.parent / "src"), str(tmp_path)])}
    command = [sys.executable, "-m", "atlasqueue.cli", "shop:app", "--concurrency", "10"]
    worker = subprocess.Popen(command, cwd=tmp_path, env=env)
    try:
        said = subprocess.run(
            [sys.executable, "submit.py"], cwd=tmp_path, env=env, check=True, capture_output=True, timeout=60
        )
        assert said.stdout.decode() == "sent to ada@example.org\n7\n"
    finally:
        worker.terminate()
        assert worker.wait(30) == 0
