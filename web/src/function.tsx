// One function: source, assembly and blocks side by side. What is chosen in one is shown in the
// others.

import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";

import { BlocksPane } from "./blocks_pane";
import { largest, listInstructions, type Instruction, type Shown } from "./instructions";
import { StallLine, stallWords } from "./stalls";
import { amount, fileName, inUnit, MARKS, MARK_WORDS, percent, shortName } from "./format";
import { go, tweak, type Route } from "./route";
import { Table, type ColumnOf } from "./table";
import type { Function as Code, Index } from "./types";
import { useDocument, Waiting } from "./use_document";

function columnsOf(code: Code.FunctionDocument): Shown[] {
  return code.columns.map((one, column) => ({
    column, name: one.name, unit: one.unit, provenance: one.provenance, total: one.function.value,
  }));
}

/// The event that heat and blocks show, and those beside it.
function choose(all: Shown[], query: URLSearchParams): { main: Shown; beside: Shown[] } {
  const main = all.find((one) => one.name === query.get("ev")) ?? all[0];
  const usual = ["sim:cycles", "instructions", "L1-dcache-load-misses", "branch-misses"];
  const wanted = query.get("cols")?.split("~") ?? usual;
  return { main, beside: all.filter((one) => one !== main && wanted.includes(one.name)).slice(0, 6) };
}

function number(value: number, unit: string): string | JSX.Element {
  return value === 0 ? <span class="dim">·</span> : inUnit(value, unit);
}

function Assembly({ code, list, main, beside, selected, hovered, onSelect, onHover }: {
  code: Code.FunctionDocument; list: Instruction[]; main: Shown; beside: Shown[];
  selected: number | null; hovered: { line: string | null; block: number | null };
  onSelect: (at: Instruction) => void; onHover: (at: Instruction | null) => void;
}): JSX.Element {
  const { instructions } = code;
  const hottest = largest(instructions.values[main.column] ?? []);
  const valueColumn = (one: Shown): ColumnOf<Instruction> => ({
    key: one.name, title: `${MARKS[one.provenance]}${one.name}`, hint: MARK_WORDS[one.provenance],
    width: Math.max(74, Math.min(160, 28 + 8 * one.name.length)),
    value: (row) => instructions.values[one.column]?.[row.at] ?? 0,
    draw: (row) => number(instructions.values[one.column]?.[row.at] ?? 0, one.unit),
    share: one === main ? (row) => (instructions.values[one.column]?.[row.at] ?? 0) / hottest : undefined,
  });
  const hasCpi = instructions.cpi.some((one) => one !== null);
  const columns: ColumnOf<Instruction>[] = [
    valueColumn(main),
    ...(hasCpi ? [{ key: "cpi", title: "CPI", hint: "cycles per execution: 95 % interval", width: 84,
      value: (row: Instruction) => instructions.cpi[row.at]?.[1] ?? null,
      draw: (row: Instruction) => {
        const range = instructions.cpi[row.at];
        return range ? `${range[0].toFixed(1)}–${range[1].toFixed(1)}` : "";
      } }] : []),
    { key: "address", title: "address", width: 74, value: (row) => instructions.address[row.at].slice(2) },
    { key: "text", title: "instruction", isText: true, width: 230, value: (row) => instructions.text[row.at],
      draw: (row) => <code>{instructions.text[row.at] || <span class="dim">its code is not in the profile</span>}</code> },
    ...(instructions.stall.some((one) => one !== null) ? [{ key: "stall", title: "held up by", isText: true, width: 150,
      hint: `what cannot be ruled out, with the least and the most cycles per execution: ${code.legend}`,
      value: (row: Instruction) => stallWords(instructions.stall[row.at]),
      draw: (row: Instruction) => <span title={code.legend}>{stallWords(instructions.stall[row.at])}</span> }] : []),
    { key: "line", title: "line", isText: true, width: 84, value: (row) => lineName(code, row.at),
      draw: (row) => <span class="dim" title={stackWords(code, row.at)}>{lineName(code, row.at)}</span> },
    ...beside.map(valueColumn),
  ];
  return (
    <Table label="assembly" columns={columns} rows={list} keyOf={(row) => String(row.at)} sort="" isSorted
           selected={selected === null ? null : String(selected)} onSelect={onSelect} onHover={onHover}
           scrollTo={selected === null ? null : list.findIndex((row) => row.at === selected)}
           classOf={(row) => [
             list[row.at - 1]?.block !== row.block ? "begins" : "",
             hovered.line !== null && lineKey(code, row.at) === hovered.line ? "linked" : "",
             hovered.block === row.block ? "linked" : "",
           ].join(" ")} />
  );
}

