// What takes the cycles and what to change, without a click.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

import { prepare } from "./carrier";
import { amount, duration, inUnit, MARKS, MARK_WORDS, percent, shortName, fileName } from "./format";
import { isThin } from "./functions";
import { placesOf } from "./places";
import { go, type Route } from "./route";
import { Table, type ColumnOf } from "./table";
import type { Index, Table as TableTypes, Why } from "./types";
import { useDocument, Waiting } from "./use_document";

export interface CostNode {
  label: string;
  kind: string;
  branch: string;
  state: string;
  reason: string;
  cycles: { value: number; error: number } | null;
  provenance: "counted" | "sampled" | "modelled";
  in_sum: boolean;
  event: { name: string; count: { value: number; error: number } | null; problem: string; advice: string;
           penalty: number | null; penalty_source: string } | null;
  parts: CostNode[];
}
interface CostRow { path: string; depth: number; node: CostNode }

function flatten(node: CostNode, isOpen: (path: string, depth: number) => boolean): CostRow[] {
  const rows: CostRow[] = [];
  const walk = (at: CostNode, path: string, depth: number) => {
    rows.push({ path, depth, node: at });
    if (!isOpen(path, depth)) return;
    at.parts.forEach((part, i) => {
      // A level's own sum stands in the level's row already.
      const repeats = part.kind === "event" && part.label === at.label;
      if (!repeats) walk(part, `${path}.${i}`, depth + 1);
    });
  };
  walk(node, "0", 0);
  return rows;
}

const STATES: Record<string, string> = {
  not_recorded: "not recorded", not_covered: "not covered", partly_measured: "partly measured",
};

function CostTree({ why }: { why: Why.WhyDocument }): JSX.Element {
  const [toggled, setToggled] = useState<Set<string>>(new Set());
  const [selected, setSelected] = useState<string | null>(null);
  const tree = why.tree as unknown as CostNode;
  const total = tree.cycles?.value ?? 0;
  const isOpen = (path: string, depth: number) => (depth < 2) !== toggled.has(path);
  const rows = flatten(tree, isOpen);
  const hasParts = (row: CostRow) => row.node.parts.some((part) => part.label !== row.node.label || part.kind !== "event");
  const columns: ColumnOf<CostRow>[] = [
    { key: "label", title: "tree of cycles", isText: true, value: (row) => row.node.label },
    { key: "cycles", title: "cycles", width: 110, value: (row) => row.node.cycles?.value ?? null,
      draw: (row) => row.node.cycles
        ? <span title={MARK_WORDS[row.node.provenance]}>{MARKS[row.node.provenance]}{amount(row.node.cycles.value)}</span>
        : <span class="dim" title={row.node.reason}>{STATES[row.node.state] ?? "–"}</span> },
    { key: "share", title: "share", width: 130, value: (row) => row.node.cycles ? row.node.cycles.value / total : null,
      draw: (row) => row.node.cycles && total > 0
        ? <>{percent(row.node.cycles.value / total)}{row.node.cycles.error > 0 && <span class="dim"> ±{percent(2 * row.node.cycles.error / total)}</span>}</>
        : "–",
      share: (row) => row.node.cycles && total > 0 ? row.node.cycles.value / total : 0 },
    { key: "count", title: "events", width: 90, value: (row) => row.node.event?.count?.value ?? null,
      draw: (row) => row.node.event?.count ? amount(row.node.event.count.value) : "" },
  ];
  const chosen = rows.find((row) => row.path === selected)?.node;
  return (
    <section aria-label="tree of cycles" class="grow">
      <h2>Where the cycles went</h2>
      <Table label="tree of cycles" columns={columns} rows={rows} keyOf={(row) => row.path} sort="" isSorted
             selected={selected} onSelect={(row) => setSelected(row.path)}
             levelOf={(row) => row.depth} isOpen={(row) => hasParts(row) ? isOpen(row.path, row.depth) : null}
             onToggle={(row) => setToggled((was) => {
               const now = new Set(was);
               if (!now.delete(row.path)) now.add(row.path);
               return now;
             })}
             classOf={(row) => `${row.node.kind} ${row.node.in_sum ? "" : "beside"}`} />
      {chosen?.event && (
        <p class="explain"><b>{chosen.label}</b> {chosen.event.problem} {chosen.event.advice}
          {chosen.event.penalty !== null && <span class="dim"> {chosen.event.penalty} cycles each: {chosen.event.penalty_source}</span>}</p>
      )}
      {chosen && chosen.reason && <p class="explain">{chosen.reason}</p>}
    </section>
  );
}

