// One cell of a scan: what an iteration costs by place. Two cells: why they differ.

import type { JSX } from "preact";

import { amount } from "./format";
import { tweak, type Route } from "./route";
import { costText } from "./scan_curves";
import { CopyButtons, Table, type ColumnOf } from "./table";
import type { Scan, ScanExplain, ScanOne } from "./types";
import { useDocument, Waiting } from "./use_document";

const LEVELS = ["line", "instruction", "function"] as const;
type Row = ScanOne.ScanOneDocument["rows"][number];

const signed = (value: number): string => `${value > 0 ? "+" : ""}${amount(value)}`;
const listed = (remarks: ScanOne.Remarks): string => remarks.map((one) => `${one.function} ${signed(one.instructions)}`).join(", ");
const costOf = (costs: ScanOne.Costs, event: string) => costs[event] ?? { value: 0, error: 0 };

function Places({ costs, route }: { costs: ScanOne.ScanOneDocument; route: Route }): JSX.Element {
  if (costs.refused) {
    return <p class="missing">No number is the cost of an iteration: these grow by more than the loop count does: {listed(costs.growing)} instructions between {costs.first_runs} and {costs.last_runs} runs.</p>;
  }
  const totals = costs.per_iteration ?? {};
  const events = Object.keys(totals);
  const sort = route.query.get("sort") ?? (costs.by === "instruction" ? "" : `-${events[0] ?? ""}`);
  const columns: ColumnOf<Row>[] = [
    ...events.slice(0, 4).map((event) => eventColumn(event, costOf(totals, event).value)),
    { key: "place", title: costs.by, isText: true, width: costs.by === "function" ? 320 : 150, value: (row) => row.name, draw: (row) => <span title={row.function}>{row.name}{row.varies ? " *" : ""}</span> },
    ...(costs.by === "function" ? [] : [{ key: "detail", title: costs.by === "line" ? "source" : "instruction", isText: true, width: 360, value: (row: Row) => row.detail, draw: (row: Row) => <code>{row.detail}</code> }]),
    ...events.slice(4).map((event) => eventColumn(event, costOf(totals, event).value)),
  ];
  return (
    <>
      <p class="dim">An iteration: {events.slice(0, 6).map((event) => `${costText(costOf(totals, event).value, costOf(totals, event).error)} ${event}`).join(", ")}; from runs of {costs.first_runs} to {costs.last_runs}.
        {costs.varies && " * iterations differ: a mean of those that were run."}
        {costs.once.length > 0 && ` Once, and in no number here: ${listed(costs.once)} instructions.`}</p>
      <Table label="costs by place" columns={columns} rows={costs.rows} keyOf={(row) => `${row.function} ${row.name}`} sort={sort} isSorted={sort === ""}
             onSort={(now) => tweak({ sort: now })} height={`min(34vh, ${48 + 22 * Math.max(1, costs.rows.length)}px)`} empty="no instruction runs more often with more iterations" />
      <CopyButtons columns={columns} rows={costs.rows} sort={sort} />
    </>
  );
}

function eventColumn(event: string, total: number): ColumnOf<Row> {
  return { key: event, title: event, width: Math.max(84, 16 + 8 * event.length), value: (row) => costOf(row.per_iteration, event).value,
    draw: (row) => { const cost = costOf(row.per_iteration, event); return cost.value === 0 ? "·" : costText(cost.value, cost.error); },
    share: (row) => total > 0 ? costOf(row.per_iteration, event).value / total : 0 };
}

function Code({ pair }: { pair: ScanExplain.ScanExplainDocument["code"][number] }): JSX.Element {
  const side = (name: string, code: ScanExplain.Instructions): JSX.Element => (
    <table class="plain code"><caption class="hidden">{name}</caption><tbody>{code.map((one) => (
      <tr><td class="number">{costText(one.executions, 0)}</td><td><code title={one.address}>{one.text}</code></td></tr>))}
      {code.length === 0 && <tr><td class="dim">nothing</td></tr>}</tbody></table>
  );
  return (
    <section aria-label={pair.line || "code without lines"}><h3>{pair.line || "code without lines"} <code class="dim">{pair.source}</code></h3>
      <div class="two">{side("A", pair.a)}{side("B", pair.b)}</div></section>
  );
}

const MOST_LINES = 12;