function lineName(code: Code.FunctionDocument, at: number): string {
  const line = code.instructions.line[at];
  const file = code.files[code.instructions.file[at]];
  return line === 0 ? "" : file === code.file ? `:${line}` : `${fileName(file)}:${line}`;
}
function lineKey(code: Code.FunctionDocument, at: number): string {
  return `${code.instructions.file[at]}:${code.instructions.line[at]}`;
}
function stackWords(code: Code.FunctionDocument, at: number): string {
  const stack = code.inline_stacks[code.instructions.stack[at]] ?? [];
  return stack.map((one) => `${shortName(one.function)}, called at ${fileName(code.files[one.call_file])}:${one.call_line}`).join("\n");
}

interface SourceLine { key: string; at: number | null; file: number; line: number }

function Source({ code, main, file, selected, hovered, onSelect, onHover }: {
  code: Code.FunctionDocument; main: Shown; file: number; selected: string | null; hovered: string | null;
  onSelect: (key: string) => void; onHover: (key: string | null) => void;
}): JSX.Element {
  const { lines } = code;
  const rows = useMemo(() => lines.line.map((line, at): SourceLine => ({ key: `${lines.file[at]}:${line}`, at, file: lines.file[at], line }))
    .filter((row) => row.file === file).sort((a, b) => a.line - b.line), [code, file]);
  const hottest = largest(lines.values[main.column] ?? []);
  const hasCpi = lines.cpi.some((one) => one !== null);
  const columns: ColumnOf<SourceLine>[] = [
    { key: "value", title: `${MARKS[main.provenance]}${main.name}`, width: 92, value: (row) => lines.values[main.column]?.[row.at!] ?? 0,
      draw: (row) => number(lines.values[main.column]?.[row.at!] ?? 0, main.unit),
      share: (row) => (lines.values[main.column]?.[row.at!] ?? 0) / hottest },
    ...(hasCpi ? [{ key: "cpi", title: "CPI", width: 52, value: (row: SourceLine) => lines.cpi[row.at!]?.value ?? null,
      draw: (row: SourceLine) => lines.cpi[row.at!] ? lines.cpi[row.at!]!.value.toFixed(2) : "" }] : []),
    { key: "line", title: "line", width: 50, value: (row) => row.line },
    { key: "text", title: "source", isText: true, value: (row) => lines.text[row.at!] ?? "",
      draw: (row) => <code>{lines.text[row.at!] ?? <span class="dim">(the profile has no source of this line)</span>}</code> },
  ];
  return (
    <Table label="source" columns={columns} rows={rows} keyOf={(row) => row.key} sort="" isSorted selected={selected}
           onSelect={(row) => onSelect(row.key)} onHover={(row) => onHover(row?.key ?? null)}
           scrollTo={selected === null ? null : rows.findIndex((row) => row.key === selected)}
           classOf={(row) => hovered === row.key ? "linked" : ""} empty="no source of this file is in the profile" />
  );
}