/// How a verdict begins, by how sure it is.
const CERTAINTY: Record<string, string> = { firm: "It is", candidate: "It may be", none: "Not sure; most is" };

/// Whether no template says what cycles are made of: the profile has the cycles alone.
function isTimeOnly(why: Why.WhyDocument): boolean {
  return why.template.name === "";
}

/// Work of the kernel that is the verdict: what it is, how much, and who asks for it.
function KernelVerdict({ why }: { why: Why.WhyDocument }): JSX.Element | null {
  const { verdict, kernel } = why;
  const part = kernel?.parts.find((one) => one.kind === verdict.kernel);
  if (!part) return null;
  return (
    <section class={`verdict ${verdict.certainty}`} aria-label="verdict">
      <h2>{CERTAINTY[verdict.certainty]} <em>{part.title}</em> in the kernel</h2>
      <p>{verdict.reason}</p>
      <p class="dim">{percent(part.share?.value ?? NaN)} of the time: {part.calls.map((one) => one.name).slice(0, 3).join(", ")}
        {part.function && `; asked for by ${shortName(part.function)} ${part.line}`}</p>
    </section>
  );
}

/// Work of the C library that is the verdict.
function LibraryVerdict({ why }: { why: Why.WhyDocument }): JSX.Element | null {
  const { verdict } = why;
  const part = why.library.find((one) => one.kind === verdict.library);
  if (!part) return null;
  return (
    <section class={`verdict ${verdict.certainty}`} aria-label="verdict">
      <h2>{CERTAINTY[verdict.certainty]} <em>{part.title}</em></h2>
      <p>{verdict.reason}</p>
      <p class="dim">{percent(part.share?.value ?? NaN)} of the time, in {shortName(part.function)} of the C library</p>
    </section>
  );
}

function Verdict({ why }: { why: Why.WhyDocument }): JSX.Element {
  const { verdict } = why;
  if (verdict.waiting) {
    return (
      <section class={`verdict ${verdict.certainty}`} aria-label="verdict">
        <h2>{CERTAINTY[verdict.certainty]} <em>waiting</em>: {verdict.waiting.kind}</h2>
        <p>{verdict.reason}</p>
        <p class="dim">{verdict.waiting.words}</p>
      </section>
    );
  }
  if (verdict.kernel) return <KernelVerdict why={why} /> as JSX.Element;
  if (verdict.library) return <LibraryVerdict why={why} /> as JSX.Element;
  if (isTimeOnly(why)) {
    return (
      <section class="verdict none" aria-label="verdict"><h2>Where the time went</h2>
        <p>Only time was recorded. What took it is not covered.</p></section>
    );
  }
  const branch = verdict.branch?.replace(/_/g, " ");
  return (
    <section class={`verdict ${verdict.certainty}`} aria-label="verdict">
      <h2>{branch ? <>{CERTAINTY[verdict.certainty]} <em>{branch}</em></> : "No single cause"}</h2>
      <p>{verdict.reason}</p>
      {why.measured?.measured && (
        <p class="dim">measured {amount(why.measured.measured.value)} cycles ({why.measured.samples.toLocaleString("en")} samples),
          modelled {amount(why.measured.modelled)}; {percent((why.measured.kernel?.value ?? NaN) / why.measured.measured.value)} in the kernel,
          unexplained {percent((why.measured.unexplained?.value ?? NaN) / why.measured.measured.value)}</p>
      )}
      {!why.template.validated && <p class="dim">template {why.template.name}: not validated on hardware</p>}
    </section>
  );
}

/// What threads did while they did not run: of all their time.
function Waits({ why }: { why: Why.WhyDocument }): JSX.Element | null {
  const { waiting } = why;
  if (!waiting) return null;
  const all = waiting.on_cpu_ns + waiting.waiting_ns + waiting.preempted_ns;
  return (
    <section aria-label="waiting" class="explain">
      <b>Time of all threads, {duration(all)}:</b> {percent(waiting.on_cpu_ns / all)} on a CPU, {percent(waiting.waiting_ns / all)} waiting, {percent(waiting.preempted_ns / all)} preempted
      <table class="plain"><tbody>{waiting.kinds.map((one) => (
        <tr><td class="number">{duration(one.ns)}</td><td class="number">{percent(one.ns / all)}</td><td>{one.kind}</td>
          <td class="dim" title={one.function}>{one.function && `${shortName(one.function)}, ${percent(one.share, 0)} of it`}</td></tr>
      ))}</tbody></table>
    </section>
  );
}

