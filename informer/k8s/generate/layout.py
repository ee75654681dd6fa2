"""The headers of the C++ structs."""
import re

import selection
from model import closure, folder_of, short_name


class Header:
    """A header, and the structs that it defines."""

    def __init__(self, folder, name, kind=None):
        self.folder, self.name, self.kind = folder, name, kind  # kind: the type of the header's kind, or None
        self.structs = []   # each after those that it uses

    @property
    def include(self):
        return f"kopp/k8s/{self.folder}/{self.name}.hpp"


class Layout:
    """Assigns each struct to a header."""

    def __init__(self, model, structs):
        self.model, self.structs = model, structs
        self.header_of = {}
        self.headers = self.shared_headers()
        of_kinds = [Header(folder_of(kind), snake_case(short_name(kind)), kind) for kind in model.typed_kinds]
        for header in of_kinds:
            self.assign(header, header.kind)
        self.headers += of_kinds
        self.check_includes()

    def shared_headers(self):
        prefixes = {folder_of(name): name.rpartition(".")[0] for name in self.model.types}
        used = closure(self.model.typed_kinds, self.structs.references)
        headers = []
        for folder, header_name, names in selection.SHARED_HEADERS:
            header = Header(folder, header_name)
            for struct in (f"{prefixes[folder]}.{name}" for name in names):
                if struct in used:
                    self.assign(header, struct)
            headers.append(header)
        return [header for header in headers if header.structs]

    def assign(self, header, struct, path=()):
        """Assigns a struct to the header, after those that it refers to, unless it belongs elsewhere."""
        if struct in self.header_of or struct in path or folder_of(struct) != header.folder:
            return
        if struct in self.model.typed_kinds and struct != header.kind:
            return
        for other in self.structs.references(struct):
            self.assign(header, other, path + (struct,))
        if struct not in self.header_of:
            self.header_of[struct] = header
            header.structs.append(struct)

    def includes(self, header):
        """Returns the other headers whose structs the header uses."""
        others = {self.header_of[name] for struct in header.structs for name in self.structs.references(struct)}
        return sorted(other.include for other in others - {header})

    def forward_declared(self, header):
        """Returns the structs that the header uses before it defines them."""
        declared, missing = set(), []
        for struct in header.structs:
            for name in self.structs.references(struct):
                if self.header_of[name] is header and name not in declared | set(missing):
                    missing.append(name)
            declared.add(struct)
        return missing

    def check_includes(self):
        """Exits with an error if a struct that two kinds use is in the header of one of them, or in none."""
        missing = sorted({name for header in self.headers for struct in header.structs
                          for name in self.structs.references(struct) if self.needs_shared_header(name, header)})
        if missing:
            raise SystemExit("add headers for these types to SHARED_HEADERS in selection.py: " + ", ".join(missing))

    def needs_shared_header(self, struct, user):
        header = self.header_of.get(struct)
        return not header or header is not user and header.kind and struct not in self.model.typed_kinds


def snake_case(name):
    name = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()
