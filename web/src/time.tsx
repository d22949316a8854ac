// Threads over time: a lane for each thread, in it what it did slice by slice. The mouse or the arrow
// keys go through the slices; a table beside the picture has the figures of the lane that is chosen.

import type { JSX } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";

import { inUnit, MARKS, patternOf } from "./format";
import { busyOf, hasRegions, lengthOf, markOf, OFF_CPU, pictureOf, PREEMPTED, sampledEvents, seconds, sumOf,
         type Colours, type Layer, type Picture, type ThreadLane } from "./lanes";
import { tweak, type Route } from "./route";
import { CopyButtons, Table, type ColumnOf } from "./table";
import type { Index, Timeline } from "./types";
import { NotRecorded, useDocument, Waiting } from "./use_document";

const FEW_LANES = 24;
const HEIGHT = 100;  // of a lane, in its own units

function isOff(layer: Layer): boolean {
  return layer.key === OFF_CPU || layer.key === PREEMPTED;
}

interface Range { from: number; to: number }

function rangeOf(query: URLSearchParams, count: number): Range {
  const [from, to] = (query.get("slices") ?? "").split("-").map(Number);
  return Number.isInteger(from) && Number.isInteger(to) && from >= 0 && to > from && to <= count ? { from, to } : { from: 0, to: count };
}

function setRange(range: Range, count: number): void {
  const from = Math.max(0, Math.min(range.from, count - 1));
  const to = Math.min(count, Math.max(range.to, from + 1));
  tweak({ slices: from === 0 && to === count ? "" : `${from}-${to}` });
}

/// The outlines of a lane's layers, each above those before it. Of all threads together waits would
/// hide everything else.
function outlines(picture: Picture, lane: ThreadLane, range: Range, whole: number): { layer: Layer; path: string }[] {
  const floors = new Float64Array(picture.slices.count);
  const paths: { layer: Layer; path: string }[] = [];
  for (const layer of picture.layers) {
    const figures = lane.layers.get(layer.key);
    if (!figures || (lane === picture.all && isOff(layer))) continue;
    let path = "";
    for (let at = range.from; at < range.to; ++at) {
      if (figures.values[at] === 0) continue;
      const per = picture.isTime ? lengthOf(picture.slices, at) : 1;
      const floor = floors[at];
      const top = Math.min(1, floor + figures.values[at] / per / whole);
      floors[at] = top;
      path += `M${at} ${(HEIGHT * (1 - floor)).toFixed(1)}V${(HEIGHT * (1 - top)).toFixed(1)}h1V${(HEIGHT * (1 - floor)).toFixed(1)}z`;
    }
    if (path) paths.push({ layer, path });
  }
  return paths;
}

function describe(picture: Picture, lane: ThreadLane, from: number, to: number): string[] {
  const { event } = picture;
  return picture.layers.flatMap((layer) => {
    const sum = sumOf(lane.layers.get(layer.key), from, to);
    if (sum.value === 0) return [];
    const unit = isOff(layer) ? "ns" : event.unit;
    return [`${layer.title} ${inUnit(sum.value, unit)}${sum.error > 0 ? ` ±${inUnit(1.96 * sum.error, unit)}` : ""}`];
  });
}

function Axis({ picture, range }: { picture: Picture; range: Range }): JSX.Element {
  const count = range.to - range.from;
  const steps = Math.min(8, count);
  const marks = Array.from({ length: steps + 1 }, (_, i) => range.from + Math.round(i * count / steps));
  return (
    <div class="time-lane axis" aria-hidden="true">
      <span>thread</span>
      <div>{marks.map((at, i) => (
        <span style={{ left: `${100 * (at - range.from) / count}%` }} class={i === 0 ? "first" : i === steps ? "last" : ""}>
          {seconds(picture.slices, at)}{i === steps ? " s" : ""}</span>
      ))}</div>
      <span class="number">{MARKS[picture.event.provenance]}{picture.isTime ? "on a CPU" : picture.event.name}</span>
    </div>
  );
}

