"""Writes kopp's files about the Kubernetes API; README.md in this folder describes them."""
import argparse
import hashlib
import pathlib
import sys

sys.dont_write_bytecode = True  # leave no __pycache__ in the source folder
import cpp  # noqa: E402
import defaults  # noqa: E402
import messages  # noqa: E402
import openapi  # noqa: E402
import resources  # noqa: E402
import schemas  # noqa: E402
import test_data  # noqa: E402
from layout import Layout  # noqa: E402
from model import Model  # noqa: E402
from server import Server  # noqa: E402
from structs import Structs  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
DATA = "framework/apiserver/data/"
OPENAPI, RESOURCES, MESSAGES = DATA + "openapi.json", DATA + "resources.txt", DATA + "messages.txt"
DEFAULTS, VIRTUAL_SCHEMAS = DATA + "defaults.txt", DATA + "virtual_schemas.txt"
SCHEMAS = "framework/schema/schemas.txt"
SUMS = "informer/k8s/generate/recorded.sha256"


def record(cluster, modules):
    """Returns {path: text} of the files that a server and Go modules give, and of their checksums."""
    server = Server(cluster)
    recorded = {OPENAPI: openapi.record(server), RESOURCES: resources.record(server)}
    recorded[MESSAGES] = messages.record(modules, server.version(), resources.read(recorded[RESOURCES]))
    sums = "".join(f"{hashlib.sha256(text.encode()).hexdigest()}  {path}\n" for path, text in recorded.items())
    return recorded | {SUMS: sums}


def derive(model, pointers):
    """Returns {path: text} of the files that follow from the recorded files."""
    structs = Structs(model)
    layout = Layout(model, structs)
    described = {SCHEMAS: schemas.text(model, pointers), VIRTUAL_SCHEMAS: schemas.virtual_text(model, pointers)}
    return described | cpp.files(model, structs, layout) | test_data.files(structs, layout)


def remove_outdated(folder, files):
    """Removes headers and sources that an earlier version of Kubernetes or of selection.py has led to."""
    for path in folder.glob("informer/k8s/**/*.[hc]pp"):
        if path.relative_to(folder).as_posix() not in files and path.read_text(encoding="utf-8").startswith(cpp.HEAD):
            path.unlink()


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def write(folder, files):
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(prog="generate", description=__doc__)
    parser.add_argument("--output", default=ROOT, type=pathlib.Path, help="the folder to write to (default: the project)")
    parser.add_argument("--cluster", help="record the version of this cluster first: the folder of cluster.sh")
    parser.add_argument("--modules", help="the folder with the Go modules k8s.io/… of the cluster's version")
    arguments = parser.parse_args()
    if bool(arguments.cluster) != bool(arguments.modules):
        parser.error("--cluster and --modules belong together")
    recorded = record(arguments.cluster, arguments.modules) if arguments.cluster else {}
    write(arguments.output, recorded)  # first, so that an error in the steps below does not cost another run of a server
    inputs = {path: read(path) for path in (OPENAPI, RESOURCES, MESSAGES)} | recorded
    model = Model(*openapi.read(inputs[OPENAPI]), resources.read(inputs[RESOURCES]))
    derived = derive(model, messages.pointers(inputs[MESSAGES]))
    remove_outdated(arguments.output, derived)
    write(arguments.output, derived)
    defaults.check(read(DEFAULTS), model)


main()
