"""Writes the functions that a library exports as C: the form of the records in tools/abi.

    python3 prototypes.py XML    XML: what abidw wrote of the library

A type that functions take only by pointer is declared. One that they take or return as a value is defined. Typedefs of
callbacks are replaced by what they stand for, so that the record contains the parameters of a callback.
"""

import sys
import textwrap
import xml.etree.ElementTree

# Typedefs that keep their names: their headers are part of C.
STANDARD = {"size_t", "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t"}


class Library:
    def __init__(self, root):
        self.types = {e.get("id"): e for e in root.iter() if e.get("id")}
        self.exported = {e.get("name") for e in root.iter("elf-symbol")}
        self.functions = {
            e.get("elf-symbol-id"): e for e in root.iter("function-decl") if e.get("elf-symbol-id") in self.exported
        }
        self.declared = set()
        self.defined = {}

    def fail(self, what):
        sys.exit(f"prototypes.py: {what}")

    def declare(self, type_id, inner="", by_pointer=False):
        """The declaration of `inner` with this type."""
        e = self.types[type_id]
        target = e.get("type-id")
        if e.tag == "pointer-type-def":
            pointee = self.types[target].tag
            star = f"(*{inner})" if pointee == "function-type" else f"*{inner}"
            return self.declare(target, star, by_pointer=True)
        if e.tag == "qualified-type-def":
            if self.types[target].tag == "pointer-type-def":
                return self.declare(target, f"const {inner}".rstrip(), by_pointer)
            return "const " + self.declare(target, inner, by_pointer)
        if e.tag == "function-type":
            return self.call(e, inner)
        if e.tag == "typedef-decl" and e.get("name") not in STANDARD:
            return self.declare(target, inner, by_pointer)
        if e.tag == "class-decl":
            self.declared.add(e.get("name"))
            if not by_pointer:
                self.define(e)
        elif e.tag not in ("type-decl", "typedef-decl"):
            self.fail(f"no form is known for {e.tag} {e.get('name')}")
        return f"{e.get('name')} {inner}".rstrip()

    def call(self, e, inner):
        taken = [self.declare(p.get("type-id")) if p.get("type-id") else "..." for p in e.findall("parameter")]
        return self.declare(e.find("return").get("type-id"), f"{inner}({', '.join(taken) or 'void'})")

    def define(self, e):
        members = [m.find("var-decl") for m in e.findall("data-member")]
        self.defined[e.get("name")] = "".join(f"  {self.declare(m.get('type-id'), m.get('name'))};\n" for m in members)

    def write(self):
        missing = self.exported - set(self.functions)
        if missing or not self.functions:
            self.fail(f"no debug information about these: {sorted(missing)[:5]}")
        calls = [self.call(self.functions[name], name) + ";" for name in sorted(self.functions)]
        print("#include <stddef.h>\n#include <stdint.h>\n")
        for name in sorted(self.declared):
            print(f"typedef struct {name} {name};")
        for name in sorted(self.defined):
            print(f"struct {name} {{\n{self.defined[name]}}};")
        print()
        for call in calls:
            # No name is divided, even if its line becomes longer.
            print(textwrap.fill(call, 120, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False))


Library(xml.etree.ElementTree.parse(sys.argv[1]).getroot()).write()