function FunctionOf({ code, route }: { code: Code.FunctionDocument; route: Route }): JSX.Element {
  const list = useMemo(() => listInstructions(code), [code]);
  const all = columnsOf(code);
  const { main, beside } = choose(all, route.query);
  const panes = (route.query.get("panes") ?? "sab").split("");
  const selected = route.query.get("sel");
  const at = selected === null ? null : code.instructions.address.indexOf(`0x${selected}`);
  const chosen = at === null || at < 0 ? null : list.find((row) => row.at === at) ?? null;
  const [line, setLine] = useState<string | null>(null);
  const [hoveredLine, hoverLine] = useState<string | null>(null);
  const [hoveredBlock, hoverBlock] = useState<number | null>(null);
  const values = code.instructions.values[main?.column] ?? [];
  const byHeat = useMemo(() => list.map((row) => row.at).sort((a, b) => (values[b] ?? 0) - (values[a] ?? 0)), [code, main?.name]);
  // At first the hottest instruction is in sight.
  const shownAt = chosen?.at ?? byHeat[0] ?? null;
  const shownRow = list.find((row) => row.at === shownAt) ?? null;
  const shownLine = line ?? (shownAt === null ? null : lineKey(code, shownAt));
  const file = shownLine === null ? 0 : Number(shownLine.split(":")[0]);
  const select = (row: Instruction) => {
    setLine(lineKey(code, row.at));
    tweak({ sel: code.instructions.address[row.at].slice(2) });
  };
  const selectLine = (key: string) => {
    setLine(key);
    const first = byHeat.find((one) => lineKey(code, one) === key);
    if (first !== undefined) tweak({ sel: code.instructions.address[first].slice(2) });
  };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (/^(INPUT|SELECT|TEXTAREA)$/.test((event.target as HTMLElement).tagName) || event.ctrlKey || event.metaKey) return;
      if (event.key === "[" || event.key === "]") {
        const now = byHeat.indexOf(shownAt ?? -1);
        const next = byHeat[Math.min(byHeat.length - 1, Math.max(0, now + (event.key === "]" ? 1 : -1)))];
        const row = list.find((one) => one.at === next);
        if (row) select(row);
      } else if ("sab".includes(event.key)) {
        const now = panes.includes(event.key) ? panes.filter((one) => one !== event.key) : [...panes, event.key];
        if (now.length > 0) tweak({ panes: now.join("") });
      }
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  });
  if (!main) return <p class="missing">nothing of this function was counted</p>;
  const hoveredKey = hoveredLine;
  return (
    <div class="stack">
      <div class="bar-of-tools">
        <h1 title={code.function}>{shortName(code.function)}</h1>
        <span class="dim" title={code.module}>{fileName(code.module)}{code.file && `, ${fileName(code.file)}:${code.line}`}{code.inlined && `, inlined into ${code.places.length} places`}</span>
        <label>event <select value={main.name} onChange={(event) => tweak({ ev: (event.target as HTMLSelectElement).value })}>
          {all.map((one) => <option value={one.name}>{MARKS[one.provenance]}{one.name}</option>)}</select></label>
        <span>{inUnit(main.total, main.unit)}, {percent(main.total / (code.columns[main.column].total.value || 1))} of everything</span>
        {code.cpi && <span>CPI {code.cpi.value.toFixed(2)}<span class="dim"> ±{(1.96 * code.cpi.error).toFixed(2)}</span></span>}
        <span class="choice" role="group" aria-label="panes">
          {[["s", "source"], ["a", "assembly"], ["b", "blocks"]].map(([key, title]) => (
            <button type="button" aria-pressed={panes.includes(key)} onClick={() => {
              const now = panes.includes(key) ? panes.filter((one) => one !== key) : [...panes, key];
              if (now.length > 0) tweak({ panes: now.join("") });
            }}>{title}</button>
          ))}
        </span>
        <button type="button" onClick={() => go({ profile: route.profile, screen: "functions" })}>all functions</button>
      </div>
      {shownAt !== null && code.instructions.stack[shownAt] >= 0 && <p class="hint">{stackWords(code, shownAt).replace(/\n/g, " › ")}</p>}
      {shownAt !== null && <StallLine code={code} at={shownAt} onOpen={(address) => {
        const row = list.find((one) => code.instructions.address[one.at] === address);
        if (row) select(row);
      }} />}
      {code.remarks.map((one) => <p class="hint">{one}</p>)}
      {code.places.filter((one) => one.problem).map((one) => <p class="missing">{one.problem}</p>)}
      <div class={`panes n${panes.length}`}>
        {panes.includes("s") && <section class="pane" aria-label="source"><h2>{fileName(code.files[file] ?? "") || "source"}</h2>
          <Source code={code} main={main} file={file} selected={shownLine} hovered={hoveredKey} onSelect={selectLine} onHover={hoverLine} /></section>}
        {panes.includes("a") && <section class="pane" aria-label="assembly"><h2>assembly</h2>
          <Assembly code={code} list={list} main={main} beside={beside} selected={shownAt} hovered={{ line: hoveredKey, block: hoveredBlock }}
                    onSelect={select} onHover={(row) => { hoverLine(row ? lineKey(code, row.at) : null); hoverBlock(row?.block ?? null); }} /></section>}
        {panes.includes("b") && <section class="pane" aria-label="blocks"><h2>blocks{code.places.length > 1 && shownRow ? ` of ${shortName(code.places[shownRow.place].function)}` : ""}</h2>
          <BlocksPane code={code} list={list} place={shownRow?.place ?? 0} main={main} selectedBlock={shownRow?.block ?? null} hoveredBlock={hoveredBlock}
                  onSelect={select} onHover={hoverBlock} /></section>}
      </div>
      <p class="hint">{amount(list.length)} instructions in {code.places.length === 1 ? "one place" : `${code.places.length} places`}; [ and ] go to the next hottest.</p>
    </div>
  );
}

export function FunctionScreen({ route }: { index: Index.IndexDocument; route: Route }): JSX.Element {
  const code = useDocument<Code.FunctionDocument>(route.profile, `function/${route.what}`);
  return <Waiting loaded={code}>{(value) => <FunctionOf code={value} route={route} />}</Waiting>;
}
