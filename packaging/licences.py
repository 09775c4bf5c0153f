"""Collects the licences of every crate that the program, or the extension module for Python, contains, for `THIRD-PARTY-LICENSES.txt`.

Needs cargo and the sources of the crates, which every build has.
"""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BEGINNINGS = ("licen", "copying", "copyright", "notice", "unlicense")


def third_party(package: str = "quipu-cli") -> str:
    """The names, versions, licences and licence texts of all crates that are linked into the binary of a package on some platform.

    Raises `SystemExit` if a crate names no licence.
    """
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--manifest-path", str(ROOT / "Cargo.toml")]
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    metadata = json.loads(told.stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    edges = {one["id"]: one["deps"] for one in metadata["resolve"]["nodes"]}
    found, ahead = set(), [id for id, known in packages.items() if known["name"] == package]
    while ahead:
        id = ahead.pop()
        if id not in found:
            found.add(id)
            linked = (edge for edge in edges[id] if any(kind["kind"] is None for kind in edge["dep_kinds"]))
            ahead.extend(edge["pkg"] for edge in linked)
    foreign = [packages[id] for id in found if packages[id]["source"] is not None]
    foreign.sort(key=lambda package: (package["name"], package["version"]))
    parts = [f"This binary contains the {len(foreign)} crates below, under the licences given with each.\n"]
    # Most texts are the same in many crates.
    texts: dict[str, list[str]] = {}
    for package in foreign:
        name = f"{package['name']} {package['version']}"
        files = list(_texts(Path(package["manifest_path"]).parent))
        terms = package["license"] or (files and "see the text") or sys.exit(f"{name} names no licence")
        authors = f", by {', '.join(package['authors'])}" if package["authors"] else ""
        parts.append(f"{name}: {terms}{authors}. {package['repository'] or ''}".rstrip())
        for text in files:
            texts.setdefault(text, []).append(name)
    for text, names in texts.items():
        parts.append(f"\n{'-' * 80}\n{', '.join(names)}\n{'-' * 80}\n\n{text}")
    return "\n".join(parts) + "\n"


def _texts(folder: Path):
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.name.lower().startswith(BEGINNINGS):
            yield path.read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n").strip()


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")
    sys.stdout.write(third_party())
