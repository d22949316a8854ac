// A scan: its cells, any quantity of theirs as curves over a size, and behind each point its code.

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";

import { get, getDocument, isOneFile } from "./carrier";
import { MARKS, MARK_WORDS } from "./format";
import { tweak, type Route } from "./route";
import { CellPanes } from "./scan_cell";
import { costText, curvesOf, markText, placeAlong, valuesAlong, type Panel } from "./scan_curves";
import { lookOf, Plot, Shape } from "./scan_plot";
import { CopyButtons, Table, type ColumnOf } from "./table";
import type { Index, Scan, ScanValues } from "./types";
import { NotRecorded, useDocument, usePromise, Waiting, type Loaded } from "./use_document";

type Values = ScanValues.ScanValuesDocument;
const KINDS: [kind: Scan.ScanDocument["quantities"][number]["kind"], title: string][] = [["preset", "presets"], ["event", "events"], ["build", "builds and time"]];

/// What `scan plot` takes where it is not told.
function usualQuantity(scan: Scan.ScanDocument): string {
  return (scan.quantities.find((one) => one.name === "instructions") ?? scan.quantities[0])?.name ?? "1";
}

function useValues(profile: number, scan: Scan.ScanDocument, expression: string): Loaded<Values | null> {
  const number = scan.quantities.findIndex((one) => one.name === expression);
  return usePromise<Values | null>(() => {
    if (expression === "") return Promise.resolve(null);
    if (number >= 0) return getDocument<Values>(profile, `scan/values/${number}`);
    return get<Values>(`d/${profile}/scan/expression/${encodeURIComponent(expression)}`, `scan/expression/${expression}`);
  }, `scan ${profile} ${expression}`);
}

const picked = (event: Event): string => (event.target as HTMLInputElement | HTMLSelectElement).value;

function hiddenOf(route: Route): string[] {
  try {
    const list: unknown = JSON.parse(route.query.get("hide") ?? "[]");
    return Array.isArray(list) ? list.map(String) : [];
  } catch {
    return [];
  }
}

function Tools({ scan, route, quantity, question }: { scan: Scan.ScanDocument; route: Route; quantity: string; question: { over: string; by: string; base: string } }): JSX.Element {
  const dimensions = scan.dimensions.filter((name) => valuesAlong(scan, name).length > 0);
  const isNamed = scan.quantities.some((one) => one.name === quantity);
  const flag = (key: string, title: string): JSX.Element =>
    <label><input type="checkbox" checked={route.query.get(key) === "1"} onChange={(event) => tweak({ [key]: (event.target as HTMLInputElement).checked ? "1" : "" })} /> {title}</label>;
  return (
    <div class="bar-of-tools">
      <label>plot <select value={isNamed ? quantity : ""} onChange={(event) => tweak({ ev: picked(event) })}>
        {!isNamed && <option value="">an expression</option>}
        {KINDS.map(([kind, title]) => <optgroup label={title}>{scan.quantities.filter((one) => one.kind === kind).map((one) => <option value={one.name} title={one.title}>{one.name}</option>)}</optgroup>)}</select></label>
      {!isOneFile && <label class="search"><span class="hidden">an expression</span><input type="search" placeholder="or: instructions / DIM" value={isNamed ? "" : quantity} onChange={(event) => tweak({ ev: picked(event) })} /></label>}
      <label>over <select value={question.over} onChange={(event) => tweak({ over: picked(event), base: "" })}>{dimensions.filter((one) => one !== question.by).map((one) => <option>{one}</option>)}</select></label>
      <label>by <select value={question.by} onChange={(event) => tweak({ by: picked(event), base: "", hide: "" })}>{dimensions.filter((one) => one !== question.over).map((one) => <option>{one}</option>)}</select></label>
      <label>ratio to <select value={question.base} onChange={(event) => tweak({ base: picked(event) })}><option value="">–</option>{valuesAlong(scan, question.by).map((one) => <option>{one}</option>)}</select></label>
      {!isOneFile && <label>expected <input type="search" placeholder="2*DIM" size={10} value={route.query.get("expect") ?? ""} onChange={(event) => tweak({ expect: picked(event) })} /></label>}
      {flag("logx", "log x")}{flag("logy", "log y")}
    </div>
  );
}