/// What an experiment changed: "with all threads on one CPU".
function changeOf(why: Why.WhyDocument, experiment: string): string {
  return why.tried.find((one) => one.experiment === experiment)?.change ?? experiment;
}

function AdviceList({ why, profile }: { why: Why.WhyDocument; profile: number }): JSX.Element {
  return (
    <section aria-label="what to change">
      <h2>What to change</h2>
      {why.advice.length === 0 && <p class="missing">{isTimeOnly(why) ? "not covered: advice needs what took the time" : "nothing that would gain much"}</p>}
      <ol class="advice">
        {why.advice.map((one) => (
          <li>
            {one.gain
              ? <div class="gain" title={one.tried === null
                  ? `forecast: the model ran without this cost; at most ${percent(one.at_most, 0)}`
                  : `measured: the command ran again ${changeOf(why, one.tried)}`}>{percent(one.gain.expected, 0)}
                  <small>{one.tried === null ? "expected" : "measured"}, {percent(one.gain.low, 0)} to {percent(one.gain.high, 0)}</small></div>
              : <div class="gain" title="of all cycles, if this cost were gone: at most">{percent(one.at_most, 0)}<small>at most</small></div>}
            <div>
              <b>{one.label}</b> <span class="dim">{one.branch.replace(/_/g, " ")}, {percent(one.share)} of the cycles</span>
              {one.here && <p>{one.here}</p>}
              <p>{one.problem} {one.advice}</p>
              {one.function && (
                <a href={`#1/${profile}/functions?q=${encodeURIComponent(`^${one.function.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}`)}`}>
                  {shortName(one.function)}</a>
              )} <code>{one.line}</code> <span class="dim">{percent(one.share_of_cost, 0)} of it there</span>
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Hottest({ route }: { route: Route }): JSX.Element {
  const table = useDocument<TableTypes.TableDocument>(route.profile, "hottest");
  return (
    <section aria-label="hottest functions">
      <h2><a href={`#1/${route.profile}/functions`}>Hottest functions</a></h2>
      <Waiting loaded={table}>{(value) => {
        const { measures, rows: all } = placesOf(value, null);
        const first = measures[0];
        const rows = all.filter((row) => row.values[0] > 0);
        return (
          <table class="plain">
            <thead><tr><th class="number">{MARKS[first.provenance]}{first.name}</th><th class="number">share</th><th>function</th><th>module</th></tr></thead>
            <tbody>
              {rows.map((row) => (
                <tr onClick={() => go({ profile: route.profile, screen: "function", what: row.id })}>
                  <td class={`number ${isThin(first, row.samples[0]) ? "thin" : ""}`} title={isThin(first, row.samples[0]) ? `too few samples: ${row.samples[0]}` : undefined}>{inUnit(row.values[0], first.unit)}</td>
                  <td class="number barred"><span class="bar" style={{ width: `${100 * row.values[0] / first.total}%` }} aria-hidden="true" />
                    <span class="cell">{percent(row.values[0] / first.total)}{row.errors[0] > 0 && <span class="dim"> ±{(196 * row.errors[0] / first.total).toFixed(1)}</span>}</span></td>
                  <td><a href={`#1/${route.profile}/function/${row.id}`} title={row.name}>{shortName(row.name)}</a></td>
                  <td class="dim" title={row.module}>{fileName(row.module)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        );
      }}</Waiting>
    </section>
  );
}

export function Overview({ index, route }: { index: Index.IndexDocument; route: Route }): JSX.Element {
  const why = useDocument<Why.WhyDocument>(route.profile, "why");
  const simulated = index.documents.costs?.is_there;
  // The functions are what most people open next, and take longest to make.
  useEffect(() => {
    if (why === null) return;
    for (const name of ["places", "costs"]) if (index.documents[name]?.is_there) prepare(route.profile, name);
  }, [why]);
  return (
    <div class="overview">
      <div class="column">
        <Waiting loaded={why}>{(value) => <>
          <Verdict why={value} />
          {!simulated && !index.machine.has_pmu && (
            <p class="next">{isTimeOnly(value) ? "This profile says where the time went. What took it" : "No cycles were counted. What takes them"}: <code>{index.documents.costs?.filled_by}</code></p>
          )}
          <Waits why={value} />
          <CostTree why={value} />
        </>}</Waiting>
      </div>
      <div class="column">
        <Waiting loaded={why}>{(value) => <AdviceList why={value} profile={route.profile} />}</Waiting>
        <Hottest route={route} />
      </div>
    </div>
  );
}
