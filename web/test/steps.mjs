// steps.mjs PACKAGES ADDRESS: does in Chromium what the steps on standard input say, and prints what
// they found as JSON. Expectations stand with the steps, in tests/web_screens_test.py and
// tests/web_security_test.py.
//
//     [["open", "#1/0/functions", "[aria-label=functions] .row"], ["press", "/"], ["rows", "functions"]]
//     -> {"found": [null, null, [{"=sim:cycles": "1.2 M", ...}]], "errors": [], ...}
//
// PACKAGES is a folder with node_modules. `errors`: what the page threw or logged; `elsewhere`:
// requests to anybody but the page's own address; `dialogs`: what alert() and the like said; `workers`:
// how many the page started.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import path from "node:path";

const [packages, address] = process.argv.slice(2);
const steps = JSON.parse(readFileSync(0, "utf8"));
const require = createRequire(path.join(path.resolve(packages), "package.json"));
const { chromium } = require("playwright-core");

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium-headless-shell", args: ["--no-sandbox", "--disable-gpu"] });
// The page's own policy would keep the checker of accessibility out of it.
const needsChecker = steps.some(([name]) => name === "axe");
const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, bypassCSP: needsChecker, colorScheme: "light" });
const page = await context.newPage();
page.setDefaultTimeout(20000);
const result = { found: [], errors: [], elsewhere: [], dialogs: [], workers: 0 };
const own = new URL(address);
page.on("pageerror", (error) => result.errors.push(error.message));
page.on("console", (message) => { if (message.type() === "error") result.errors.push(message.text()); });
page.on("worker", () => { ++result.workers; });
page.on("dialog", (dialog) => { result.dialogs.push(dialog.message()); dialog.dismiss(); });
page.on("request", (request) => {
  const url = new URL(request.url());
  const isOwn = own.protocol === "file:" ? url.href.split("#")[0] === own.href : url.origin === own.origin;
  if (!isOwn && !["data:", "blob:", "about:"].includes(url.protocol)) result.elsewhere.push(request.url());
});

/// What the selector names is there, and nothing of the page waits for documents that come later.
async function ready(selector) {
  await page.waitForSelector(selector);
  await page.waitForFunction(() => !document.querySelector("[aria-busy=true]"));
  return null;
}

