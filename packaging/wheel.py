"""Writes the Python wheels: one that carries the program, and one with the extension module.

The layout of the first is that of maturin's `bin` bindings: the program in `NAME-VERSION.data/scripts`, from where an installer copies it
beside Python. maturin itself would build the workspace again, in CI with another profile than the tests; this takes the binaries
that were tested.
"""

import base64
import hashlib
import time
import zipfile
from dataclasses import dataclass
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
MODULE = ROOT / "packaging/python" / PACKAGE
EMBEDDED = ROOT / "crates/quipu-python/python"


def write(out: Path, program: bytes, platform: Platform, third_party: str, level: int) -> Path:
    """Writes the wheel of the program into `out` and returns its path."""
    executable = f"{PACKAGE}-{python_version()}.data/scripts/quipu{platform.suffix}"
    files = {f"{PACKAGE}/{path.name}": path.read_bytes() for path in MODULE.glob("*.py")}
    files[executable] = program
    # `uvx` and `pipx run` look for a command with the name of the package.
    entry_points = f"[console_scripts]\n{NAME} = {PACKAGE}:main\n"
    extra = ["Provides-Extra: client", f"Requires-Dist: {NAME}-client=={python_version()}; extra == 'client'"]
    readme = ROOT / "packaging/python/README.md"
    made = _Wheel(NAME, SUMMARY, "py3-none", files, readme, extra, {"entry_points.txt": entry_points.encode()})
    return _write(out, made, platform, third_party, level, executable)


def write_embedded(out: Path, module: bytes, platform: Platform, third_party: str, level: int) -> Path:
    """Writes the wheel of the extension module into `out` and returns its path. It works with every Python from 3.10 on."""
    name = "_native.pyd" if platform.system == "win32" else "_native.abi3.so"
    files = {f"quipu_embedded/{path.name}": path.read_bytes() for path in EMBEDDED.glob("quipu_embedded/*.*") if path.is_file()}
    files[f"quipu_embedded/{name}"] = module
    summary = "Long-term memory for assistants and agents, in the process of a Python program: one folder, no account, offline"
    made = _Wheel(f"{NAME}-embedded", summary, "cp310-abi3", files, EMBEDDED / "README.md", ["Classifier: Typing :: Typed"], {})
    return _write(out, made, platform, third_party, level, None)


@dataclass(frozen=True)
class _Wheel:
    name: str
    summary: str
    # For which Pythons it is.
    tag: str
    files: dict[str, bytes]
    readme: Path
    # More lines of its metadata.
    metadata: list[str]
    # More files beside its metadata.
    info: dict[str, bytes]


def _write(out: Path, made: _Wheel, platform: Platform, third_party: str, level: int, executable: str | None) -> Path:
    version, package = python_version(), made.name.replace("-", "_")
    info = f"{package}-{version}.dist-info"
    tags = platform.wheel_tags
    texts = licences(third_party)
    files = dict(made.files)
    files.update({f"{info}/licenses/{name}": text for name, text in texts.items()})
    files[f"{info}/METADATA"] = _metadata(made, version, sorted(texts)).encode()
    files[f"{info}/WHEEL"] = "".join(
        ["Wheel-Version: 1.0\nGenerator: quipu-packaging\nRoot-Is-Purelib: false\n"]
        + [f"Tag: {made.tag}-{tag}\n" for tag in tags]
    ).encode()
    files.update({f"{info}/{name}": content for name, content in made.info.items()})
    files[f"{info}/RECORD"] = _record(files, f"{info}/RECORD").encode()
    path = out / f"{package}-{version}-{made.tag}-{'.'.join(tags)}.whl"
    _write_zip(path, files, executable, level)
    return path


def _metadata(made: _Wheel, version: str, texts: list[str]) -> str:
    head = [
        "Metadata-Version: 2.4",
        f"Name: {made.name}",
        f"Version: {version}",
        f"Summary: {made.summary}",
        f"License-Expression: {TERMS}",
        *(f"License-File: {name}" for name in texts),
        "Requires-Python: >=3.10",
        *([f"Project-URL: Source, {REPOSITORY}"] if REPOSITORY else []),
        *made.metadata,
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(head) + "\n\n" + made.readme.read_text()


def _record(files: dict[str, bytes], own: str) -> str:
    rows = []
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        rows.append(f"{name},sha256={digest},{len(content)}\n")
    return "".join(rows) + f"{own},,\n"


def _write_zip(path: Path, files: dict[str, bytes], executable: str | None, level: int) -> None:
    date = time.gmtime(EPOCH)[:6]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, date)
            entry.create_system = 3
            entry.external_attr = (0o100755 if name == executable else 0o100644) << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED, level)
