// The lanes of the picture of time: for each thread what it did, slice by slice, in layers that lie
// on each other. Figures are those of the document; here they are only added up.

import { MARKS, type Provenance } from "./format";
import type { Timeline } from "./types";

type Document = Timeline.TimelineDocument;
type Series = Timeline.Series;

export interface Layer { key: string; title: string; look: string; provenance: Provenance }
export interface Figures { values: Float64Array; squares: Float64Array; samples: Float64Array }
export interface ThreadLane {
  key: string;
  name: string;
  process: string;
  layers: Map<string, Figures>;  // by the key of the layer
}
export interface Picture {
  slices: Timeline.Slices;
  event: Timeline.Event;
  isTime: boolean;      // heights are shares of a slice's time
  layers: Layer[];
  all: ThreadLane;
  lanes: ThreadLane[];  // busiest first, the processes together
}

export type Colours = "mode" | "construct";
export const OFF_CPU = "off-cpu", PREEMPTED = "preempted";
/// Constructs that have a colour of their own; the others share one.
const MOST_CONSTRUCTS = 6;

export function sampledEvents(document: Document): Timeline.Event[] {
  return document.events.filter((one) => one.name !== OFF_CPU && one.name !== PREEMPTED);
}

export function hasRegions(document: Document): boolean {
  return document.lanes.some((lane) => lane.kind !== undefined);
}

function empty(count: number): Figures {
  return { values: new Float64Array(count), squares: new Float64Array(count), samples: new Float64Array(count) };
}

function addSeries(to: Figures, series: Series): void {
  series.values.forEach((value, i) => {
    const at = series.first + i;
    to.values[at] += value;
    to.samples[at] += series.samples[i];
    to.squares[at] += (series.errors[i] ?? 0) ** 2;
  });
}

/// Constructs by what the event has of them, the largest first; waiting for one belongs to it.
function largestConstructs(document: Document, run: number, event: string): string[] {
  const sums = new Map<string, number>();
  for (const lane of document.lanes) {
    if (lane.run !== run || lane.kind === undefined || lane.kind === "waiting") continue;
    sums.set(lane.region ?? "", (sums.get(lane.region ?? "") ?? 0) + (lane.values[event]?.value ?? 0));
  }
  return [...sums].sort((a, b) => b[1] - a[1]).slice(0, MOST_CONSTRUCTS).map(([name]) => name);
}

function layersOf(document: Document, run: number, event: Timeline.Event, colours: Colours): {
  layers: Layer[]; layerOf: (lane: Timeline.Lane, series: Series) => string | null;
} {
  const isTime = event.unit === "ns";
  const off = (series: Series): string | null => isTime && (series.event === OFF_CPU || series.event === PREEMPTED) ? series.event : null;
  const { provenance } = event;
  const outer: Layer[] = [
    { key: PREEMPTED, title: PREEMPTED, look: "preempted", provenance: "counted" },
    { key: OFF_CPU, title: OFF_CPU, look: "off", provenance: "counted" }];
  if (colours === "mode") {
    const layers: Layer[] = [
      { key: "user", title: "user", look: "user", provenance }, { key: "kernel", title: "kernel", look: "kernel", provenance },
      { key: "other", title: "guest, hypervisor", look: "other", provenance }, ...outer];
    return { layers, layerOf: (_, series) => off(series)
      ?? (series.event !== event.name ? null : series.mode === "user" || series.mode === "kernel" ? series.mode : "other") };
  }
  const names = largestConstructs(document, run, event.name);
  const layers: Layer[] = [
    ...names.map((name, i) => ({ key: `in ${name}`, title: name, look: `construct c${i}`, provenance })),
    { key: "others", title: "other constructs", look: "others", provenance },
    { key: "waiting", title: "waiting for threads", look: "waiting", provenance },
    { key: "outside", title: "outside regions", look: "other", provenance }, ...outer];
  return { layers, layerOf: (lane, series) => off(series)
    ?? (series.event !== event.name ? null : lane.kind === "waiting" ? "waiting" : lane.kind === undefined ? "outside"
      : names.includes(lane.region ?? "") ? `in ${lane.region}` : "others") };
}

