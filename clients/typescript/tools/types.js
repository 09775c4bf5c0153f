// Makes `src/api.ts` of a server's description: `node tools/types.js http://127.0.0.1:7077`.

import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import openapi, { astToString } from "openapi-typescript";

const FILE = fileURLToPath(new URL("../src/api.ts", import.meta.url));
const HEAD = "// The types of the API. Made by `tools/types.js` of what the server says: change nothing here.\n\n";
/** Read by machines, or spoken in another protocol: nobody calls these through this client. */
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

/** The types of every route a caller has, as they stand in `src/api.ts`. */
export async function types(page) {
  const short = structuredClone(page);
  for (const [path, verbs] of Object.entries(short.paths)) {
    if (NOT_FOR_CALLERS.test(path)) delete short.paths[path];
    for (const operation of Object.values(verbs)) {
      // What is refused is thrown, in one shape.
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
  // Methods there are none of say nothing.
  return HEAD + text.replace(/^ +\w+\?: never;\n/gm, "").replace(/^ +headers: \{\n +\[name: string\]: unknown;\n +\};\n/gm, "");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const page = await (await fetch(new URL("/openapi.json", process.argv[2]))).json();
  writeFileSync(FILE, await types(page));
}
