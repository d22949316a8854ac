// Who called what: an icicle (or a flame) of the tree of calls, and callers and callees of one
// function beside it.

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";

import { fileName, inUnit, MARKS, patternOf, percent, shortName } from "./format";
import { tweak, type Route } from "./route";
import { Table, type ColumnOf } from "./table";
import type { Calls as CallsTypes, Index } from "./types";
import { NotRecorded, useDocument, Waiting } from "./use_document";

interface Node { row: number; depth: number; name: string; module: string; value: number; self: number; from: number; parent: number }

/// Rows in the order of the tree, each with where it begins among its parent's value.
function place(calls: CallsTypes.CallsDocument): Node[] {
  const nodes: Node[] = [];
  const way: number[] = [];  // the rows above, by depth
  const used: number[] = [];  // how much of each is taken by children so far
  let top = 0;
  calls.depth.forEach((depth, row) => {
    way.length = depth;
    const parent = depth > 0 ? way[depth - 1] : -1;
    const from = parent < 0 ? top : nodes[parent].from + used[parent];
    const value = calls.value[row];
    nodes.push({ row, depth, name: calls.texts[calls.function[row]] || "[unknown]", module: calls.texts[calls.module[row]], value, self: calls.self[row], from, parent });
    if (parent < 0) top += value;
    else used[parent] += value;
    used[row] = 0;
    way[depth] = row;
  });
  return nodes;
}

const HEIGHT = 18, LEAST_WIDTH = 0.0012, MOST_BOXES = 4000;

function hue(text: string): number {
  let hash = 0;
  for (let i = 0; i < text.length; ++i) hash = (hash * 31 + text.charCodeAt(i)) >>> 0;
  return hash % 360;
}

function Icicle({ nodes, total, root, pattern, isFlame, unit }: { nodes: Node[]; total: number; root: Node | null; pattern: RegExp | null; isFlame: boolean; unit: string }): JSX.Element {
  const from = root?.from ?? 0, width = root?.value ?? total;
  const shown = nodes.filter((node) => node.value / width >= LEAST_WIDTH && node.from < from + width && node.from + node.value > from
    && (!root || node.depth >= root.depth || (node.from <= from && node.from + node.value >= from + width))).slice(0, MOST_BOXES);
  const deepest = Math.max(0, ...shown.map((node) => node.depth)) + 1;
  return (
    <div class="icicle" style={{ height: `${deepest * HEIGHT}px` }} role="tree" aria-label="tree of calls">
      {shown.map((node) => {
        const left = Math.max(0, (node.from - from) / width), right = Math.min(1, (node.from + node.value - from) / width);
        const y = isFlame ? (deepest - 1 - node.depth) * HEIGHT : node.depth * HEIGHT;
        const isFound = pattern?.test(node.name) ?? false;
        return (
          <button type="button" role="treeitem" aria-level={node.depth + 1} tabIndex={-1} class={`frame-of-call ${isFound ? "found" : ""} ${pattern && !isFound ? "faint" : ""}`}
                  style={{ left: `${100 * left}%`, width: `calc(${100 * (right - left)}% - 1px)`, top: `${y}px`, "--hue": String(hue(node.module)) } as JSX.CSSProperties}
                  title={`${node.name}\n${fileName(node.module)}\n${inUnit(node.value, unit)}, ${percent(node.value / total)}; by itself ${percent(node.self / total)}`}
                  onClick={() => tweak({ root: root?.row === node.row ? "" : String(node.row), of: node.name })}>
            {right - left > 0.02 ? shortName(node.name) : ""}
          </button>
        );
      })}
    </div>
  );
}

interface Neighbour { name: string; value: number }

function Neighbours({ title, rows, total, unit }: { title: string; rows: Neighbour[]; total: number; unit: string }): JSX.Element {
  const columns: ColumnOf<Neighbour>[] = [
    { key: "value", title: "value", width: 90, value: (row) => row.value, draw: (row) => inUnit(row.value, unit), share: (row) => row.value / total },
    { key: "share", title: "share", width: 70, value: (row) => row.value, draw: (row) => percent(row.value / total) },
    { key: "name", title, isText: true, value: (row) => row.name, draw: (row) => <span title={row.name}>{shortName(row.name)}</span> },
  ];
  return <Table label={title} columns={columns} rows={rows} keyOf={(row) => row.name} sort="-value" selected={null}
                onSelect={(row) => tweak({ of: row.name })} height="260px" empty="none" />;
}

