"""Opens a database, writes, reads and scans.

python quickstart.py [DIRECTORY]
"""

from __future__ import annotations

import sys

import cambium


def main(directory: str = "quickstart.db") -> None:
    with cambium.DB(directory, create_if_missing=True) as db:
        db.put(b"oak", b"a ring a year", sync=True)
        print("oak:", (db.get(b"oak") or b"").decode())

        with db.write_batch(sync=True) as batch:
            batch.put(b"ash", b"1")
            batch.put(b"elm", b"2")
            batch.delete(b"oak")

        for key, value in db.iterator(start=b"a", stop=b"f"):
            print(f"{key.decode()}: {value.decode()}")


if __name__ == "__main__":
    main(*sys.argv[1:])
