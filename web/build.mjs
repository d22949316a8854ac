// build.mjs SOURCE PACKAGES OUT.cc: bundles web/src with esbuild, and writes script and style as
// raw strings of C++.
import { createRequire } from "node:module";
import { writeFileSync } from "node:fs";
import path from "node:path";

const [source, packages, out] = process.argv.slice(2).map((one) => path.resolve(one));
const esbuild = createRequire(path.join(packages, "package.json"))("esbuild");
const bundle = async (entry, define = {}) => {
  const made = await esbuild.build({
    entryPoints: [path.join(source, "src", entry)],
    bundle: true, minify: true, write: false, charset: "utf8", target: "es2021", format: "iife",
    jsx: "automatic", jsxImportSource: "preact", legalComments: "none", define,
    nodePaths: [path.join(packages, "node_modules")],
  });
  return made.outputFiles[0].text;
};
const quote = (text) => {
  if (text.includes(')web"')) throw new Error("the bundle holds the end of a raw string");
  // Compilers bound how long one literal may be; neighbours are joined.
  return text.match(/[^]{1,8000}/g).map((part) => `R"web(${part})web"`).join("\n");
};
// The page starts its worker from a text of its own script.
const worker = await bundle("layout_worker.ts");
writeFileSync(out, `#include "documents/assets.h"
namespace culprit {
const WebAssets& web_assets() {
  static constexpr WebAssets kAssets{
${quote(await bundle("main.tsx", { LAYOUT_WORKER: JSON.stringify(worker) }))},
${quote(await bundle("style.css"))}, ""};
  return kAssets;
}
}  // namespace culprit
`);
