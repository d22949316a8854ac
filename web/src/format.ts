// Numbers as people read them. The marks say how a number was obtained: = counted, ~ sampled,
// ? modelled.

export type Provenance = "counted" | "sampled" | "modelled";
export const MARKS: Record<Provenance, string> = { counted: "=", sampled: "~", modelled: "?" };
export const MARK_WORDS: Record<Provenance, string> =
  { counted: "counted", sampled: "sampled: with an error", modelled: "modelled: no hardware counted it" };

const STEPS: [number, string][] = [[1e12, " T"], [1e9, " G"], [1e6, " M"], [1e3, " k"]];

/// Three significant digits: 3.35 G, 412 M, 51.
export function amount(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  for (const [step, letter] of STEPS) {
    if (size >= step * 0.9995) return digits(value / step) + letter;
  }
  return Number.isInteger(value) && size < 1000 ? String(value) : digits(value);
}

function digits(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size < 0.001) return value.toExponential(1);
  return value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

export function inUnit(value: number, unit: string): string {
  if (unit === "ns") return duration(value);
  if (unit === "bytes") return `${amount(value)}B`;
  return amount(value);
}

export function duration(ns: number): string {
  const size = Math.abs(ns);
  if (size >= 1e9) return `${digits(ns / 1e9)} s`;
  if (size >= 1e6) return `${digits(ns / 1e6)} ms`;
  if (size >= 1e3) return `${digits(ns / 1e3)} µs`;
  return `${digits(ns)} ns`;
}

export function percent(part: number, places = 1): string {
  return Number.isFinite(part) ? `${(100 * part).toFixed(places)} %` : "–";
}

export function fileName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/// Names of C++ without their parameters and without what templates are made of.
export function shortName(name: string): string {
  let depth = 0;
  let short = "";
  for (const c of name) {
    if (c === "<" && !short.endsWith("operator")) { if (depth++ === 0) short += "<"; continue; }
    if (c === ">" && depth > 0) { if (--depth === 0) short += "…>"; continue; }
    if (depth === 0) short += c;
  }
  const call = short.indexOf("operator()");
  const at = short.indexOf("(", call >= 0 ? call + 10 : short.startsWith("(anonymous") ? 21 : 1);
  return at > 0 ? short.slice(0, at) : short;
}

/// A pattern from what somebody typed: a regular expression, or the words as they are.
export function patternOf(text: string): RegExp | null {
  if (text === "") return null;
  try {
    return new RegExp(text, "i");
  } catch {
    return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
  }
}

/// Cividis, from little to much: readable by all eyes. The text on it keeps its contrast, since it
/// is only laid under it.
export function heat(share: number): string {
  const strength = Math.min(1, Math.max(0, share));
  return strength < 0.0005 ? "transparent" : `rgba(214, 158, 46, ${(0.1 + 0.6 * Math.sqrt(strength)).toFixed(3)})`;
}
