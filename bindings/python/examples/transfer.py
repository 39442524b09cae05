"""Transfers between accounts, from several threads. Both accounts change, or none does.

python transfer.py DIRECTORY
"""

from __future__ import annotations

import sys
import threading

import cambium


def transfer(db: cambium.DB, source: bytes, target: bytes, amount: int) -> None:
    def move(txn: cambium.Transaction) -> None:
        has = int(txn.get_for_update(source, b"0"))
        if has < amount:
            raise ValueError("not enough money")
        txn.put(source, b"%d" % (has - amount))
        txn.put(target, b"%d" % (int(txn.get_for_update(target, b"0")) + amount))

    db.transact(move, attempts=100)  # again after a conflict


def main(path: str) -> None:
    with cambium.DB(path, create_if_missing=True) as db:
        db.put(b"anna", b"100")
        db.put(b"ben", b"0")
        threads = [threading.Thread(target=transfer, args=(db, b"anna", b"ben", 10)) for _ in range(7)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for key, value in db.iterator():
            print(key.decode(), "has", value.decode())
        try:
            transfer(db, b"anna", b"ben", 50)
        except ValueError as error:
            print(error)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "transfer.db")
