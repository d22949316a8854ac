// OpenMP constructs: where threads worked and where they waited.

import type { JSX } from "preact";

import { duration, fileName, percent, shortName } from "./format";
import { tweak, type Route } from "./route";
import { Table, type ColumnOf } from "./table";
import type { Index, Regions } from "./types";
import { NotRecorded, useDocument, Waiting } from "./use_document";

type Construct = Regions.RegionsDocument["constructs"][number];
const PARTS: [key: "enter_ns" | "body_ns" | "wait_ns" | "exit_barrier_ns" | "exit_ns", title: string][] =
  [["enter_ns", "enter"], ["body_ns", "body"], ["wait_ns", "wait"], ["exit_barrier_ns", "exit barrier"], ["exit_ns", "exit"]];

/// Of a simulated run nobody knows the times: constructs have counts.
type Thread = Construct["threads"][number];
type Part = { title: string; value: (of: Thread | Construct["sum"]) => number; draw: (value: number) => string };
function partsOf(regions: Regions.RegionsDocument): Part[] {
  if (regions.has_times) return PARTS.map(([key, title]) => ({ title, value: (of) => of[key] ?? 0, draw: duration }));
  const draw = (value: number): string => Math.round(value).toLocaleString("en");
  const event = Object.keys(regions.counts)[0];
  if (event === undefined) return [];
  return [{ title: "body", value: (of) => of.counts[event]?.inside ?? 0, draw },
    { title: "wait", value: (of) => of.counts[event]?.waiting ?? 0, draw }];
}
function wholeOf(parts: Part[], of: Thread | Construct["sum"]): number {
  return parts.reduce((sum, part) => sum + part.value(of), 0);
}

function placeOf(one: Construct): string {
  return one.file ? `${fileName(one.file)}:${one.first_line}${one.last_line > one.first_line ? `–${one.last_line}` : ""}` : shortName(one.function);
}

function Threads({ one, parts }: { one: Construct; parts: Part[] }): JSX.Element {
  const longest = Math.max(1, ...one.threads.map((thread) => wholeOf(parts, thread)));
  const draw = parts[0]?.draw ?? duration;
  return (
    <section class="pane" aria-label="threads" tabIndex={0}><h2>{one.type} {placeOf(one)} by thread</h2>
      {one.threads.map((thread) => (
        <div class="lane"><span class="name">{thread.thread}</span>
          <span class="parts" title={parts.map((part) => `${part.title} ${part.draw(part.value(thread))}`).join("\n")}>
            {parts.map((part) => <span class={`part ${part.title.replace(" ", "-")}`} style={{ width: `${100 * part.value(thread) / longest}%` }} />)}</span>
          <span class="number">{draw(wholeOf(parts, thread))}</span></div>
      ))}
      <p class="legend">{parts.map(({ title }) => <span><i class={`part ${title.replace(" ", "-")}`} /> {title}</span>)}</p>
    </section>
  );
}

function RegionsOf({ regions, route }: { regions: Regions.RegionsDocument; route: Route }): JSX.Element {
  const sort = route.query.get("sort") ?? "-whole_ns";
  const parts = partsOf(regions);
  const mark = regions.has_times ? "~" : "=";
  const whole = (one: Construct): number => wholeOf(parts, one.sum);
  const largest = Math.max(1, ...regions.constructs.map(whole));
  const draw = parts[0]?.draw ?? duration;
  const columns: ColumnOf<Construct>[] = [
    { key: "whole_ns", title: `${mark}whole`, width: 90, value: whole, draw: (row) => draw(whole(row)), share: (row) => whole(row) / largest },
    ...parts.map((part): ColumnOf<Construct> => ({ key: part.title, title: `${mark}${part.title}`, width: 96, value: (row) => part.value(row.sum), draw: (row) => part.value(row.sum) === 0 ? "·" : part.draw(part.value(row.sum)) })),
    { key: "executions", title: "=executions", width: 96, value: (row) => row.sum.executions, draw: (row) => row.sum.executions.toLocaleString("en") },
    { key: "type", title: "construct", isText: true, width: 140, value: (row) => row.type },
    { key: "place", title: "place", isText: true, value: placeOf, draw: (row) => <span title={row.function}>{placeOf(row)} <span class="dim">{row.name || shortName(row.function)}</span></span> },
  ];
  const chosen = regions.constructs.find((one) => one.id === route.query.get("row"))
    ?? regions.constructs.reduce((best, one) => whole(one) > whole(best) ? one : best, regions.constructs[0]);
  return (
    <div class="stack">
      {!regions.has_times && <p>Simulated: constructs have no times; shown are {Object.keys(regions.counts)[0] ?? "no events"}, with the constructs inside them.</p>}
      {regions.has_times && <p>{duration(regions.program_wall_ns)} in all, {percent(regions.parallel_wall_ns / regions.program_wall_ns)} of it in parallel regions; at most {regions.most_threads} threads.</p>}
      {regions.findings.length > 0 && <ol class="advice">{regions.findings.map((one) => (
        <li><div class="gain">{percent(one.severity, 0)}<small>at most {duration(one.saves_at_most_ns)}</small></div>
          <div><b>{one.property}</b> <code>{one.construct}</code><p>{one.advice}</p><span class="dim">waiting: {duration(one.waiting_ns)}</span></div></li>))}</ol>}
      <Table label="constructs" columns={columns} rows={regions.constructs} keyOf={(row) => row.id} sort={sort} onSort={(now) => tweak({ sort: now })}
             selected={chosen?.id ?? null} onSelect={(row) => tweak({ row: row.id })} height="40vh" />
      {chosen && <Threads one={chosen} parts={parts} />}
      {regions.remarks.map((one) => <p class="hint">{one}</p>)}
    </div>
  );
}

export function RegionsScreen({ index, route }: { index: Index.IndexDocument; route: Route }): JSX.Element {
  const isThere = index.documents.regions?.is_there;
  const regions = useDocument<Regions.RegionsDocument>(route.profile, isThere ? "regions" : "index");
  if (!isThere) return <NotRecorded index={index} name="regions">No OpenMP construct and no marked region was recorded.</NotRecorded>;
  return <Waiting loaded={regions}>{(value) => <RegionsOf regions={value} route={route} />}</Waiting>;
}