function ValueTable({ panel, over, chosen, onChoose }: { panel: Panel; over: string; chosen: number[]; onChoose: (cell: number) => void }): JSX.Element {
  return (
    <div class="matrix-frame" tabIndex={0} role="region" aria-label={`values${panel.title ? ` of ${panel.title}` : ""}`}><table class="plain values">
      {panel.title && <caption>{panel.title}</caption>}
      <thead><tr><th scope="col">{over}</th>{panel.xs.map((x) => <th scope="col" class="number">{x}</th>)}</tr></thead>
      <tbody>{panel.curves.map((curve) => (
        <tr><th scope="row">{curve.name}</th>{curve.marks.map((mark) => (
          <td class={`number ${mark.cell !== null && chosen.includes(mark.cell) ? "chosen" : ""} ${mark.value === null ? "dim" : ""}`} data-value={mark.value} data-error={mark.error} data-missing={mark.missing}
              onClick={() => mark.cell !== null && onChoose(mark.cell)}>{markText(mark)}</td>))}</tr>))}</tbody>
    </table></div>
  );
}

/// Cells by program, setup, then sizes: a scan measures them in any order.
function inOrder(scan: Scan.ScanDocument): number[] {
  const ranks = scan.dimensions.map((name) => {
    const values = valuesAlong(scan, name);
    return scan.name.map((_, cell) => values.indexOf(placeAlong(scan, name, cell)));
  });
  return scan.name.map((_, cell) => cell).sort((a, b) => {
    const rank = ranks.find((one) => one[a] !== one[b]);
    return rank ? rank[a] - rank[b] : 0;
  });
}

function Cells({ scan, values, chosen, route, onChoose }: { scan: Scan.ScanDocument; values: Values; chosen: number | null; route: Route; onChoose: (cell: number) => void }): JSX.Element {
  const sort = route.query.get("cells") ?? "";
  const words = scan.dimensions.slice(0, 2), parameters = scan.dimensions.slice(2);
  const along = (name: string): ColumnOf<number> => ({ key: name, title: name, isText: words.includes(name), width: words.includes(name) ? 190 : 76,
    value: (cell) => { const text = placeAlong(scan, name, cell); return text === "" ? null : Number.isNaN(Number(text)) ? text : Number(text); },
    draw: (cell) => placeAlong(scan, name, cell) || "–" });
  const columns: ColumnOf<number>[] = [
    { key: "value", title: `${MARKS[values.provenance]}value`, width: 110, value: (cell) => values.values[cell],
      draw: (cell) => { const value = values.values[cell]; return value === null ? "–" : costText(value, values.errors[cell]) + (scan.varies[cell] ? " *" : ""); } },
    ...parameters.map(along), ...words.map(along),
    { key: "state", title: "state", isText: true, value: (cell) => scan.missing[cell] === "-" ? (scan.idle[cell] ? "idle: probably optimised away" : "measured") : scan.missing[cell],
      draw: (cell) => scan.missing[cell] === "-" ? (scan.idle[cell] ? "idle: probably optimised away" : "measured")
        : <span class="thin" title={scan.message[cell]}>{scan.missing[cell]} <span class="dim">{scan.message[cell].split("\n")[0]}</span></span> },
  ];
  const rows = useMemo(() => inOrder(scan), [scan]);
  return (
    <>
      <div class="bar-of-tools"><b>{rows.length} cells</b>{scan.label && <span>of {scan.label}</span>}<CopyButtons columns={columns} rows={rows} sort={sort} /></div>
      <Table label="cells" columns={columns} rows={rows} keyOf={String} sort={sort} isSorted={sort === ""} onSort={(now) => tweak({ cells: now })}
             selected={chosen === null ? null : String(chosen)} onSelect={onChoose} height="26vh" />
    </>
  );
}

