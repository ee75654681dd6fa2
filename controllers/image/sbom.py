"""Writes a software bill of materials in the format SPDX 2.3."""

import hashlib
import json
import re
from datetime import datetime, timezone


def document(binary, version, created, contained, included):
    """Returns the document as text.

    contained   packages whose files are in the image
    included    packages of which only headers are compiled into the program
    """
    digest = hashlib.sha256(binary.read_bytes()).hexdigest()
    name = binary.name
    program = {
        **_package("SPDXRef-Program", name, version),
        "primaryPackagePurpose": "APPLICATION",
        "licenseDeclared": "Apache-2.0",
        "checksums": [{"algorithm": "SHA256", "checksumValue": digest}],
    }
    relationships = [_relationship("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-Program")]
    relationships += [_relationship("SPDXRef-Program", "DYNAMIC_LINK", _identifier(p)) for p in contained]
    relationships += [_relationship(_identifier(p), "BUILD_DEPENDENCY_OF", "SPDXRef-Program") for p in included]
    return json.dumps({
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"{name}-{version}",
        "documentNamespace": f"https://kopp.invalid/spdx/{name}-{version}-{digest}",
        "creationInfo": {"created": _time(created), "creators": ["Tool: kopp-image"]},
        "packages": [program] + [_debian_package(p) for p in contained + included],
        "relationships": relationships,
    }, indent=2) + "\n"


def _debian_package(package):
    purl = f"pkg:deb/debian/{package.name}@{_quoted(package.version)}?arch={package.architecture}&distro=debian-12"
    result = {
        **_package(_identifier(package), package.name, package.version),
        "supplier": f"Organization: {package.maintainer}",
        "sourceInfo": f"built from the source package {package.source}",
        "primaryPackagePurpose": "LIBRARY",
        "licenseDeclared": "NOASSERTION",
        "licenseComments": f"The licences are in {package.copyright_file} of the image.",
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}],
    }
    if package.homepage:
        result["homepage"] = package.homepage
    return result


def _package(identifier, name, version):
    return {"SPDXID": identifier, "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "copyrightText": "NOASSERTION"}


def _relationship(element, kind, related):
    return {"spdxElementId": element, "relationshipType": kind, "relatedSpdxElement": related}


def _identifier(package):
    return "SPDXRef-Package-" + re.sub(r"[^A-Za-z0-9.-]", "-", package.name)


def _quoted(version):
    return version.replace("%", "%25").replace("+", "%2B").replace(":", "%3A")


def _time(seconds):
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
