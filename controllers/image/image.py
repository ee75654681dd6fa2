#!/usr/bin/env python3
"""Builds the container image of a program without a Docker daemon. See README.md in this folder."""

import argparse
import os
import platform
import shutil
from pathlib import Path

import archive
import tree


def main():
    arguments = parse()
    created = int(os.environ.get("SOURCE_DATE_EPOCH") or 0)
    if arguments.command == "tree":
        output = tree.collect(arguments.program, arguments.output, arguments.version, arguments.license,
                              arguments.debug or f"{arguments.output}-debug", created, arguments.build)
        print(f"{output}: {megabytes(tree.size_of(output))}")
        check_size(tree.size_of(output), arguments.limit, "unpacked")
        return
    labels = dict(label.split("=", 1) for label in arguments.label)
    digest = archive.pack(arguments.tree, arguments.program, arguments.name, labels, created, platform.machine(),
                          arguments.output)
    output = Path(arguments.output)
    bill = Path(arguments.tree) / f"usr/share/sbom/{arguments.program}.spdx.json"
    shutil.copyfile(bill, output.with_name(f"{output.name.removesuffix('.oci.tar').removesuffix('.tar')}.spdx.json"))
    print(f"{output}: {megabytes(output.stat().st_size)} packed, {megabytes(tree.size_of(arguments.tree))} unpacked")
    print(f"{archive.full_name(arguments.name)}@{digest}")
    check_size(output.stat().st_size, arguments.limit, "packed")


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    collect = commands.add_parser("tree", help="collect the files of the image in a folder")
    collect.add_argument("--program", required=True, help="the program to pack, with its symbols")
    collect.add_argument("--version", required=True, help="its version, for the bill of materials")
    collect.add_argument("--license", required=True, help="the file with its licence")
    collect.add_argument("--build", help="its build folder (Ninja), to list the packages of the included headers")
    collect.add_argument("--debug", help="the folder for its debug information (default: OUTPUT-debug)")
    pack = commands.add_parser("archive", help="pack the folder as an OCI archive")
    pack.add_argument("--tree", required=True, help="the folder that the command tree has written")
    pack.add_argument("--program", required=True, help="the name of the program")
    pack.add_argument("--name", required=True, help="the name of the image, with its tag")
    pack.add_argument("--label", action="append", default=[], metavar="KEY=VALUE",
                      help="the label org.opencontainers.image.KEY; repeatable")
    for command in (collect, pack):
        command.add_argument("--output", required=True, help="what to write")
        command.add_argument("--limit", type=float, metavar="MB", help="fail if the result is larger")
    return parser.parse_args()


def megabytes(size):
    return f"{size / 1e6:.1f} MB"


def check_size(size, limit, what):
    if limit is not None and size > limit * 1e6:
        raise SystemExit(f"The image has {megabytes(size)} {what}; at most {limit:g} MB are allowed.")


if __name__ == "__main__":
    main()