function ScanOf({ scan, route }: { scan: Scan.ScanDocument; route: Route }): JSX.Element {
  const quantity = route.query.get("ev") || usualQuantity(scan);
  const over = scan.dimensions.find((one) => one === route.query.get("over")) ?? scan.over;
  const by = scan.dimensions.find((one) => one === route.query.get("by") && one !== over)
    ?? (scan.by === over ? scan.dimensions.find((one) => one !== over)! : scan.by);
  const base = route.query.get("base") ?? "";
  const hidden = hiddenOf(route);
  const values = useValues(route.profile, scan, quantity);
  const expected = useValues(route.profile, scan, route.query.get("expect") ?? "");
  const cellNamed = (key: string): number | null => {
    const at = scan.name.indexOf(route.query.get(key) ?? "");
    return at < 0 ? null : at;
  };
  const a = cellNamed("a"), b = cellNamed("b");
  const chosen = [a, b].filter((one): one is number => one !== null);
  const choose = (cell: number): void => tweak({ a: scan.name[cell], b: b === cell ? "" : route.query.get("b") ?? "" });
  const question = { over, by, base };
  const expectedValues = expected && "value" in expected ? expected.value : null;
  const panels = useMemo(() => values && "value" in values && values.value ? curvesOf(scan, values.value, expectedValues, question) : [],
                         [scan, values, expectedValues, over, by, base]);
  const names = [...new Set(panels.flatMap((panel) => panel.curves.filter((curve) => !curve.isExpected).map((curve) => curve.name)))];
  const shown = panels.map((panel) => ({ ...panel, curves: panel.curves.filter((curve) => !hidden.includes(curve.name)) }));
  const toggle = (name: string): void => {
    const now = hidden.includes(name) ? hidden.filter((one) => one !== name) : [...hidden, name];
    tweak({ hide: now.length === 0 ? "" : JSON.stringify(now) });
  };
  return (
    <div class="scan">
      <Tools scan={scan} route={route} quantity={quantity} question={question} />
      {expected && "error" in expected && <p class="missing">{expected.error}</p>}
      <Waiting loaded={values}>{(drawn) => drawn === null ? <></> : <>
        <h1>{MARKS[drawn.provenance]}{drawn.title}{base && `, ratio to ${base}`} <small class="dim">per iteration, {MARK_WORDS[drawn.provenance]}</small></h1>
        <div class="bar-of-tools small" role="group" aria-label={`curves: ${by}`}>{names.map((name, number) => (
          <button type="button" class="curve" aria-pressed={!hidden.includes(name)} onClick={() => toggle(name)} title={hidden.includes(name) ? "show" : "hide"}>
            <svg width="30" height="12" aria-hidden="true"><path d="M0 6h30" fill="none" stroke={lookOf(number).colour} stroke-width="1.6" stroke-dasharray={lookOf(number).dashes} /><Shape look={lookOf(number)} x={15} y={6} /></svg> {name}</button>))}</div>
        <div class={shown.length > 1 ? "plots many" : "plots"}>{shown.map((panel) => (
          <Plot panel={panel} numberOf={(name) => names.indexOf(name)} over={over} label={drawn.title} logX={route.query.get("logx") === "1"} logY={route.query.get("logy") === "1"}
                isLarge={shown.length === 1} chosen={chosen} onChoose={choose} />))}</div>
        {drawn.caveat && <p class="hint">{drawn.caveat}</p>}
        <details open={route.query.get("values") === "1"} onToggle={(event) => tweak({ values: (event.target as HTMLDetailsElement).open ? "1" : "" })}><summary>The same as a table</summary>
          {shown.map((panel) => <ValueTable panel={panel} over={over} chosen={chosen} onChoose={choose} />)}</details>
        <Cells scan={scan} values={drawn} chosen={a} route={route} onChoose={choose} />
      </>}</Waiting>
      {a !== null ? <CellPanes scan={scan} cell={a} beside={b} route={route} /> : <p class="hint">A point, or a row above, leads to its code; two cells to why they differ.</p>}
    </div>
  );
}

export function ScanScreen({ index, route }: { index: Index.IndexDocument; route: Route }): JSX.Element {
  const isThere = index.documents.scan?.is_there;
  const scan = useDocument<Scan.ScanDocument>(route.profile, isThere ? "scan" : "index");
  if (!isThere) return <NotRecorded index={index} name="scan">This is no scan: a profile of one program.</NotRecorded>;
  return <Waiting loaded={scan}>{(value) => <ScanOf scan={value} route={route} />}</Waiting>;
}