export function sumOf(figures: Figures | undefined, from: number, to: number): { value: number; error: number; samples: number } {
  let [value, square, samples] = [0, 0, 0];
  for (let at = from; figures && at < to; ++at) {
    value += figures.values[at];
    square += figures.squares[at];
    samples += figures.samples[at];
  }
  return { value, error: Math.sqrt(square), samples };
}

/// What the thread was on a CPU for, or its whole amount of the event.
export function busyOf(picture: Picture, lane: ThreadLane, from: number, to: number): { value: number; error: number; samples: number } {
  const parts = picture.layers.filter((one) => one.key !== OFF_CPU && one.key !== PREEMPTED)
    .map((one) => sumOf(lane.layers.get(one.key), from, to));
  return {
    value: parts.reduce((sum, one) => sum + one.value, 0),
    error: Math.hypot(...parts.map((one) => one.error)),
    samples: parts.reduce((sum, one) => sum + one.samples, 0),
  };
}

export function pictureOf(document: Document, at: number, eventName: string | null, colours: Colours): Picture {
  const slices = document.slices[at];
  const events = sampledEvents(document);
  const event = events.find((one) => one.name === eventName) ?? events[0];
  const { layers, layerOf } = layersOf(document, at, event, colours);
  const all: ThreadLane = { key: "", name: "all threads", process: "", layers: new Map() };
  const byKey = new Map<string, ThreadLane>();
  for (const lane of document.lanes) {
    if (lane.run !== at) continue;
    const key = `${lane.process_id ?? ""} ${lane.process ?? ""}/${lane.thread_id ?? ""} ${lane.thread ?? ""}`;
    const thread = byKey.get(key) ?? {
      key, layers: new Map<string, Figures>(),
      name: `${lane.thread ?? ""}${lane.thread_id ? ` (${lane.thread_id})` : ""}`,
      process: `${lane.process ?? ""}${lane.process_id ? ` (${lane.process_id})` : ""}`,
    };
    byKey.set(key, thread);
    for (const series of lane.series) {
      const layer = layerOf(lane, series);
      if (layer === null) continue;
      for (const one of [thread, all]) {
        if (!one.layers.has(layer)) one.layers.set(layer, empty(slices.count));
        addSeries(one.layers.get(layer)!, series);
      }
    }
  }
  const picture: Picture = { slices, event, isTime: event.unit === "ns", layers: layers.filter((one) => all.layers.has(one.key)), all, lanes: [] };
  const busy = new Map<ThreadLane, number>();
  const ofProcess = new Map<string, number>();
  for (const lane of byKey.values()) {
    const value = busyOf(picture, lane, 0, slices.count).value;
    busy.set(lane, value);
    ofProcess.set(lane.process, (ofProcess.get(lane.process) ?? 0) + value);
  }
  picture.lanes = [...byKey.values()].sort((a, b) => a.process !== b.process
    ? ofProcess.get(b.process)! - ofProcess.get(a.process)! || (a.process < b.process ? -1 : 1)
    : busy.get(b)! - busy.get(a)!);
  return picture;
}

/// How long a slice was within the run: the last one may end after it. [ns]
export function lengthOf(slices: Timeline.Slices, at: number): number {
  const left = slices.duration_ns - at * slices.width_ns;
  return left > 0 ? Math.min(slices.width_ns, left) : slices.width_ns;
}

/// Seconds, with as many digits as tell slices apart.
export function seconds(slices: Timeline.Slices, at: number): string {
  const digits = slices.width_ns >= 1e9 ? 1 : slices.width_ns >= 1e8 ? 1 : 2;
  return (at * slices.width_ns / 1e9).toFixed(digits);
}

export function markOf(layer: Layer): string {
  return MARKS[layer.provenance];
}
