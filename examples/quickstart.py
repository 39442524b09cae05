"""The C interface from Python, with the standard library alone.

    python3 quickstart.py [libcambium.so.1 [DIRECTORY]]
"""
import ctypes
import sys


class Library:
    """The functions used here, with their types: without types ctypes would truncate pointers to int."""

    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        pointer, text, size = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
        error = ctypes.POINTER(ctypes.c_void_p)
        for name, result, *arguments in [
            ("abi_version", ctypes.c_int),
            ("options_create", pointer),
            ("options_set_create_if_missing", None, pointer, ctypes.c_ubyte),
            ("options_destroy", None, pointer),
            ("writeoptions_create", pointer),
            ("writeoptions_set_sync", None, pointer, ctypes.c_ubyte),
            ("writeoptions_destroy", None, pointer),
            ("readoptions_create", pointer),
            ("readoptions_destroy", None, pointer),
            ("open", pointer, pointer, text, error),
            ("close", None, pointer),
            ("put", None, pointer, pointer, text, size, text, size, error),
            ("get", pointer, pointer, pointer, text, size, ctypes.POINTER(size), error),
            ("free", None, pointer),
        ]:
            function = getattr(self.c, "cambium_" + name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)

    def call(self, function, *arguments):
        """Calls a function whose last argument is an errptr, and raises its error."""
        error = ctypes.c_void_p()
        result = function(*arguments, ctypes.byref(error))
        if error.value is not None:
            message = ctypes.string_at(error.value).decode()
            self.free(error)
            raise OSError(message)
        return result


def main(path="libcambium.so.1", directory="quickstart.db"):
    cambium = Library(path)
    if cambium.abi_version() != 1:
        raise SystemExit("this program was written for another version of the interface")
    options, durable, read = cambium.options_create(), cambium.writeoptions_create(), cambium.readoptions_create()
    cambium.options_set_create_if_missing(options, 1)
    cambium.writeoptions_set_sync(durable, 1)
    db = cambium.call(cambium.open, options, directory.encode())
    try:
        key, value = b"oak", b"a ring a year"
        cambium.call(cambium.put, db, durable, key, len(key), value, len(value))
        length = ctypes.c_size_t()
        found = cambium.call(cambium.get, db, read, key, len(key), ctypes.byref(length))
        print("oak:", ctypes.string_at(found, length.value).decode())
        cambium.free(found)
    finally:
        cambium.close(db)
        cambium.readoptions_destroy(read)
        cambium.writeoptions_destroy(durable)
        cambium.options_destroy(options)


if __name__ == "__main__":
    main(*sys.argv[1:])
