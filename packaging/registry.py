"""A registry for npm on this machine, with the packages that were built.

It has the descriptions of all platforms' packages, as the real registry does after a release, and counts which ones npm
fetches.
"""

import base64
import hashlib
import io
import json
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from common import NAME, version
from npm import PLATFORMS


class Registry:
    """Serves until `close`; `fetched` has the names of the archives that were asked for."""

    def __init__(self, packages: list[Path]) -> None:
        self.fetched: list[str] = []
        self._packages = {path.name: path.read_bytes() for path in packages}
        registry = self

        class Answer(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                status, kind, body = registry._answer(self.path)
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        self.url = f"http://127.0.0.1:{self._server.server_port}/"
        self._manifests = self._read_manifests()
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()

    def _read_manifests(self) -> dict[str, dict]:
        manifests = {}
        for platform in PLATFORMS:
            name = f"{NAME}-{platform.npm_name}"
            system = {"os": [platform.system], "cpu": [platform.cpu]}
            libc = {"libc": [platform.libc]} if platform.libc else {}
            manifests[name] = {"name": name, "version": version(), **system, **libc}
        for content in self._packages.values():
            with tarfile.open(fileobj=io.BytesIO(content)) as archive:
                manifest = json.load(archive.extractfile("package/package.json"))
            manifests[manifest["name"]] = manifest
        for name, manifest in manifests.items():
            file = f"{name}-{manifest['version']}.tgz"
            digest = hashlib.sha512(self._packages.get(file, b"")).digest()
            integrity = "sha512-" + base64.b64encode(digest).decode()
            manifest["dist"] = {"tarball": f"{self.url}{file}", "integrity": integrity}
        return manifests

    def _answer(self, path: str) -> tuple[int, str, bytes]:
        name = path.strip("/").split("?")[0]
        if name.endswith(".tgz"):
            self.fetched.append(name)
            content = self._packages.get(name)
            return (200, "application/octet-stream", content) if content else (404, "text/plain", b"not built here")
        manifest = self._manifests.get(name)
        if manifest is None:
            return 404, "application/json", b'{"error": "not found"}'
        own = manifest["version"]
        whole = {"name": name, "dist-tags": {"latest": own}, "versions": {own: manifest}}
        return 200, "application/json", json.dumps(whole).encode()
