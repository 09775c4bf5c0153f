#!/usr/bin/env python3
"""Installs the packages in a folder, each in an empty environment, and tries what was installed.

    python3 packaging/check.py dist

Needs Node with npm. Fails if a package for this platform is missing; skips nothing. `--without-module` after the folder is for platforms
where there is no extension module for Python.
"""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import venv
import zipfile
from pathlib import Path

from common import NAME, ROOT, python_version, version
from registry import Registry
from trial import Failed, environment, run, try_program

WINDOWS = sys.platform == "win32"
IN_ARCHIVE = ["README.md", "LICENSE-MIT", "LICENSE-APACHE", "MODEL-LICENSE", "THIRD-PARTY-LICENSES.txt"]
IN_ARCHIVE += ["completions/quipu.bash", "completions/_quipu", "completions/quipu.fish", "completions/_quipu.ps1"]
IN_ARCHIVE += ["man/quipu.1", "man/quipu-recall.1", "man/quipu-key-create.1"]


def check_names() -> None:
    """The clients have the names and the version that the packages refer to."""
    project = tomllib.loads((ROOT / "clients/python/pyproject.toml").read_text())["project"]
    package = json.loads((ROOT / "clients/typescript/package.json").read_text())
    named = [(project["name"], project["version"], python_version()), (package["name"], package["version"], version())]
    for name, own, expected in named:
        if (name, own) != (f"{NAME}-client", expected):
            raise Failed(f"a client is called {name} {own}; the packages expect {NAME}-client {expected}")


def _installed(packages: Path, place: Path, name: str) -> tuple[Path, list[str | Path], dict[str, str]]:
    """Python of an empty environment with a wheel installed from the folder, its pip, and the variables to run them with."""
    folder = place / "venv"
    venv.create(folder, with_pip=True)
    scripts = folder / ("Scripts" if WINDOWS else "bin")
    python = scripts / ("python.exe" if WINDOWS else "python")
    env = environment(place / "home", [scripts])
    pip: list[str | Path] = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    run([*pip, "--no-index", "--find-links", packages, f"{name}=={python_version()}"], env)
    return python, pip, env


def check_wheel(packages: Path, place: Path) -> None:
    python, _, env = _installed(packages, place, NAME)
    try_program([_found("quipu", env)], env)
    # What `uvx` and `pipx run` start, and the module.
    for command in ([_found(NAME, env)], [python, "-m", NAME.replace("-", "_")]):
        run([*command, "--version"], env)
        run([*command, "get", "turn_0000000000000"], env, code=3)


def check_embedded(packages: Path, place: Path) -> None:
    """The wheel with the extension module: its tests, against what was installed."""
    if not list(packages.glob("*embedded*.whl")):
        raise Failed("there is no wheel with the extension module")
    python, pip, env = _installed(packages, place, f"{NAME}-embedded")
    run([*pip, "-r", ROOT / "crates/quipu-python/tests/requirements.txt"], {**os.environ, **env})
    own = ROOT / "crates/quipu-python"
    print(run([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", own / "tests"], env, cwd=place).strip())
    run([python, "-m", "mypy", "--strict", "--no-incremental", "--python-executable", python, own / "tests"], env, cwd=place)
    run([python, "-m", "mypy.stubtest", "quipu_embedded._native"], env, cwd=place)


def check_npm(packages: Path, place: Path) -> None:
    registry = Registry(sorted(packages.glob("*.tgz")))
    try:
        env = environment(place / "home", [_tools(place)])
        npm = [_found("npm", env), "--registry", registry.url, "--no-audit", "--no-fund", "--no-update-notifier"]
        prefix = place / "prefix"
        run([*npm, "install", "--silent", "--global", "--prefix", prefix, NAME], env)
        if len(registry.fetched) != 2:
            raise Failed(f"npm is to fetch the launcher and one platform's package, and fetched {registry.fetched}")
        installed = {**env, "PATH": os.pathsep.join([str(prefix if WINDOWS else prefix / "bin"), env["PATH"]])}
        try_program([_found("quipu", installed)], installed)
        # `npx NAME`, which must not fetch anything else.
        place.joinpath("empty").mkdir()
        run([*npm, "exec", "--yes", "--", NAME, "--version"], env, cwd=place / "empty")
        if len(set(registry.fetched)) != 2:
            raise Failed(f"npx fetched {registry.fetched}")
        _check_missing(prefix, installed)
    finally:
        registry.close()


def _check_missing(prefix: Path, env: dict[str, str]) -> None:
    """Without the platform's package the launcher says what is missing."""
    for package in prefix.rglob(f"node_modules/{NAME}-*"):
        shutil.rmtree(package)
    ran = subprocess.run([_found("quipu", env), "--version"], env=env, capture_output=True, text=True)
    if ran.returncode != 1 or "--omit=optional" not in ran.stderr:
        raise Failed(f"without the program the launcher ended with {ran.returncode}: {ran.stderr}")


def check_archive(packages: Path, place: Path) -> None:
    found = [*packages.glob("quipu-*.tar.gz"), *packages.glob("quipu-*.zip")]
    if len(found) != 1:
        raise Failed(f"there is to be one archive, not {found}")
    path = found[0]
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            archive.extractall(place)
    else:
        with tarfile.open(path) as archive:
            archive.extractall(place, filter="data")
    (folder,) = (entry for entry in place.iterdir() if entry.name.startswith("quipu-"))
    missing = [name for name in IN_ARCHIVE if not (folder / name).is_file() or (folder / name).stat().st_size == 0]
    if missing:
        raise Failed(f"{path.name} lacks {missing}")
    env = environment(place / "home", [folder])
    try_program([_found("quipu", env)], env)


def _tools(place: Path) -> Path:
    """A folder with node and npm, and not with cargo or another quipu."""
    if WINDOWS:
        return Path(shutil.which("npm") or "").parent
    folder = place / "tools"
    folder.mkdir()
    # `npx` starts commands through the shell.
    for name in ("node", "npm", "sh"):
        found = shutil.which(name)
        if found is None:
            raise Failed(f"no {name}: install Node 20 or later, with npm")
        (folder / name).symlink_to(found)
    return folder


def _found(name: str, env: dict[str, str]) -> Path:
    if shutil.which("cargo", path=env["PATH"]):
        raise Failed("cargo is on the path of the check")
    found = shutil.which(name, path=env["PATH"])
    if found is None:
        raise Failed(f"there is no command {name} in {env['PATH']}")
    return Path(found)


def main() -> None:
    packages = Path(sys.argv[1]).resolve()
    check_names()
    checks = [check_wheel, check_embedded, check_npm, check_archive]
    if sys.argv[2:] == ["--without-module"]:
        checks.remove(check_embedded)
    for check in checks:
        started = time.monotonic()
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=WINDOWS) as place:
            try:
                check(packages, Path(place))
            except Failed as error:
                raise SystemExit(f"packaging: {check.__name__}: {error}") from error
        print(f"{check.__name__.replace('check_', '')} works ({time.monotonic() - started:.0f} s)")


if __name__ == "__main__":
    main()
