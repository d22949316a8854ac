// page.mjs PACKAGES screens ADDRESS: drives the page in Chromium, and prints what it found as JSON.
// PACKAGES: a folder with node_modules. tests/web_test.py says what it should find.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import path from "node:path";

const [packages, job, address] = process.argv.slice(2);
const require = createRequire(path.join(path.resolve(packages), "package.json"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
if (job !== "screens") throw new Error(`no such job: ${job}`);

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium-headless-shell", args: ["--no-sandbox", "--disable-gpu"] });
// The checker is put into the page, whose own policy would not let it in.
const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, bypassCSP: true, colorScheme: "light" });
const page = await context.newPage();
const found = { errors: [], requests_elsewhere: [], violations: [], screens: [] };
const own = new URL(address);
page.on("pageerror", (error) => found.errors.push(error.message));
page.on("console", (message) => { if (message.type() === "error") found.errors.push(message.text()); });
page.on("request", (request) => {
  const url = new URL(request.url());
  const isOwn = own.protocol === "file:" ? url.href.split("#")[0] === own.href : url.origin === own.origin;
  if (!isOwn && url.protocol !== "data:" && url.protocol !== "blob:") found.requests_elsewhere.push(request.url());
});

const open = async (hash, ready) => {
  await page.goto("about:blank");
  await page.goto(address + hash);
  await page.waitForSelector(ready, { timeout: 20000 });
  await page.waitForFunction(() => !document.querySelector("[aria-busy=true]"));
};
/// What is dark is the same page in other colours.
const rules = { light: {}, dark: { runOnly: { type: "rule", values: ["color-contrast"] } } };
const check = async (screen) => {
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    await page.waitForTimeout(50);
    await page.evaluate(axe);
    const { violations } = await page.evaluate((chosen) => window.axe.run(document, { resultTypes: ["violations"], ...chosen }),
      rules[colorScheme]);
    for (const one of violations) {
      if (one.impact === "serious" || one.impact === "critical") {
        found.violations.push(`${screen} ${colorScheme}: ${one.id}: ${one.nodes[0].html.slice(0, 160)}`);
      }
    }
  }
  await page.emulateMedia({ colorScheme: "light" });
  found.screens.push(screen);
};
const text = (selector) => page.locator(selector).first().innerText();

await open("#1/0/overview", "section[aria-label='hottest functions'] tbody tr");
await page.waitForSelector("section[aria-label='what to change']");
found.hottest = await text("section[aria-label='hottest functions'] tbody a");
found.advice = await page.locator("ol.advice li").count();
found.tree = await page.locator("[role=treegrid] .body > .row:nth-child(3) [role=gridcell]").nth(1).innerText();
await check("overview");

await open("#1/0/functions", "[aria-label=functions] .row:not(.head)");
await check("functions");
// From the keyboard alone: search, into the table, open the function.
await page.keyboard.press("/");
await page.keyboard.type("^product$");
const marks = page.locator("[aria-label=functions] .row:not(.head) mark");
// Each key narrows the search; a busy machine takes its time. If it never comes, what is there is told.
await page.waitForFunction(
  () => document.querySelectorAll("[aria-label=functions] .row:not(.head) mark").length === 1,
  null, { timeout: 10_000 }).catch(() => {});
found.sought = await marks.allInnerTexts();
await page.keyboard.press("Escape");
await page.locator("[aria-label='functions: rows']").focus();
await page.keyboard.press("ArrowDown");
await page.keyboard.press("Enter");
await page.waitForSelector("[aria-label=assembly] .row:not(.head)");
await page.waitForSelector("svg .block");
found.blocks = await page.locator("svg .block").count();
const unchosen = page.url();
await page.keyboard.press("]");
await page.waitForURL((url) => url.href !== unchosen, { timeout: 10_000 }).catch(() => {});
const chosen = page.url();
await page.locator("[aria-label=source] [role=row].row:not(.head)").first().hover();
await page.waitForSelector("[aria-label=assembly] .row.linked", { timeout: 10_000 }).catch(() => {});
found.linked = await page.locator("[aria-label=assembly] .row.linked").count();
await check("function");
await page.goBack();
await page.waitForSelector("[aria-label=functions] .row:not(.head)");
found.after_back = page.url().split("#1/0/")[1].split("?")[0];
await open(chosen.slice(chosen.indexOf("#")), "[aria-label=assembly] .row.selected");
found.restored = page.url() === chosen && new URL(chosen).hash.includes("sel=");

for (const [screen, ready] of [["calls", ".frame-of-call"], ["data", "[aria-label='data objects'] .row.selected"],
                               ["locality", "[aria-label=statements] .row.selected"], ["regions", ".missing code"], ["help", "kbd"]]) {
  await open(`#1/0/${screen}`, ready);
  if (screen === "data") {
    await page.waitForSelector("section[aria-label=summary] table");
    found.objects = await text("[aria-label='data objects']");
  }
  await check(screen);
}
// The hottest statement that has a line, in its source.
await open("#1/0/locality", "[aria-label=statements] .row.selected");
const named = page.locator("[aria-label=statements] .row:not(.head)", { hasText: /:\d+/ }).first();
await named.click();
await page.getByRole("button", { name: "source", exact: true }).click();
await page.waitForSelector("[aria-label=source] .row.selected");
await page.waitForSelector("section[aria-label=summary] h2");
found.statement = { line: await page.locator("[aria-label=source] .row.selected > div").nth(-2).innerText(), part: await text("section[aria-label=summary] h2") };
await check("source");
if (own.protocol !== "file:") {
  await open("#1/0/differences?with=1", "[aria-label=differences] .row:not(.head)");
  await check("differences");
}
await browser.close();
console.log(JSON.stringify(found));
