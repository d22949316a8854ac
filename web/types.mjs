// types.mjs [--check]: the types of all documents, from schema/*.json, into src/types.ts. With
// --check nothing is written, and it fails where the file is not what the schemas say.
import { compileFromFile } from "json-schema-to-typescript";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const names = ["web_profiles", "web_index", "web_table", "web_calls", "web_function", "web_source", "why", "data",
               "locality", "regions", "diff", "timeline", "web_scan", "web_scan_values", "scan_one", "scan_explain"];
let text = "// Made by types.mjs of schema/*.json: do not edit.\n\n";
for (const name of names) {
  const words = name.replace(/^web_/, "").split("_").map((word) => word[0].toUpperCase() + word.slice(1));
  const module = await compileFromFile(path.join(here, "../schema", `${name}.schema.json`), {
    bannerComment: "", additionalProperties: false, ignoreMinAndMaxItems: true,
    customName: (schema, key) => key
      ? key.split("_").map((word) => word[0].toUpperCase() + word.slice(1)).join("")
      : schema.$id?.startsWith("culprit-") ? `${words.join("")}Document` : undefined,
  });
  // What is not a list is a number: TypeScript wants the index to say both.
  const checked = module.replace(/\[k: string\]: number;/g, "[k: string]: number | string[];");
  text += `export namespace ${words.join("")} {\n${checked}}\n\n`;
}
const file = path.join(here, "src/types.ts");
if (!process.argv.includes("--check")) {
  writeFileSync(file, text);
} else if (readFileSync(file, "utf8") !== text) {
  console.error("src/types.ts is not what schema/*.json say: node types.mjs");
  process.exit(1);
}
