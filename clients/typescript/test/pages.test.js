// The example of docs/adapters/ai-sdk.md as it stands, with a server of its own at the default address.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { promisify } from "node:util";
import { serve } from "./server.js";

// CI tests a copy of this package, and says where the documents are.
const docs = process.env.DOCS ?? fileURLToPath(new URL("../../../docs", import.meta.url));

test("the example of the page prints what the page says", async () => {
  const page = readFileSync(`${docs}/adapters/ai-sdk.md`, "utf8");
  const [, code, shown] = /```js\n([^]*?)```\n\n```text\n([^]*?)```/.exec(page);
  // Within this package, its own name leads to it.
  const file = fileURLToPath(new URL(`./example-${process.pid}.mjs`, import.meta.url));
  const { baseUrl, stop } = await serve();
  const elsewhere = `const { fetch } = globalThis;
    globalThis.fetch = (url, init) => fetch(String(url).replace("http://127.0.0.1:7077", ${JSON.stringify(baseUrl)}), init);`;
  try {
    writeFileSync(file, code);
    const preload = `data:text/javascript,${encodeURIComponent(elsewhere)}`;
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ["--import", preload, file], { timeout: 120_000 });
    assert.equal(stdout, shown);
    assert.equal(stderr, "");
  } finally {
    rmSync(file, { force: true });
    await stop();
  }
});