function neighbours(nodes: Node[], name: string): { callers: Neighbour[]; callees: Neighbour[]; value: number; self: number } {
  const callers = new Map<string, number>(), callees = new Map<string, number>();
  let value = 0, self = 0;
  const inside = (node: Node): boolean => node.parent >= 0 && (nodes[node.parent].name === name || inside(nodes[node.parent]));
  for (const node of nodes) {
    if (node.name === name) {
      self += node.self;
      if (!inside(node)) {  // recursion counts once
        value += node.value;
        const caller = node.parent < 0 ? "(nobody known: recorded stacks begin here)" : nodes[node.parent].name;
        callers.set(caller, (callers.get(caller) ?? 0) + node.value);
      }
    } else if (node.parent >= 0 && nodes[node.parent].name === name) {
      callees.set(node.name, (callees.get(node.name) ?? 0) + node.value);
    }
  }
  const list = (map: Map<string, number>) => [...map].map(([of, sum]) => ({ name: of, value: sum }));
  return { callers: list(callers), callees: list(callees), value, self };
}

function CallsOf({ calls, route }: { calls: CallsTypes.CallsDocument; route: Route }): JSX.Element {
  const nodes = useMemo(() => place(calls), [calls]);
  const total = calls.column.total.value;
  const pattern = patternOf(route.query.get("q") ?? "");
  const root = nodes[Number(route.query.get("root") ?? -1)] ?? null;
  const of = route.query.get("of") ?? nodes.reduce((best, node) => node.self > best.self ? node : best, nodes[0])?.name ?? "";
  const beside = useMemo(() => neighbours(nodes, of), [nodes, of]);
  const isFlame = route.query.get("form") === "flame";
  return (
    <div class="stack">
      <div class="bar-of-tools">
        <label class="search"><span class="hidden">search calls</span><input type="search" placeholder="search (regular expression)   /" value={route.query.get("q") ?? ""}
          onInput={(event) => tweak({ q: (event.target as HTMLInputElement).value })} /></label>
        <span class="choice" role="group" aria-label="form">
          <button type="button" aria-pressed={!isFlame} onClick={() => tweak({ form: "" })}>icicle</button>
          <button type="button" aria-pressed={isFlame} onClick={() => tweak({ form: "flame" })}>flame</button></span>
        {root && <button type="button" class="chip" onClick={() => tweak({ root: "" })}>only {shortName(root.name)} ×</button>}
        <span class="dim">width: {MARKS[calls.column.provenance]}{calls.column.name}; colour: module; {inUnit(total, calls.column.unit)} in all</span>
      </div>
      <div class="icicle-frame" tabIndex={0} role="group" aria-label="tree of calls"><Icicle nodes={nodes} total={total} root={root} pattern={pattern} isFlame={isFlame} unit={calls.column.unit} /></div>
      <h2 title={of}>{shortName(of)} <small>{percent(beside.value / total)} with what it calls, {percent(beside.self / total)} by itself</small></h2>
      <div class="two"><Neighbours title="callers" rows={beside.callers} total={total} unit={calls.column.unit} />
        <Neighbours title="callees" rows={beside.callees} total={total} unit={calls.column.unit} /></div>
    </div>
  );
}

export function Calls({ index, route }: { index: Index.IndexDocument; route: Route }): JSX.Element {
  const calls = useDocument<CallsTypes.CallsDocument>(route.profile, index.documents.calls?.is_there ? "calls" : "index");
  if (!index.documents.calls?.is_there) return <NotRecorded index={index} name="calls">No call stacks were recorded.</NotRecorded>;
  return <Waiting loaded={calls}>{(value) => "depth" in value ? <CallsOf calls={value} route={route} /> : <p class="waiting">loading …</p>}</Waiting>;
}