interface LaneProps {
  picture: Picture;
  lane: ThreadLane;
  range: Range;
  whole: number;
  isChosen: boolean;
  cursor: number | null;  // the slice that is pointed at
  onPoint: (at: number | null) => void;
  onDrag: (range: Range) => void;
}

function LaneOf({ picture, lane, range, whole, isChosen, cursor, onPoint, onDrag }: LaneProps): JSX.Element {
  const [began, setBegan] = useState<number | null>(null);
  const strip = useRef<HTMLDivElement>(null);
  const paths = useMemo(() => outlines(picture, lane, range, whole), [picture, lane, range.from, range.to, whole]);
  const busy = busyOf(picture, lane, range.from, range.to);
  const count = range.to - range.from;
  const sliceAt = (event: MouseEvent): number => {
    const box = strip.current!.getBoundingClientRect();
    return range.from + Math.min(count - 1, Math.max(0, Math.floor(count * (event.clientX - box.left) / box.width)));
  };
  const up = (event: PointerEvent) => {
    const at = sliceAt(event);
    if (began !== null && at !== began) onDrag({ from: Math.min(began, at), to: Math.max(began, at) + 1 });
    setBegan(null);
  };
  const ends = cursor === null ? null : [Math.min(began ?? cursor, cursor), Math.max(began ?? cursor, cursor) + 1];
  const words = ends && describe(picture, lane, ends[0], ends[1]);
  const isRight = ends !== null && ends[0] - range.from > count / 2;
  return (
    <div class={`time-lane${isChosen ? " chosen" : ""}`} data-lane={lane.key}>
      <button type="button" class="name" tabIndex={-1} aria-pressed={isChosen} title={lane.name}
              onClick={() => tweak({ row: isChosen ? "" : lane.key })}>{lane.name}</button>
      <div class="strip" ref={strip} onPointerMove={(event) => onPoint(sliceAt(event))} onPointerLeave={() => { onPoint(null); setBegan(null); }}
           onPointerDown={(event) => setBegan(sliceAt(event))} onPointerUp={up}>
        <svg viewBox={`${range.from} 0 ${count} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
          {paths.map(({ layer, path }) => <path class={`layer ${layer.look}`} d={path} />)}
        </svg>
        {ends && <span class="at" style={{ left: `${100 * (ends[0] - range.from) / count}%`, width: `${100 * (ends[1] - ends[0]) / count}%` }} />}
        {ends && words && (
          <div class="tip" role="status" style={{ [isRight ? "right" : "left"]: `${100 * (isRight ? range.to - ends[0] : ends[1] - range.from) / count}%` }}>
            <b>{lane.name}</b> {seconds(picture.slices, ends[0])}–{seconds(picture.slices, ends[1])} s: {words.join(", ") || "nothing recorded"}
          </div>)}
      </div>
      <span class="number">{busy.value === 0 ? <span class="dim">·</span> : inUnit(busy.value, picture.event.unit)}{busy.error > 0 && <span class="dim"> ±{inUnit(1.96 * busy.error, picture.event.unit)}</span>}</span>
    </div>
  );
}

interface SliceRow { at: number; parts: Map<string, { value: number; error: number; samples: number }>; busy: { value: number; error: number; samples: number } }

function SliceTable({ picture, lane, range, sort, cursor }: { picture: Picture; lane: ThreadLane; range: Range; sort: string; cursor: number | null }): JSX.Element {
  const rows = useMemo(() => Array.from({ length: range.to - range.from }, (_, i): SliceRow => {
    const at = range.from + i;
    return {
      at, busy: busyOf(picture, lane, at, at + 1),
      parts: new Map(picture.layers.map((layer) => [layer.key, sumOf(lane.layers.get(layer.key), at, at + 1)])),
    };
  }), [picture, lane, range.from, range.to]);
  const { unit } = picture.event;
  const columns: ColumnOf<SliceRow>[] = [
    { key: "from", title: "from s", width: 76, value: (row) => row.at * picture.slices.width_ns / 1e9, draw: (row) => seconds(picture.slices, row.at) },
    ...picture.layers.map((layer): ColumnOf<SliceRow> => {
      const part = (row: SliceRow) => row.parts.get(layer.key)!;
      const ofLayer = isOff(layer) ? "ns" : unit;
      return {
        key: layer.key, title: `${markOf(layer)}${layer.title}`, width: Math.max(150, Math.min(230, 40 + 7 * layer.title.length)),
        value: (row) => part(row).value,
        share: picture.isTime ? (row) => part(row).value / lengthOf(picture.slices, row.at) : undefined,
        draw: (row) => part(row).value === 0 ? <span class="dim">·</span>
          : <span class={layer.provenance === "sampled" && part(row).samples < 5 ? "thin" : ""}>{inUnit(part(row).value, ofLayer)}
            {part(row).error > 0 && <span class="dim"> ±{inUnit(1.96 * part(row).error, ofLayer)}</span>}</span>,
      };
    }),
    { key: "samples", title: "samples", width: 76, value: (row) => row.busy.samples },
  ];
  return (
    <section class="pane" aria-label="figures"><h2>{lane.name}, slice by slice <small>of {inUnit(picture.slices.width_ns, "ns")}</small></h2>
      <CopyButtons columns={columns} rows={rows} sort={sort} />
      <Table label="slices" columns={columns} rows={rows} keyOf={(row) => String(row.at)} sort={sort} onSort={(now) => tweak({ sort: now })}
             selected={cursor === null ? null : String(cursor)} scrollTo={cursor === null || sort !== "from" ? null : cursor - range.from} height="34vh" />
    </section>
  );
}

function TimeOf({ document, route }: { document: Timeline.TimelineDocument; route: Route }): JSX.Element {
  const { query } = route;
  const [point, setPoint] = useState<{ lane: number; at: number } | null>(null);
  const run = Math.min(document.slices.length - 1, Math.max(0, Number(query.get("run")) || 0));
  const canShowConstructs = hasRegions(document);
  const colours: Colours = canShowConstructs && query.get("colour") !== "mode" ? "construct" : "mode";
  const picture = useMemo(() => pictureOf(document, run, query.get("ev"), colours), [document, run, query.get("ev"), colours]);
  const { slices } = picture;
  const range = rangeOf(query, slices.count);
  const pattern = patternOf(query.get("q") ?? "");
  const found = pattern ? picture.lanes.filter((lane) => pattern.test(lane.name) || pattern.test(lane.process)) : picture.lanes;
  const isAll = query.get("all") === "1";
  const shown = isAll ? found : found.slice(0, FEW_LANES);
  const lanes = [picture.all, ...shown];
  const chosen = picture.lanes.find((lane) => lane.key === query.get("row")) ?? picture.all;
  const heightOf = (of: ThreadLane[]): number => {
    let most = 0;
    for (const lane of of) {
      for (let at = 0; at < slices.count; ++at) {
        const per = picture.isTime ? lengthOf(slices, at) : 1;
        most = Math.max(most, busyOf(picture, lane, at, at + 1).value / per);
      }
    }
    return most || 1;
  };
  // A thread is at most all of the time on a CPU; all threads together, on as many as they had.
  const wholeOfAll = useMemo(() => heightOf([picture.all]), [picture]);
  const wholeOfLane = useMemo(() => picture.isTime ? 1 : heightOf(picture.lanes), [picture]);
  const processes = new Set(picture.lanes.map((lane) => lane.process)).size;
  const zoom = (factor: number) => {
    const middle = point?.at ?? Math.floor((range.from + range.to) / 2);
    const half = Math.max(1, Math.round(factor * (range.to - range.from) / 2));
    setRange({ from: middle - half, to: middle + half }, slices.count);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const now = point ?? { lane: Math.max(0, lanes.indexOf(chosen)), at: range.from - 1 };
    const move = (lane: number, at: number) => setPoint({
      lane: Math.max(0, Math.min(lanes.length - 1, lane)), at: Math.max(range.from, Math.min(range.to - 1, at)) });
    if (event.key === "ArrowRight") move(now.lane, now.at + 1);
    else if (event.key === "ArrowLeft") move(now.lane, now.at - 1);
    else if (event.key === "ArrowDown") move(now.lane + 1, now.at);
    else if (event.key === "ArrowUp") move(now.lane - 1, now.at);
    else if (event.key === "Enter" && point) tweak({ row: lanes[point.lane].key });
    else if (event.key === "+") zoom(0.5);
    else if (event.key === "-") zoom(2);
    else if (event.key === "0") tweak({ slices: "" });
    else return;
    event.preventDefault();
  };
  const isPart = range.from !== 0 || range.to !== slices.count;
  return (
    <div class="stack">
      <div class="bar-of-tools">
        <input type="search" placeholder="/ thread or process" aria-label="search threads" value={query.get("q") ?? ""}
               onInput={(event) => tweak({ q: (event.target as HTMLInputElement).value })} />
        {document.slices.length > 1 && <select aria-label="run" value={String(run)} onChange={(event) => tweak({ run: (event.target as HTMLSelectElement).value, slices: "", row: "" })}>
          {document.slices.map((one, i) => <option value={String(i)}>run {one.run + 1}</option>)}</select>}
        {sampledEvents(document).length > 1 && <select aria-label="event" value={picture.event.name} onChange={(event) => tweak({ ev: (event.target as HTMLSelectElement).value })}>
          {sampledEvents(document).map((one) => <option>{one.name}</option>)}</select>}
        {canShowConstructs && <span class="choice" role="group" aria-label="colours">
          {(["construct", "mode"] as Colours[]).map((one) => <button type="button" aria-pressed={one === colours} onClick={() => tweak({ colour: one === "mode" ? "mode" : "" })}>{one === "mode" ? "user, kernel" : "OpenMP constructs"}</button>)}</span>}
        <span>{seconds(slices, range.from)}–{seconds(slices, range.to)} s</span>
        {isPart && <button type="button" class="chip" title="show the whole run" onClick={() => tweak({ slices: "" })}>part of the run ×</button>}
        <span class="legend">{picture.layers.map((layer) => <span><i class={`swatch ${layer.look}`} /> {markOf(layer)}{layer.title}</span>)}</span>
      </div>
      <div class="time" role="application" tabIndex={0} onKeyDown={onKey} onBlur={() => setPoint(null)}
           aria-label={`threads over time, ${picture.event.name}: arrow keys go through slices and lanes, Enter shows a lane's figures, plus and minus zoom`}>
        <Axis picture={picture} range={range} />
        {lanes.map((lane, i) => (
          <>
            {i > 0 && processes > 1 && lane.process !== lanes[i - 1].process && <h2 class="of-process">{lane.process}</h2>}
            <LaneOf key={lane.key} picture={picture} lane={lane} range={range} whole={i === 0 ? wholeOfAll : wholeOfLane} isChosen={lane === chosen}
                    cursor={point?.lane === i ? point.at : null} onPoint={(at) => setPoint(at === null ? null : { lane: i, at })}
                    onDrag={(to) => setRange(to, slices.count)} />
          </>
        ))}
        {found.length === 0 && <p class="dim">no thread matches</p>}
      </div>
      {found.length > FEW_LANES && <button type="button" class="more" aria-expanded={isAll} onClick={() => tweak({ all: isAll ? "" : "1" })}>
        {isAll ? "the busiest threads only" : `${found.length - FEW_LANES} more threads, less busy`}</button>}
      <SliceTable picture={picture} lane={chosen} range={range} sort={query.get("sort") ?? "from"} cursor={point && lanes[point.lane] === chosen ? point.at : null} />
    </div>
  );
}

export function TimeScreen({ index, route }: { index: Index.IndexDocument; route: Route }): JSX.Element {
  const isThere = index.documents.timeline?.is_there;
  const timeline = useDocument<Timeline.TimelineDocument>(route.profile, isThere ? "timeline" : "index");
  if (!isThere) return <NotRecorded index={index} name="timeline">Nothing was kept by time: samples are, simulated runs and files of earlier versions are not.</NotRecorded>;
  return <Waiting loaded={timeline}>{(value) => <TimeOf document={value} route={route} />}</Waiting>;
}
