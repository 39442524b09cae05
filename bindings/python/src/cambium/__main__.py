"""A shell for a database: ``python -m cambium DIR [COMMAND ARGUMENT...]``.

Without a command, commands are read from the standard input. Keys and values are text; bytes that are not printable are
written ``\\xNN``, and a backslash ``\\\\``.
"""

from __future__ import annotations

import argparse
import cmd
import shlex
import sys
from typing import Callable

from ._db import DB, DEFAULT_COLUMN_FAMILY, Store
from ._errors import Error
from ._tools import library_version, list_column_families

_STATISTICS = ("stats", "levelstats", "blob-stats")


def encode(text: str) -> bytes:
    """Return the bytes of a text with escapes."""
    result = bytearray()
    position = 0
    while position < len(text):
        if text[position] != "\\":
            result += text[position].encode("utf-8", "surrogateescape")
            position += 1
        elif text[position : position + 2] == "\\\\":
            result += b"\\"
            position += 2
        elif text[position : position + 2] == "\\x" and len(text) >= position + 4:
            result.append(int(text[position + 2 : position + 4], 16))
            position += 4
        else:
            raise ValueError(f"not an escape: {text[position:]!r}")
    return bytes(result)


def decode(data: bytes) -> str:
    """Return a printable text for bytes."""
    text = data.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else "".join(f"\\x{byte:02x}" for byte in c.encode()) for c in text)


class Shell(cmd.Cmd):
    """Runs commands on a database."""

    intro = "Type help for the commands."
    prompt = "cambium> "

    def __init__(self, store: Store, write: Callable[[str], object] = print) -> None:
        super().__init__()
        self._store = store
        self._write = write
        self.failed = False

    def run(self, words: list[str]) -> bool:
        """Run a command; True: end the shell."""
        if not words:
            return False
        name, arguments = words[0], words[1:]
        function: Callable[[list[str]], bool | None] | None = getattr(self, f"command_{name}", None)
        self.failed = False
        try:
            if function is None:
                raise ValueError(f"unknown command: {name}")
            return bool(function(arguments))
        except (Error, ValueError) as error:
            self.failed = True
            self._write(f"error: {error}")
            return False

    def onecmd(self, line: str) -> bool:
        if line == "EOF":
            return True
        try:
            words = shlex.split(line.replace("\\", "\\\\"))
        except ValueError as error:
            self._write(f"error: {error}")
            return False
        return self.run(words)

    def command_get(self, arguments: list[str]) -> None:
        """get KEY: print the value of a key"""
        (key,) = _take(arguments, 1)
        value = self._store.get(encode(key))
        if value is None:
            raise ValueError("no such key")
        self._write(decode(value))

    def command_put(self, arguments: list[str]) -> None:
        """put KEY VALUE: set the value of a key, and sync it"""
        key, value = _take(arguments, 2)
        self._store.put(encode(key), encode(value), sync=True)

    def command_delete(self, arguments: list[str]) -> None:
        """delete KEY: delete a key, and sync this"""
        (key,) = _take(arguments, 1)
        self._store.delete(encode(key), sync=True)

    def command_scan(self, arguments: list[str]) -> None:
        """scan [PREFIX [LIMIT]]: print keys and values, at most 100 without a limit"""
        if len(arguments) > 2:
            raise ValueError("too many arguments")
        prefix = encode(arguments[0]) if arguments else b""
        limit = int(arguments[1]) if len(arguments) > 1 else 100
        with self._store.iterator(prefix=prefix) as entries:
            for key, value in entries.take(limit):
                self._write(f"{decode(key)}\t{decode(value)}")

    def command_stats(self, arguments: list[str]) -> None:
        """stats [PROPERTY]: print a property, or figures of the index and of the log"""
        if arguments:
            (name,) = _take(arguments, 1)
            text = self._store.get_property(name)
            if text is None:
                raise ValueError("no such property")
            self._write(text.rstrip("\n"))
            return
        for name in _STATISTICS:
            text = self._store.get_property(f"cambium.{name}")
            if text:
                self._write(text.rstrip("\n"))

    def command_help(self, arguments: list[str]) -> None:
        """help: print the commands"""
        for name in sorted(dir(self)):
            if name.startswith("command_"):
                self._write(getattr(self, name).__doc__)

    def command_quit(self, arguments: list[str]) -> bool:
        """quit: end the shell"""
        return True

    def completenames(self, text: str, *ignored: object) -> list[str]:
        return [name[8:] for name in dir(self) if name.startswith(f"command_{text}")]

    def emptyline(self) -> bool:
        return False


def _take(arguments: list[str], count: int) -> list[str]:
    if len(arguments) != count:
        raise ValueError(f"{count} arguments expected, {len(arguments)} given")
    return arguments


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m cambium", description="A shell for a Cambium database.")
    parser.add_argument("directory")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="get, put, delete, scan, stats or help")
    parser.add_argument("--create", action="store_true", help="create the database if it does not exist")
    parser.add_argument("--read-only", action="store_true", help="open the database for reading only")
    parser.add_argument("--column-family", default=DEFAULT_COLUMN_FAMILY, metavar="NAME")
    parser.add_argument("--version", action="version", version=f"library {library_version()}")
    arguments = parser.parse_args(argv)
    try:
        families = None
        if not arguments.create:
            families = list_column_families(arguments.directory)
        with DB(
            arguments.directory,
            create_if_missing=arguments.create,
            read_only=arguments.read_only,
            column_families=families,
        ) as db:
            if arguments.column_family not in db.column_families:
                raise ValueError(f"no such column family: {arguments.column_family}")
            shell = Shell(db.column_family(arguments.column_family))
            if arguments.command:
                shell.run(arguments.command)
                return int(shell.failed)
            if not sys.stdin.isatty():
                shell.intro = ""
                shell.prompt = ""
                shell.use_rawinput = False
            shell.cmdloop()
            return 0
    except (Error, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
