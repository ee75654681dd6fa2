"""Checks with readelf that a program has the protections against memory errors."""

import platform
import re
import subprocess


def problems(program):
    """Returns a description of each missing protection."""
    return [description for description, protected in _checks(program) if not protected]


def _checks(program):
    header = _readelf("--file-header", program)
    segments = _readelf("--program-headers", program)
    dynamic = _readelf("--dynamic", program)
    symbols = _readelf("--dyn-syms", program)
    yield "the program is not position-independent", re.search(r"Type:\s+DYN", header) and re.search(r"FLAGS_1.*\bPIE\b", dynamic)
    yield "the segment GNU_RELRO is missing", "GNU_RELRO" in segments
    yield "symbols are bound lazily, so the global offset table stays writable", re.search(r"FLAGS_1.*\bNOW\b", dynamic)
    yield "the stack is executable", re.search(r"GNU_STACK.* RW +0x", segments)
    yield "a segment is writable and executable", not re.search(r"LOAD.* RWE? *E 0x", segments)
    yield "the code is relocated, so it is writable at the start", "TEXTREL" not in dynamic
    yield "the program searches for libraries in folders of the build", not re.search(r"R(UN)?PATH", dynamic)
    yield "no function has a stack protector", "__stack_chk_fail" in symbols
    yield "no call is checked by _FORTIFY_SOURCE", re.search(r" __\w+_chk@", symbols)
    yield "functions do not start with endbr64", platform.machine() != "x86_64" or _branch_targets(program) > 1000


def _branch_targets(program):
    """Counts the instructions endbr64 of -fcf-protection. The linker sets the property IBT only if
    all objects have it, which the start files of Debian 12 do not."""
    with open(program, "rb") as file:
        return file.read().count(b"\xf3\x0f\x1e\xfa")


def _readelf(option, program):
    return subprocess.run(["readelf", "--wide", option, str(program)], text=True, stdout=subprocess.PIPE, check=True).stdout
