"""Times random gets and a full scan of an existing database.

    python bench.py DIRECTORY [SECONDS]

The database has the keys key0000000000 to key0000099999, with values of 1,024 bytes. It is opened read-only.
"""

from __future__ import annotations

import sys
import time

import cambium

KEYS = 100_000
VALUE = 1024
BLOCK = 1000  # gets between two readings of the clock


def random_numbers() -> list[int]:
    """Return numbers of keys, by xorshift from a fixed seed."""
    state = 88172645463325252
    numbers = []
    for _ in range(1 << 20):
        state ^= (state << 13) & 0xFFFFFFFFFFFFFFFF
        state ^= state >> 7
        state ^= (state << 17) & 0xFFFFFFFFFFFFFFFF
        numbers.append(state % KEYS)
    return numbers


def time_gets(db: cambium.DB, seconds: float) -> float:
    """Return the nanoseconds of a get."""
    keys = [b"key%010d" % number for number in random_numbers()]
    get = db.get
    for key in keys[:BLOCK]:
        value = get(key)
        if value is None or len(value) != VALUE:
            raise SystemExit(f"{key.decode()} is missing, or its value does not have {VALUE} bytes")
    count = 0
    start = time.perf_counter()
    elapsed = 0.0
    position = 0
    while elapsed < seconds:
        for key in keys[position : position + BLOCK]:
            get(key)
        count += len(keys[position : position + BLOCK])
        position = (position + BLOCK) % (len(keys) - BLOCK)
        elapsed = time.perf_counter() - start
    return elapsed * 1e9 / count


def time_scan(db: cambium.DB) -> float:
    """Return the nanoseconds for each entry of a scan of all entries with their values."""
    start = time.perf_counter()
    entries = 0
    size = 0
    for _, value in db:
        entries += 1
        size += len(value)
    elapsed = time.perf_counter() - start
    if entries != KEYS or size != KEYS * VALUE:
        raise SystemExit(f"{entries} entries with {size} bytes of values found")
    return elapsed * 1e9 / entries


def main() -> None:
    directory = sys.argv[1]
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 2.0
    with cambium.DB(directory, read_only=True) as db:
        print(f"get {VALUE}: {time_gets(db, seconds):.0f} ns")
        print(f"scan {VALUE}: {time_scan(db):.0f} ns per entry")


if __name__ == "__main__":
    main()
