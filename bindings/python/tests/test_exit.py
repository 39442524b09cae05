"""Programs that end without closing their databases."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import cambium

OPEN = """
import threading, time, cambium
options = cambium.Options(create_if_missing=True, write_buffer_size=1 << 16)
class Listener(cambium.EventListener):
    def on_flush_begin(self, info):
        pass
    def on_blob_file_deleted(self, info):
        pass
options.add_listener(Listener())
options.comparator = cambium.Comparator(lambda a, b: (a > b) - (a < b), "own")
db = cambium.DB({path!r}, options=options)
for i in range(2000):
    db.put(b"%d" % i, b"v" * 100)
"""

ENDS = {
    "plain": "",
    "iterator": "iterator = db.iterator(); next(iterator)",
    "view": "view = memoryview(db.get_pinned(b'1'))",
    "exception": "raise SystemExit(3)",
    "thread": "threading.Thread(target=lambda: [db.put(b'%d' % i, b'v' * 100) for i in range(2000)]).start()",
    "daemon": """
def work():
    try:
        while True:
            db.put(b"1", b"v")
    except cambium.ClosedError:
        pass
threading.Thread(target=work, daemon=True).start()
time.sleep(0.05)
""",
}


@pytest.mark.parametrize("end", ENDS)
def test_exit(path: Path, end: str) -> None:
    program = OPEN.format(path=str(path)) + ENDS[end]
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == (3 if end == "exception" else 0), result.stderr
    assert result.stderr == ""
    with cambium.DB(path, comparator=lambda a, b: (a > b) - (a < b), comparator_name="own") as db:
        assert len(list(db)) == 2000
