#!/usr/bin/env node
// Runs the program `quipu` of the package for this platform, with the arguments, the standard streams, the signals and the exit code
// of this process.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const NAME = "quipu-memory";

/** The packages that can have the program for this machine, the best first. */
function candidates() {
  const platform = `${process.platform}-${process.arch}`;
  if (process.platform !== "linux") return [`${NAME}-${platform}`];
  const hasGlibc = Boolean(process.report.getReport().header.glibcVersionRuntime);
  // The program of the musl package is static and runs with any library.
  return (hasGlibc ? ["gnu", "musl"] : ["musl"]).map((libc) => `${NAME}-${platform}-${libc}`);
}

/** The path of the program, or undefined. */
function find() {
  const file = process.platform === "win32" ? "bin/quipu.exe" : "bin/quipu";
  for (const name of candidates()) {
    try {
      return require.resolve(`${name}/${file}`);
    } catch (error) {
      if (error.code !== "MODULE_NOT_FOUND") throw error;
    }
  }
  return undefined;
}

const program = find();
if (program === undefined) {
  console.error(
    `${NAME}: the program for ${process.platform}-${process.arch} is missing: no ${candidates().join(" or ")} is installed.\n` +
      "Either this platform has no package, or optional dependencies were left out (--omit=optional): install again without that.",
  );
  process.exit(1);
}

// A terminal sends Ctrl-C and its own end to all its processes. Sent on, the program would get it twice.
const atTerminal = [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY);
const signals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"];
for (const signal of signals) {
  const isSentByTerminal = signal !== "SIGTERM" && atTerminal;
  try {
    process.on(signal, () => isSentByTerminal || child.kill(signal));
  } catch {
    // Windows does not have all of them.
  }
}

// After the handlers, so that no signal ends this process alone.
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });

child.on("error", (error) => {
  console.error(`${NAME}: ${program} cannot be run: ${error.message}`);
  process.exit(1);
});

child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  // End as the program did, so that a caller sees the signal; if that is not possible, with the code a shell would give.
  for (const one of signals) process.removeAllListeners(one);
  process.exitCode = 128 + constants.signals[signal];
  process.kill(process.pid, signal);
});
