"""Writes the Python wheel that carries the program.

The layout is that of maturin's `bin` bindings: the program in `NAME-VERSION.data/scripts`, from where an installer copies it
beside Python. maturin itself would build the workspace again, in CI with another profile than the tests; this takes the binary
that was tested.
"""

import base64
import hashlib
import time
import zipfile
from pathlib import Path

from binary import Platform
from common import (
    EPOCH,
    NAME,
    REPOSITORY,
    ROOT,
    SUMMARY,
    TERMS,
    licences,
    python_version,
)

PACKAGE = NAME.replace("-", "_")
MODULE = Path(__file__).resolve().parent / "python" / PACKAGE


def write(out: Path, program: bytes, platform: Platform, third_party: str, level: int) -> Path:
    """Writes the wheel into `out` and returns its path."""
    version = python_version()
    info = f"{PACKAGE}-{version}.dist-info"
    tags = platform.wheel_tags
    executable = f"{PACKAGE}-{version}.data/scripts/quipu{platform.suffix}"
    texts = licences(third_party)
    files = {f"{PACKAGE}/{path.name}": path.read_bytes() for path in MODULE.glob("*.py")}
    files[executable] = program
    files.update({f"{info}/licenses/{name}": text for name, text in texts.items()})
    files[f"{info}/METADATA"] = _metadata(version, sorted(texts)).encode()
    files[f"{info}/WHEEL"] = "".join(
        ["Wheel-Version: 1.0\nGenerator: quipu-packaging\nRoot-Is-Purelib: false\n"]
        + [f"Tag: py3-none-{tag}\n" for tag in tags]
    ).encode()
    # `uvx` and `pipx run` look for a command with the name of the package.
    files[f"{info}/entry_points.txt"] = f"[console_scripts]\n{NAME} = {PACKAGE}:main\n".encode()
    files[f"{info}/RECORD"] = _record(files, f"{info}/RECORD").encode()
    path = out / f"{PACKAGE}-{version}-py3-none-{'.'.join(tags)}.whl"
    _write_zip(path, files, executable, level)
    return path


def _metadata(version: str, texts: list[str]) -> str:
    head = [
        "Metadata-Version: 2.4",
        f"Name: {NAME}",
        f"Version: {version}",
        f"Summary: {SUMMARY}",
        f"License-Expression: {TERMS}",
        *(f"License-File: {name}" for name in texts),
        "Requires-Python: >=3.10",
        *([f"Project-URL: Source, {REPOSITORY}"] if REPOSITORY else []),
        "Provides-Extra: client",
        f"Requires-Dist: {NAME}-client=={version}; extra == 'client'",
        "Description-Content-Type: text/markdown",
    ]
    readme = (ROOT / "packaging/python/README.md").read_text()
    return "\n".join(head) + "\n\n" + readme


def _record(files: dict[str, bytes], own: str) -> str:
    rows = []
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        rows.append(f"{name},sha256={digest},{len(content)}\n")
    return "".join(rows) + f"{own},,\n"


def _write_zip(path: Path, files: dict[str, bytes], executable: str, level: int) -> None:
    date = time.gmtime(EPOCH)[:6]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, date)
            entry.create_system = 3
            entry.external_attr = (0o100755 if name == executable else 0o100644) << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED, level)
