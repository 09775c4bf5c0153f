"""Writes the npm packages: one for each platform with the program in it, and the launcher that depends on all of them.

npm installs those of the `optionalDependencies` that fit the machine. Nothing is downloaded by a script at installation.
"""

import json
from pathlib import Path

from binary import Platform
from common import (
    NAME,
    REPOSITORY,
    ROOT,
    SUMMARY,
    TERMS,
    licences,
    version,
    write_tar_gz,
)

LAUNCHER = Path(__file__).resolve().parent / "npm"
# Every platform with a package. `launcher.js` asks for the same names.
PLATFORMS = [
    Platform("linux", "x64", "glibc", None),
    Platform("linux", "x64", "musl", None),
    Platform("linux", "arm64", "glibc", None),
    Platform("linux", "arm64", "musl", None),
    Platform("darwin", "x64", None, None),
    Platform("darwin", "arm64", None, None),
    Platform("win32", "x64", None, None),
]


def write_platform(out: Path, program: bytes, platform: Platform, third_party: str, level: int) -> Path:
    """Writes the package with the program for one platform into `out` and returns its path.

    Raises `SystemExit` for a platform that the launcher does not know.
    """
    if platform.npm_name not in {known.npm_name for known in PLATFORMS}:
        raise SystemExit(f"the launcher knows no platform {platform.npm_name}: add it to PLATFORMS in packaging/npm.py")
    name = f"{NAME}-{platform.npm_name}"
    manifest = {
        "name": name,
        "version": version(),
        "description": f"The program of {NAME} for {platform.npm_name}; install {NAME} instead",
        "license": TERMS,
        "os": [platform.system],
        "cpu": [platform.cpu],
        # The program cannot be run from inside an archive.
        "preferUnplugged": True,
    }
    if platform.libc is not None:
        manifest["libc"] = [platform.libc]
    executable = f"bin/quipu{platform.suffix}"
    readme = f"The program of [{NAME}](https://www.npmjs.com/package/{NAME}) for one platform. Install that package instead.\n"
    files = {**licences(third_party), executable: program, "README.md": readme.encode()}
    return _write(out, manifest, files, {executable}, level)


def write_launcher(out: Path) -> Path:
    """Writes the package that people install into `out` and returns its path."""
    manifest = {
        "name": NAME,
        "version": version(),
        "description": SUMMARY,
        "license": TERMS,
        "keywords": ["memory", "mcp", "llm", "agent"],
        # `npx NAME` runs the command with the name of the package.
        "bin": {"quipu": "launcher.js", NAME: "launcher.js"},
        "engines": {"node": ">=20"},
        "optionalDependencies": {f"{NAME}-{platform.npm_name}": version() for platform in PLATFORMS},
    }
    files = {
        "launcher.js": (LAUNCHER / "launcher.js").read_bytes(),
        "README.md": (LAUNCHER / "README.md").read_bytes(),
        "LICENSE-MIT": (ROOT / "LICENSE-MIT").read_bytes(),
        "LICENSE-APACHE": (ROOT / "LICENSE-APACHE").read_bytes(),
    }
    return _write(out, manifest, files, {"launcher.js"}, 9)


def _write(out: Path, manifest: dict, files: dict[str, bytes], executables: set[str], level: int) -> Path:
    if REPOSITORY is not None:
        manifest["repository"] = {"type": "git", "url": f"git+{REPOSITORY}.git"}
    files = {"package.json": (json.dumps(manifest, indent=2) + "\n").encode(), **files}
    path = out / f"{manifest['name']}-{manifest['version']}.tgz"
    inside = {f"package/{name}": content for name, content in files.items()}
    write_tar_gz(path, inside, {f"package/{name}" for name in executables}, level)
    return path