const DO = {
  /// A page newly loaded at that place.
  open: async (hash, selector) => {
    await page.goto("about:blank");
    await page.goto(address + hash);
    await ready(selector);
  },
  wait: ready,
  press: (key) => page.keyboard.press(key),
  type: (text) => page.keyboard.type(text),
  click: (selector) => page.locator(selector).first().click(),
  focus: (selector) => page.locator(selector).first().focus(),
  hover: (selector) => page.locator(selector).first().hover(),
  select: (selector, value) => page.locator(selector).first().selectOption(value),
  back: () => page.goBack().then(() => null),
  forward: () => page.goForward().then(() => null),
  /// Time for the page to draw what was asked for.
  settle: () => page.waitForTimeout(150),
  hash: () => new URL(page.url()).hash,
  texts: (selector) => page.locator(selector).allInnerTexts(),
  count: (selector) => page.locator(selector).count(),
  evaluate: (expression) => page.evaluate(expression),
  size: (width, height) => page.setViewportSize({ width, height }),
  scheme: (colorScheme) => page.emulateMedia({ colorScheme }),
  shot: (file) => page.screenshot({ path: file }).then(() => null),
  /// The drawn rows of a table, once it is there: {title of the column: text of the cell}; with their classes as "".
  rows: (label) => ready(`.table[aria-label="${label}"]`).then(() => page.evaluate((name) => {
    const table = document.querySelector(`.table[aria-label="${name}"]`);
    const titles = [...table.querySelectorAll("[role=columnheader] button")].map((one) => one.innerText.replace(/ [▾▴]$/, ""));
    return [...table.querySelectorAll(".row:not(.head)")].map((row) => Object.fromEntries(
      [["", row.className], ...[...row.querySelectorAll("[role=gridcell]")].map((cell, i) => [titles[i], cell.innerText.trim()])]));
  }, label)),
  /// Serious findings of axe-core, as text.
  axe: async () => {
    await page.evaluate(readFileSync(require.resolve("axe-core/axe.min.js"), "utf8"));
    const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
    return violations.filter((one) => one.impact === "serious" || one.impact === "critical")
      .map((one) => `${one.id}: ${one.nodes[0].html.slice(0, 160)}: ${one.nodes[0].any.map((check) => check.message).join("; ")} (${one.nodes[0].target})`);
  },
  /// Opens a page newly, and says when [ms from the beginning of its loading] the last document was
  /// there, and when what is selected was drawn.
  time: async (hash, selector) => {
    await page.goto("about:blank");
    await page.goto(address + hash);
    await page.waitForSelector(selector, { timeout: 150000 });
    return page.evaluate(async () => {
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      const documents = performance.getEntriesByType("resource").map((one) => one.responseEnd);
      return { loaded: Math.max(0, ...documents), drawn: performance.now() };
    });
  },
  /// Milliseconds from a click until the expression holds, and the longest without a frame meanwhile.
  until: (selector, expression) => page.evaluate(async ([what, holds]) => {
    const isDone = new Function(`return ${holds}`);
    const begin = performance.now();
    let [last, longest] = [begin, 0];
    document.querySelector(what).click();
    do {
      await new Promise((done) => requestAnimationFrame(done));
      const now = performance.now();
      [last, longest] = [now, Math.max(longest, now - last)];
    } while (!isDone());
    return [last - begin, longest];
  }, [selector, expression]),
  /// Milliseconds from each text that is put into a field (in turn, so often) to the next frame.
  inputs: (selector, texts, times) => page.evaluate(async ([field, all, count]) => {
    const target = document.querySelector(field);
    const spans = [];
    for (let i = 0; i < count; ++i) {
      const begin = performance.now();
      target.value = all[i % all.length];
      target.dispatchEvent(new Event("input", { bubbles: true }));
      await new Promise((done) => requestAnimationFrame(() => { const channel = new MessageChannel(); channel.port1.onmessage = done; channel.port2.postMessage(0); }));
      spans.push(performance.now() - begin);
    }
    return spans;
  }, [selector, texts, times]),
  /// Milliseconds from each key to the next frame.
  keys: (selector, names, times) => page.evaluate(async ([field, all, count]) => {
    const target = document.querySelector(field);
    const spans = [];
    for (let i = 0; i < count; ++i) {
      const begin = performance.now();
      target.dispatchEvent(new KeyboardEvent("keydown", { key: all[i % all.length], bubbles: true }));
      await new Promise((done) => requestAnimationFrame(() => { const channel = new MessageChannel(); channel.port1.onmessage = done; channel.port2.postMessage(0); }));
      spans.push(performance.now() - begin);
    }
    return spans;
  }, [selector, names, times]),
  /// Milliseconds from each of so many clicks (in turn over the selectors) to the next frame that is drawn.
  clicks: (selectors, times) => page.evaluate(async ([all, count]) => {
    const spans = [];
    for (let i = 0; i < count; ++i) {
      const target = document.querySelector(all[i % all.length]);
      const begin = performance.now();
      target.click();
      await new Promise((done) => requestAnimationFrame(() => { const channel = new MessageChannel(); channel.port1.onmessage = done; channel.port2.postMessage(0); }));
      spans.push(performance.now() - begin);
    }
    return spans;
  }, [selectors, times]),
};

for (const [name, ...words] of steps) {
  if (!(name in DO)) throw new Error(`no such step: ${name}`);
  try {
    result.found.push((await DO[name](...words)) ?? null);
  } catch (error) {
    throw new Error(`${JSON.stringify([name, ...words])} at ${page.url()}: ${error.message}`);
  }
}
await browser.close();
console.log(JSON.stringify(result));
