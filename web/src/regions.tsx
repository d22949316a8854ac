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

function placeOf(one: Construct): string {
  return one.file ? `${fileName(one.file)}:${one.first_line}${one.last_line > one.first_line ? `–${one.last_line}` : ""}` : shortName(one.function);
}

function Threads({ one }: { one: Construct }): JSX.Element {
  const longest = Math.max(1, ...one.threads.map((thread) => thread.whole_ns));
  return (
    <section class="pane" aria-label="threads" tabIndex={0}><h2>{one.type} {placeOf(one)} by thread</h2>
      {one.threads.map((thread) => (
        <div class="lane"><span class="name">{thread.thread}</span>
          <span class="parts" title={PARTS.map(([key, title]) => `${title} ${duration(thread[key])}`).join("\n")}>
            {PARTS.map(([key, title]) => <span class={`part ${title.replace(" ", "-")}`} style={{ width: `${100 * thread[key] / longest}%` }} />)}</span>
          <span class="number">{duration(thread.whole_ns)}</span></div>
      ))}
      <p class="legend">{PARTS.map(([, title]) => <span><i class={`part ${title.replace(" ", "-")}`} /> {title}</span>)}</p>
    </section>
  );
}

function RegionsOf({ regions, route }: { regions: Regions.RegionsDocument; route: Route }): JSX.Element {
  const sort = route.query.get("sort") ?? "-whole_ns";
  const columns: ColumnOf<Construct>[] = [
    { key: "whole_ns", title: "~whole", width: 90, value: (row) => row.sum.whole_ns, draw: (row) => duration(row.sum.whole_ns), share: (row) => row.sum.whole_ns / Math.max(1, ...regions.constructs.map((one) => one.sum.whole_ns)) },
    ...PARTS.map(([key, title]): ColumnOf<Construct> => ({ key, title: `~${title}`, width: 96, value: (row) => row.sum[key], draw: (row) => row.sum[key] === 0 ? "·" : duration(row.sum[key]) })),
    { key: "executions", title: "=executions", width: 96, value: (row) => row.sum.executions, draw: (row) => row.sum.executions.toLocaleString("en") },
    { key: "type", title: "construct", isText: true, width: 140, value: (row) => row.type },
    { key: "place", title: "place", isText: true, value: placeOf, draw: (row) => <span title={row.function}>{placeOf(row)} <span class="dim">{row.name || shortName(row.function)}</span></span> },
  ];
  const chosen = regions.constructs.find((one) => one.id === route.query.get("row"))
    ?? regions.constructs.reduce((best, one) => one.sum.whole_ns > best.sum.whole_ns ? one : best, regions.constructs[0]);
  return (
    <div class="stack">
      <p>{duration(regions.program_wall_ns)} in all, {percent(regions.parallel_wall_ns / regions.program_wall_ns)} of it in parallel regions; at most {regions.most_threads} threads.</p>
      {regions.findings.length > 0 && <ol class="advice">{regions.findings.map((one) => (
        <li><div class="gain">{percent(one.severity, 0)}<small>at most {duration(one.saves_at_most_ns)}</small></div>
          <div><b>{one.property}</b> <code>{one.construct}</code><p>{one.advice}</p><span class="dim">waiting: {duration(one.waiting_ns)}</span></div></li>))}</ol>}
      <Table label="constructs" columns={columns} rows={regions.constructs} keyOf={(row) => row.id} sort={sort} onSort={(now) => tweak({ sort: now })}
             selected={chosen?.id ?? null} onSelect={(row) => tweak({ row: row.id })} height="40vh" />
      {chosen && <Threads one={chosen} />}
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
