// Runs a real server for the tests. `QUIPU` is the path of the binary.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** Starts a server with an empty data folder; returns its address and a function that stops it. */
export async function serve() {
  const binary = process.env.QUIPU;
  if (!binary) throw new Error("set QUIPU to the binary: `cargo build -p quipu-cli`, then QUIPU=$PWD/target/debug/quipu");
  const folder = mkdtempSync(join(tmpdir(), "quipu-"));
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("QUIPU_"));
  const env = { ...Object.fromEntries(own), HOME: folder, XDG_CONFIG_HOME: folder };
  const args = ["--data-dir", join(folder, "data"), "--json", "serve", "--addr", "127.0.0.1:0"];
  const server = spawn(binary, args, { env, stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve) => server.once("exit", resolve));
  const [first] = await new Promise((resolve, reject) => {
    createInterface({ input: server.stdout }).once("line", (line) => resolve([line]));
    server.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
    server.once("error", reject);
  });
  const stop = async () => {
    server.kill("SIGINT");
    const code = await ended;
    rmSync(folder, { recursive: true, force: true });
    if (code !== 0) throw new Error(`the server ended with ${code}`);
  };
  return { baseUrl: `http://${JSON.parse(first).addr}`, stop };
}
