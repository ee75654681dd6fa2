"""Collects the files of the image of a program in a folder."""

import re
import shutil
from pathlib import Path

import packages
import sbom

USER = 65532  # "nonroot", as in Google's distroless images
PASSWD = f"root:x:0:0:root:/:/sbin/nologin\nnonroot:x:{USER}:{USER}:nonroot:/:/sbin/nologin\n"
GROUP = f"root:x:0:\nnonroot:x:{USER}:\n"
NSSWITCH = "passwd: files\ngroup: files\nhosts: files dns\n"


def collect(program, output, version, license_file, debug, created, build=None):
    """Writes the files to `output`, which must not exist or is replaced.

    program       the program, with its symbols
    debug         the folder for its debug information
    created       the time of the sources, in seconds since 1970
    build         the build folder of Ninja, to find the packages of the included headers
    """
    program, output = Path(program), Path(output)
    shutil.rmtree(output, ignore_errors=True)
    binary = output / "usr/bin" / program.name
    binary.parent.mkdir(parents=True)
    strip(program, binary, Path(debug))
    libraries = shared_libraries(program)
    for library in libraries:
        copy(library, output)
    write(output, "etc/passwd", PASSWD)
    write(output, "etc/group", GROUP)
    write(output, "etc/nsswitch.conf", NSSWITCH)
    copy(Path("/etc/os-release"), output)  # tells scanners the version of Debian
    copy(Path(license_file), output, f"usr/share/doc/{program.name}/copyright")
    contained = packages.packages_of(libraries)
    for package in contained:
        copy(package.copyright_file, output)
        write(output, f"var/lib/dpkg/status.d/{package.name}", package.status())
    included = packages.packages_of(headers(Path(build), program.name)) if build else []
    for package in included:
        copy(package.copyright_file, output)
    text = sbom.document(binary, version, created, contained, [p for p in included if p not in contained])
    write(output, f"usr/share/sbom/{program.name}.spdx.json", text)
    return output


def strip(program, binary, debug):
    """Copies the program without symbols; moves its debug information to the folder where gdb
    searches for it by build ID."""
    shutil.copyfile(program, binary)
    packages.run("strip", "--strip-all", "--remove-section=.comment", str(binary))
    binary.chmod(0o755)
    notes = packages.run("readelf", "--notes", str(program))
    build_id = re.search(r"Build ID: ([0-9a-f]+)", notes)
    if build_id is None:
        raise SystemExit(f"{program} has no build ID: link it with -Wl,--build-id=sha1")
    identifier = build_id.group(1)
    file = debug / ".build-id" / identifier[:2] / f"{identifier[2:]}.debug"
    shutil.rmtree(debug, ignore_errors=True)
    file.parent.mkdir(parents=True)
    packages.run("objcopy", "--only-keep-debug", str(program), str(file))


def shared_libraries(program):
    """Returns all shared libraries that the program needs, and the dynamic linker, as sorted paths."""
    output = packages.run("ldd", str(program))
    missing = re.findall(r"^\s*(\S+) => not found", output, re.MULTILINE)
    if missing:
        raise SystemExit(f"{program} needs libraries that are not installed: {', '.join(missing)}")
    return sorted(Path(path) for path in re.findall(r"(?:=> |^\s*)(/\S+)", output, re.MULTILINE))


def headers(build, program):
    """Returns the headers outside the project that the sources of the program include."""
    inputs = packages.run("ninja", "-C", str(build), "-t", "inputs", program)
    objects = {line for line in inputs.splitlines() if line.endswith(".o")}
    found, current = set(), None
    for line in packages.run("ninja", "-C", str(build), "-t", "deps").splitlines():
        if line and not line.startswith(" "):
            current = line.split(":", 1)[0]
        elif current in objects and line.strip().startswith("/usr/"):
            found.add(line.strip())
    if not found:
        raise SystemExit(f"{build} has no records of included headers: build {program} there first")
    return one_of_each_folder(found)


def one_of_each_folder(files):
    """Returns one file per package and folder: asking dpkg for thousands of headers takes minutes.
    Files directly in /usr/include and in a folder for one architecture are all kept."""
    kept = {}
    for file in sorted(files):
        folder = str(Path(file).parent)
        shared = folder == "/usr/include" or re.fullmatch(r"/usr/include/[^/]*-linux-gnu[^/]*", folder)
        kept.setdefault(file if shared else folder, file)
    return sorted(kept.values())


def copy(source, output, name=None):
    """Copies a file, and not a symbolic link, to the same path below `output`, or to `name` there."""
    target = output / (name or str(source).lstrip("/"))
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        shutil.copyfile(source, target)
    except FileNotFoundError:
        raise SystemExit(f"{source} is missing; the image contains the licence of each package. Base images "
                         "for containers remove these files: reinstall the package with documentation.") from None
    target.chmod(0o755 if source.stat().st_mode & 0o100 else 0o644)


def write(output, name, text):
    """Writes a text file below `output`."""
    target = output / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")
    target.chmod(0o644)


def size_of(folder):
    """Returns the size of all files in bytes."""
    return sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())
