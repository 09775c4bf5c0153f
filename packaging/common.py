"""What all packages share: the name, the version, the licences, and archives that are the same from run to run."""

import gzip
import io
import os
import re
import tarfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# `quipu` is taken on PyPI and npm. The program, the Python module of the client and the MCP server are called quipu all the same.
NAME = "quipu-memory"
SUMMARY = "Long-term memory for assistants and agents: one binary, one folder, no account, offline"
TERMS = "(MIT OR Apache-2.0) AND Apache-2.0"
MODEL = ROOT / "crates/quipu-models/assets/all-MiniLM-L6-v2"
# Where the sources are, which registries check against the workflow that publishes. The workflow sets it.
REPOSITORY = os.environ.get("QUIPU_REPOSITORY")
# 1980-01-01, the oldest time in a zip file, in every archive.
EPOCH = 315532800


def version() -> str:
    """The version of the workspace."""
    return tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]


def python_version() -> str:
    """The same version as PyPI writes it.

    Raises `SystemExit` for a version that PyPI has no form for.
    """
    form = re.fullmatch(r"(\d+\.\d+\.\d+)(?:-(alpha|beta|rc)\.(\d+))?", version())
    if form is None:
        raise SystemExit(f"version {version()}: only X.Y.Z, and X.Y.Z-alpha.N, -beta.N and -rc.N can be packaged")
    base, phase, number = form.groups()
    return base if phase is None else base + {"alpha": "a", "beta": "b", "rc": "rc"}[phase] + number


def licences(third_party: str) -> dict[str, bytes]:
    """The licence files of a package with the binary, by name."""
    return {
        "LICENSE-MIT": (ROOT / "LICENSE-MIT").read_bytes(),
        "LICENSE-APACHE": (ROOT / "LICENSE-APACHE").read_bytes(),
        "MODEL-LICENSE": (MODEL / "LICENSE").read_bytes(),
        "MODEL-PROVENANCE.md": (MODEL / "PROVENANCE.md").read_bytes(),
        "THIRD-PARTY-LICENSES.txt": third_party.encode(),
    }


def write_tar_gz(path: Path, files: dict[str, bytes], executables: set[str], level: int) -> None:
    """Writes a `.tar.gz` with the files in the order of their names."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted(files):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime = len(files[name]), EPOCH
            entry.mode = 0o755 if name in executables else 0o644
            archive.addfile(entry, io.BytesIO(files[name]))
    path.write_bytes(gzip.compress(packed.getbuffer(), compresslevel=level, mtime=EPOCH))


if __name__ == "__main__":
    print(version())
