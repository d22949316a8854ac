// Values of cells as curves, as `culprit scan plot` puts them together: a panel for each value of the
// dimensions that are neither along the axis nor a curve each.

import { amount } from "./format";
import type { Scan, ScanValues } from "./types";

export interface Mark {
  x: string;
  value: number | null;
  error: number;
  varies: boolean;
  missing: string;  // why there is no value
  cell: number | null;
}
export interface Curve { name: string; marks: Mark[]; isExpected: boolean }
export interface Panel { title: string; xs: string[]; curves: Curve[] }
export interface Question { over: string; by: string; base: string }

const NUMBER = /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
export const areNumbers = (texts: string[]): boolean => texts.every((text) => NUMBER.test(text));

/// A cell's place along a dimension; "" if it has none.
export function placeAlong(scan: Scan.ScanDocument, dimension: string, cell: number): string {
  if (dimension === "program") return scan.program[cell];
  if (dimension === "setup") return scan.setup[cell];
  return scan.parameters[dimension]?.[cell] ?? "";
}

/// The values of a dimension: numbers by their size, words as they came.
export function valuesAlong(scan: Scan.ScanDocument, dimension: string): string[] {
  const values = [...new Set(scan.name.map((_, cell) => placeAlong(scan, dimension, cell)))].filter((one) => one !== "");
  return areNumbers(values) ? values.sort((a, b) => Number(a) - Number(b)) : values;
}

function panelTitle(scan: Scan.ScanDocument, dimensions: string[], cell: number): string {
  return dimensions.map((name) => {
    const value = placeAlong(scan, name, cell);
    return name === "program" || name === "setup" ? value : `${name} ${value}`;
  }).join(", ");
}

/// Ratios to one curve of the same panel. Errors: first-order, of independent values.
function divideBy(base: Curve | undefined, panel: Panel): Panel {
  if (!base) return panel;
  const ratio = (mark: Mark, divisor: Mark, isBase: boolean): Mark => {
    if (mark.value === null) return mark;
    if (divisor.value === null || divisor.value === 0) return { ...mark, value: null, missing: "-" };
    if (isBase) return { ...mark, value: 1, error: 0 };
    const value = mark.value / divisor.value;
    return { ...mark, value, error: Math.hypot(mark.error, value * divisor.error) / Math.abs(divisor.value) };
  };
  return { ...panel, curves: panel.curves.map((curve) =>
    ({ ...curve, marks: curve.marks.map((mark, i) => ratio(mark, base.marks[i], curve === base)) })) };
}

/// `expected`: computed beside what was measured; its value at a place is that of the first cell there.
export function curvesOf(scan: Scan.ScanDocument, values: ScanValues.ScanValuesDocument,
                         expected: ScanValues.ScanValuesDocument | null, question: Question): Panel[] {
  const others = scan.dimensions.filter((name) =>
    name !== question.over && name !== question.by && valuesAlong(scan, name).length > 1);
  const xs = valuesAlong(scan, question.over);
  const panels = new Map<string, Panel>();
  scan.name.forEach((_, cell) => {
    const title = panelTitle(scan, others, cell);
    let panel = panels.get(title);
    if (!panel) panels.set(title, panel = { title, xs, curves: [] });
    const name = placeAlong(scan, question.by, cell);
    let curve = panel.curves.find((one) => one.name === name);
    if (!curve) {
      curve = { name, isExpected: false, marks: xs.map((x) => ({ x, value: null, error: 0, varies: false, missing: "-", cell: null })) };
      panel.curves.push(curve);
    }
    const at = xs.indexOf(placeAlong(scan, question.over, cell));
    if (at < 0) return;
    curve.marks[at] = { x: xs[at], value: values.values[cell], error: values.errors[cell], varies: scan.varies[cell],
      missing: values.values[cell] === null ? scan.missing[cell] : "", cell };
  });
  return [...panels.values()].map((whole) => {
    const panel = question.base === "" ? whole : divideBy(whole.curves.find((one) => one.name === question.base), whole);
    if (!expected) return panel;
    const marks = panel.xs.map((x, at): Mark => {
      const cells = panel.curves.map((curve) => curve.marks[at].cell).filter((cell): cell is number => cell !== null);
      const cell = cells.find((one) => expected.values[one] !== null);
      return { x, value: cell === undefined ? null : expected.values[cell], error: 0, varies: false, missing: "-", cell: null };
    });
    return { ...panel, curves: [...panel.curves, { name: `expected: ${expected.expression}`, marks, isExpected: true }] };
  });
}

/// As many digits as the error leaves, at most five: "41", "0.3125", "3.35 G".
export function costText(value: number, error: number): string {
  const size = Math.abs(value);
  if (size < 1e7 && Math.abs(value - Math.round(value)) <= 1e-9 * Math.max(1, size)) return String(Math.round(value) || 0);
  if (size >= 1e7) return amount(value);
  const digits = error > 0 && size > 0 ? Math.min(5, Math.max(1, Math.ceil(Math.log10(size / error)) + 1)) : 5;
  return String(Number(value.toPrecision(digits)));
}

const NORMAL_95 = 1.959964;
/// With half of its 95 % interval, where it has one.
export function markText(mark: Mark): string {
  if (mark.value === null) return mark.missing;
  const text = costText(mark.value, mark.error);
  if (mark.error > 0) return `${text} ±${costText(NORMAL_95 * mark.error, NORMAL_95 * mark.error / 10)}`;
  return text + (mark.varies ? " *" : "");
}

export interface Tick { at: number; text: string }
/// Where a value is along an axis, from 0 to 1.
export interface Axis { place: (value: number) => number; ticks: Tick[] }

const tickText = (value: number): string =>
  Math.abs(value) >= 1e4 ? amount(value).replace(/\.0+(?= )/, "") : String(Number(value.toPrecision(6)));

/// 1, 2 or 5 times a power of ten.
function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  return (([1, 2, 5].find((factor) => factor * power >= rough * (1 - 1e-9))) ?? 10) * power;
}

/// An axis with about `count` ticks; logarithmic only if all values are above 0.
export function numberAxis(values: number[], isLogarithmic: boolean, fromZero: boolean, count: number): Axis {
  let low = Math.min(...values), high = Math.max(...values);
  if (values.length === 0) return { place: () => 0, ticks: [] };
  const ticks: Tick[] = [];
  if (isLogarithmic && low > 0) {
    const first = Math.floor(Math.log2(low)), last = Math.max(Math.ceil(Math.log2(high)), first + 1);
    const step = Math.max(1, Math.ceil((last - first) / count));
    const place = (value: number): number => value > 0 ? (Math.log2(value) - first) / (last - first) : 0;
    for (let at = first; at <= last; at += step) ticks.push({ at: place(2 ** at), text: tickText(2 ** at) });
    return { place, ticks };
  }
  if (fromZero) [low, high] = [Math.min(low, 0), Math.max(high, 0)];
  if (high <= low) high = low + 1;
  const step = roundStep((high - low) / count);
  if (fromZero) [low, high] = [Math.floor(low / step + 1e-9) * step, Math.ceil(high / step - 1e-9) * step];
  const place = (value: number): number => (value - low) / (high - low);
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; ++i) ticks.push({ at: place(i * step), text: tickText(i * step) });
  return { place, ticks };
}