function Explanation({ found }: { found: ScanExplain.ScanExplainDocument }): JSX.Element {
  const remarks = [...found.remarks_a.map((one) => ({ ...one, side: "A" })), ...found.remarks_b.map((one) => ({ ...one, side: "B" }))];
  return (
    <>
      {found.causes.length === 0 && <p>{found.events.length === 0 ? "Nothing differs." : "No cause stands out."}</p>}
      <ol class="advice causes">{found.causes.map((one) => (
        <li><div class="gain">{costText(one.weight, one.weight / 100)}<small>{one.unit}</small></div><div><b>{one.text}</b> <code>{one.place}</code></div></li>))}</ol>
      <div class="two">
        <table class="plain"><caption>events that differ, per iteration</caption><thead><tr><th>event</th><th class="number">A</th><th class="number">B</th></tr></thead>
          <tbody>{found.events.map((one) => <tr><th scope="row">{one.name}</th><td class="number">{costText(one.a, 0)}</td><td class="number">{costText(one.b, 0)}</td></tr>)}</tbody></table>
        <table class="plain"><caption>instructions by line</caption><thead><tr><th>line</th><th class="number">A</th><th class="number">B</th></tr></thead>
          <tbody>{found.instructions_by_line.map((one) => <tr><th scope="row">{one.name}</th><td class="number">{costText(one.a, 0)}</td><td class="number">{costText(one.b, 0)}</td></tr>)}</tbody></table>
      </div>
      {remarks.length > 0 && <table class="plain"><caption>what the compilers said of these lines</caption>
        <tbody>{remarks.map((one) => <tr><td>{one.side}</td><td>{one.place}</td><td>{one.missed ? "missed: " : ""}{one.text}</td></tr>)}</tbody></table>}
      {found.code.slice(0, MOST_LINES).map((pair) => <Code pair={pair} />)}
      {found.code.length > MOST_LINES && <p class="dim">{found.code.length - MOST_LINES} more lines: culprit scan explain --limit 0</p>}
    </>
  );
}

function Explained({ profile, a, b }: { profile: number; a: number; b: number }): JSX.Element {
  const found = useDocument<ScanExplain.ScanExplainDocument>(profile, `scan/explain/${a}/${b}`);
  return <Waiting loaded={found}>{(value) => <Explanation found={value} />}</Waiting>;
}

/// Cells that were measured, those of the same program and size first.
function partners(scan: Scan.ScanDocument, cell: number): number[] {
  const isNear = (other: number): boolean => scan.program[other] === scan.program[cell]
    && Object.values(scan.parameters).every((values) => values[other] === values[cell]);
  const all = scan.name.map((_, i) => i).filter((i) => i !== cell && (scan.missing[i] === "-" || scan.missing[i] === ""));
  return [...all.filter(isNear), ...all.filter((i) => !isNear(i))];
}

export function CellPanes({ scan, cell, beside, route }: { scan: Scan.ScanDocument; cell: number; beside: number | null; route: Route }): JSX.Element {
  const level = LEVELS.find((one) => one === route.query.get("level")) ?? "line";
  const isMeasured = scan.missing[cell] === "-" || scan.missing[cell] === "grows";
  const costs = useDocument<ScanOne.ScanOneDocument>(route.profile, isMeasured ? `scan/cell/${cell}/${level}` : "index");
  const [a, b] = beside === null ? [cell, null] : [Math.min(cell, beside), Math.max(cell, beside)];
  return (
    <>
      <section class="pane cell" aria-label="cell" tabIndex={0}><h2>{scan.name[cell]} <small>{scan.compiler[cell]}</small></h2>
        <div class="bar-of-tools small">
          <span class="choice" role="group" aria-label="level">{LEVELS.map((one) => <button type="button" aria-pressed={one === level} onClick={() => tweak({ level: one, sort: "" })}>{one}</button>)}</span>
          <label>why it differs from <select value={beside === null ? "" : scan.name[beside]} onChange={(event) => tweak({ b: (event.target as HTMLSelectElement).value })}>
            <option value="">–</option>{partners(scan, cell).map((one) => <option value={scan.name[one]}>{scan.name[one]}</option>)}</select></label>
        </div>
        <p class="dim"><code>{scan.build[cell]}</code></p>
        {isMeasured ? <Waiting loaded={costs}>{(value) => <Places costs={value} route={route} />}</Waiting>
          : <div class="missing"><p>{scan.missing[cell]}</p><pre tabIndex={0}>{scan.message[cell]}</pre></div>}
      </section>
      {b !== null && isMeasured && <section class="pane cell" aria-label="why they differ" tabIndex={0}>
        <h2>A {scan.name[a]} <small>against</small> B {scan.name[b]}</h2><Explained profile={route.profile} a={a} b={b} /></section>}
    </>
  );
}
