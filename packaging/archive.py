"""Writes the archive for people who use no package manager: program, licences, completion scripts and man pages."""

import subprocess
import tempfile
import zipfile
from pathlib import Path

from binary import Platform
from common import ROOT, licences, version, write_tar_gz

SHELLS = {"bash": "quipu.bash", "zsh": "_quipu", "fish": "quipu.fish", "powershell": "_quipu.ps1"}


def write(out: Path, program: Path, platform: Platform, third_party: str, level: int) -> Path:
    """Writes the archive into `out` and returns its path. Runs the program, which prints its completions and man pages."""
    name = f"quipu-{version()}-{platform.triple}"
    executable = f"{name}/quipu{platform.suffix}"
    files = {executable: program.read_bytes(), f"{name}/README.md": (ROOT / "README.md").read_bytes()}
    files.update({f"{name}/{file}": text for file, text in licences(third_party).items()})
    for shell, file in SHELLS.items():
        files[f"{name}/completions/{file}"] = _run(program, "completions", shell)
    with tempfile.TemporaryDirectory() as folder:
        _run(program, "man", folder)
        pages = sorted(Path(folder).iterdir())
        if not pages:
            raise SystemExit(f"{program} wrote no man page")
        files.update({f"{name}/man/{page.name}": page.read_bytes() for page in pages})
    if platform.system != "win32":
        path = out / f"{name}.tar.gz"
        write_tar_gz(path, files, {executable}, level)
        return path
    path = out / f"{name}.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        for file in sorted(files):
            archive.writestr(zipfile.ZipInfo(file), files[file], zipfile.ZIP_DEFLATED, level)
    return path


def _run(program: Path, *arguments: str) -> bytes:
    return subprocess.run([program, *arguments], check=True, stdout=subprocess.PIPE).stdout
