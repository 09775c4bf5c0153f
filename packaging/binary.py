"""Reads from an executable file or a library for which platforms it is.

A package is labelled with what its binary says, not with what the caller believes it to be.
"""

import re
import struct
from dataclasses import dataclass
from pathlib import Path

ELF_MACHINES = {0x3E: "x64", 0xB7: "arm64"}
MACHO_CPUS = {0x01000007: "x64", 0x0100000C: "arm64"}
PE_MACHINES = {0x8664: "x64", 0xAA64: "arm64"}

# What a Linux binary may load beside glibc's own loader: the part of the manylinux policy that a Rust program can need.
GLIBC_LIBRARIES = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "libpthread.so.0", "libdl.so.2", "librt.so.1"}
# manylinux_2_17 is the oldest tag that is still in use.
OLDEST_GLIBC = (2, 17)


class Unknown(Exception):
    """The file is not an executable of a known platform."""


@dataclass(frozen=True)
class Platform:
    """Where a binary runs, in the words of Node: `linux`, `darwin`, `win32`; `x64`, `arm64`."""

    system: str
    cpu: str
    # `glibc` or `musl` on Linux. A static binary is `musl`: it runs with any library.
    libc: str | None
    # Version of glibc or macOS that the binary needs.
    needs: tuple[int, int] | None

    @property
    def npm_name(self) -> str:
        """The end of the npm package's name, such as `linux-x64-gnu`."""
        libc = {"glibc": "-gnu", "musl": "-musl", None: ""}[self.libc]
        return f"{self.system}-{self.cpu}{libc}"

    @property
    def triple(self) -> str:
        """Rust's name of the target, which is in the names of archives."""
        cpu = {"x64": "x86_64", "arm64": "aarch64"}[self.cpu]
        libc = {"glibc": "gnu", "musl": "musl", None: ""}[self.libc]
        return {
            "linux": f"{cpu}-unknown-linux-{libc}",
            "darwin": f"{cpu}-apple-darwin",
            "win32": f"{cpu}-pc-windows-msvc",
        }[self.system]

    @property
    def wheel_tags(self) -> list[str]:
        """The platform tags of the wheel."""
        if self.system == "win32":
            return [{"x64": "win_amd64", "arm64": "win_arm64"}[self.cpu]]
        if self.system == "darwin":
            cpu = {"x64": "x86_64", "arm64": "arm64"}[self.cpu]
            return ["macosx_{}_{}_{}".format(*self.needs, cpu)]
        cpu = {"x64": "x86_64", "arm64": "aarch64"}[self.cpu]
        glibc = "manylinux_{}_{}_{}".format(*max(self.needs or OLDEST_GLIBC, OLDEST_GLIBC), cpu)
        return [glibc] if self.libc == "glibc" else [glibc, f"musllinux_1_1_{cpu}"]

    @property
    def suffix(self) -> str:
        return ".exe" if self.system == "win32" else ""


def inspect(path: Path) -> Platform:
    """The platform of an executable or a library.

    Raises `Unknown` if it is none, or if it loads libraries that not every system has.
    """
    data = path.read_bytes()
    try:
        if data[:6] == b"\x7fELF\x02\x01":
            return _elf(path, data)
        if data[:4] == b"\xcf\xfa\xed\xfe":
            return _macho(path, data)
        if data[:2] == b"MZ":
            return _pe(path, data)
    except (struct.error, KeyError) as error:
        raise Unknown(f"{path} is damaged or for an unknown processor: {error!r}") from error
    raise Unknown(f"{path} is no 64-bit executable of Linux, macOS or Windows")


def _elf(path: Path, data: bytes) -> Platform:
    cpu = ELF_MACHINES[struct.unpack_from("<H", data, 18)[0]]
    (start,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    headers = [struct.unpack_from("<IIQQQQ", data, start + size * number) for number in range(count)]
    loaded = [(address, offset, length) for kind, _, offset, address, _, length in headers if kind == 1]
    interpreter = next((data[at : at + length] for kind, _, at, _, _, length in headers if kind == 3), None)
    # A library has no interpreter, and a static program loads no libraries.
    needed = _libraries(data, headers, loaded)
    if interpreter is None and not needed:
        return Platform("linux", cpu, "musl", None)
    if interpreter is not None and b"ld-linux" not in interpreter:
        raise Unknown(f"{path} needs the loader {interpreter!r}: link it statically or with glibc")
    foreign = {name for name in needed if name not in GLIBC_LIBRARIES and not name.startswith("ld-linux")}
    if foreign:
        raise Unknown(f"{path} loads {sorted(foreign)}, which not every system has")
    versions = [(2, int(minor)) for minor in re.findall(rb"\0GLIBC_2\.(\d+)(?=[.\0])", data)]
    return Platform("linux", cpu, "glibc", max(versions))


def _libraries(data: bytes, headers: list[tuple[int, ...]], loaded: list[tuple[int, int, int]]) -> list[str]:
    """The names of the shared libraries that an ELF file asks for."""
    at, length = next(((offset, length) for kind, _, offset, _, _, length in headers if kind == 2), (0, 0))
    entries = [struct.unpack_from("<QQ", data, at + step) for step in range(0, length, 16)]
    if not any(tag == 1 for tag, _ in entries):
        return []
    (names,) = (value for tag, value in entries if tag == 5)
    (names,) = (offset + names - address for address, offset, size in loaded if address <= names < address + size)
    offsets = [names + value for tag, value in entries if tag == 1]
    return [data[offset : data.index(b"\0", offset)].decode() for offset in offsets]


def _macho(path: Path, data: bytes) -> Platform:
    cpu = MACHO_CPUS[struct.unpack_from("<I", data, 4)[0]]
    (count,) = struct.unpack_from("<I", data, 16)
    at = 32
    for _ in range(count):
        command, size = struct.unpack_from("<II", data, at)
        # LC_BUILD_VERSION has the version after the platform, LC_VERSION_MIN_MACOSX has it first.
        place = {0x32: at + 12, 0x24: at + 8}.get(command)
        if place is not None:
            (version,) = struct.unpack_from("<I", data, place)
            major, minor = version >> 16, version >> 8 & 0xFF
            # From macOS 11 on, tags have the minor version 0.
            least = (major, minor) if major == 10 or minor == 0 else (major + 1, 0)
            return Platform("darwin", cpu, None, least)
        at += size
    raise Unknown(f"{path} does not say which macOS it needs")


def _pe(path: Path, data: bytes) -> Platform:
    (at,) = struct.unpack_from("<I", data, 60)
    if data[at : at + 4] != b"PE\0\0":
        raise Unknown(f"{path} is no program for Windows")
    return Platform("win32", PE_MACHINES[struct.unpack_from("<H", data, at + 4)[0]], None, None)
