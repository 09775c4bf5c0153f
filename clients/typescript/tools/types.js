// Generates `src/api.ts` from a server's OpenAPI document: `node tools/types.js http://127.0.0.1:7077`.

import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import openapi, { astToString } from "openapi-typescript";

const FILE = fileURLToPath(new URL("../src/api.ts", import.meta.url));
const HEAD = "// The types of the API. Made by `tools/types.js` of what the server says: change nothing here.\n\n";
/** Routes for monitoring or other protocols, which this client does not cover. */
export const NOT_FOR_CALLERS = /^\/(health\/(live|maintenance)$|metrics$|v1\/|v2\/|v3\/|store|mcp|proxy|$)/;

/** Adds the names of all schemas that a part of the document refers to. */
function referenced(part, schemas, names) {
  if (part === null || typeof part !== "object") return names;
  const name = typeof part.$ref === "string" ? part.$ref.split("/").pop() : undefined;
  if (name !== undefined && !names.has(name)) {
    names.add(name);
    referenced(schemas[name], schemas, names);
  }
  for (const inner of Object.values(part)) referenced(inner, schemas, names);
  return names;
}

/** The text of `src/api.ts`: the types of every route this client covers. */
export async function types(page) {
  const short = structuredClone(page);
  for (const [path, verbs] of Object.entries(short.paths)) {
    if (NOT_FOR_CALLERS.test(path)) delete short.paths[path];
    for (const operation of Object.values(verbs)) {
      // Refusals are thrown and all have the same type.
      operation.responses = { 200: { description: "", content: operation.responses["200"]?.content } };
      operation.parameters = operation.parameters?.filter((one) => one.in !== "header");
      delete operation.operationId;
    }
  }
  delete short.components.responses;
  delete short.components.headers;
  const schemas = short.components.schemas;
  const used = referenced([short.paths, { $ref: "#/components/schemas/Fault" }], schemas, new Set());
  for (const name of Object.keys(schemas)) {
    if (!used.has(name)) delete schemas[name];
  }
  const text = astToString(await openapi(short, { defaultNonNullable: false }));
  // Drop entries for methods and headers that do not exist.
  return HEAD + text.replace(/^ +\w+\?: never;\n/gm, "").replace(/^ +headers: \{\n +\[name: string\]: unknown;\n +\};\n/gm, "");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const page = await (await fetch(new URL("/openapi.json", process.argv[2]))).json();
  writeFileSync(FILE, await types(page));
}
