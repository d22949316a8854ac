// What is known of one data object or statement: its levels, kinds of access, fields, who accesses
// it, and who reuses and who evicts its lines.

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { amount, fileName, percent, shortName } from "./format";
import type { Data as DataTypes, Locality } from "./types";
import { useDocument, Waiting } from "./use_document";

type Use = DataTypes.Use;
export const LEVELS = ["L1D", "L2", "L3"] as const;

/** With its error, where it is estimated which data they are of. */
export function accessesOf(counted: { accesses: number; accesses_error: number }): JSX.Element {
  if (!(counted.accesses_error > 0)) return <>{amount(counted.accesses)}</>;
  return <span title={`±${amount(counted.accesses_error)}`}>~{amount(counted.accesses)}</span>;
}

type Level = NonNullable<DataTypes.Level>;
/** Of a sample of cache sets: half of the 95 % interval, or that too few sets have seen it. */
function errorOf(level: Level, key: keyof NonNullable<Level["errors"]>, draw: (error: number) => string): string {
  if (!level.errors) return "";
  const error = level.errors[key];
  return error === null ? " (too few sets)" : ` ±${draw(error)}`;
}
const ofPrefetchers = (level: Level, lines: number): string => level.errors ? "not covered: --sets all" : amount(lines);

function LevelTable({ use }: { use: Use }): JSX.Element {
  const levels = Object.entries(use.levels).filter(([, level]) => level) as [string, Level][];
  if (levels.length === 0) return <p class="missing">what became of its lines was not recorded (--locality all)</p>;
  return (
    <table class="plain">
      <thead><tr><th>level</th>{levels.map(([name]) => <th class="number">{name}</th>)}</tr></thead>
      <tbody>
        {([["lines brought in", (level) => amount(level.lines) + errorOf(level, "lines", amount)],
           ["spatial use", (level) => level.spatial_percent === null ? "–" : `${level.spatial_percent.toFixed(1)} %${errorOf(level, "spatial_percent", (error) => error.toFixed(1))}`],
           ["temporal use", (level) => level.temporal === null ? "–" : level.temporal.toFixed(2) + errorOf(level, "temporal", (error) => error.toFixed(2))],
           ["never used", (level) => ofPrefetchers(level, level.lines_never_used)], ["prefetched", (level) => ofPrefetchers(level, level.lines_prefetched)],
           ["reused", (level) => amount(level.lines_reused)], ["still in at the end", (level) => amount(level.lines_at_end)]] as
          [string, (level: Level) => string][]).map(([title, draw]) => (
            <tr><th scope="row">{title}</th>{levels.map(([, level]) => <td class="number">{draw(level)}</td>)}</tr>
          ))}
      </tbody>
    </table>
  );
}

const KINDS: [key: "integer_load" | "integer_store" | "float_load" | "float_store", title: string][] =
  [["integer_load", "int loads"], ["integer_store", "int stores"], ["float_load", "fp loads"], ["float_store", "fp stores"]];

interface Part { kinds: NonNullable<DataTypes.DataDocument["part"]>["kinds"]; edges: NonNullable<DataTypes.DataDocument["part"]>["edges"] }

/** SIP's tables by kind: what they cost, how often they miss, and the use of their lines in L1D. */
function KindTable({ part, use }: { part: Part; use: Use }): JSX.Element {
  const share = (value: number | undefined, of: number | null): string => value !== undefined && of ? percent(value / of) : "–";
  return (
    <table class="plain"><thead><tr><th>kind</th><th class="number">accesses</th><th class="number" title="of the modelled cycles, those that wait for these">waits</th>
      <th class="number">L1D miss</th><th class="number">L2 miss</th><th class="number">spatial</th><th class="number">temporal</th></tr></thead>
      <tbody>{KINDS.filter(([key]) => part.kinds[key].accesses > 0).map(([key, title]) => {
        const kind = part.kinds[key];
        const level = kind.levels.L1D;
        return (
          <tr><th scope="row">{title}</th><td class="number">{accessesOf(kind)}</td><td class="number">{share(kind.waiting_cycles ?? undefined, use.modelled_cycles)}</td>
            <td class="number">{share(kind.misses?.L1D, kind.accesses)}</td><td class="number">{share(kind.misses?.L2, kind.accesses)}</td>
            <td class="number">{level?.spatial_percent == null ? "–" : `${level.spatial_percent.toFixed(0)} %`}</td><td class="number">{level?.temporal?.toFixed(2) ?? "–"}</td></tr>
        );
      })}</tbody></table>
  );
}

const EDGES: [key: keyof DataTypes.Edges, title: string][] = [
  ["reused_by", "its lines are reused by"], ["evicted_by_capacity", "evicted (no room) by"], ["evicted_by_conflict", "evicted (one set) by"],
  ["refetched_by", "brought in again by"], ["shared_same_bytes", "other cores want the same bytes"], ["shared_other_bytes", "other cores want other bytes of the line"],
  ["reuses_of", "it reuses lines of"], ["evicts", "it evicts lines of"], ["refetches", "it brings in again lines of"], ["takes_from", "it takes lines from"],
];

/** "quake.c:512", "quake.c:57-58", a function, a module. */
export function spotName(spot: { module?: string; function?: string; file?: string; line?: number; last_line?: number; address?: string }): string {
  if (spot.file && spot.line) return `${fileName(spot.file)}:${spot.line}${(spot.last_line ?? 0) > spot.line ? `-${spot.last_line}` : ""}`;
  return [spot.function && shortName(spot.function), spot.address].filter(Boolean).join(" ") || fileName(spot.module ?? "[unknown]");
}

function EdgeLists({ part }: { part: Part }): JSX.Element {
  const [level, setLevel] = useState<"L1D" | "L2" | "L3">("L1D");
  const edges = part.edges[level];
  const lists = EDGES.filter(([key]) => edges[key].length > 0);
  return (
    <>
      <span class="choice" role="group" aria-label="level">{LEVELS.map((one) => <button type="button" aria-pressed={one === level} onClick={() => setLevel(one)}>{one}</button>)}</span>
      {lists.length === 0 && <p class="dim">nobody reuses or evicts its lines in {level}</p>}
      {lists.map(([key, title]) => {
        const all = edges[key].reduce((sum, edge) => sum + edge.count, 0);
        return (
          <table class="plain edges"><caption>{title} <span class="dim">{amount(all)}</span></caption>
            <tbody>{edges[key].slice(0, 8).map((edge) => (
              <tr><td class="number">{amount(edge.count)}</td><td class="number barred"><span class="bar" style={{ width: `${100 * edge.count / all}%` }} aria-hidden="true" /><span class="cell">{percent(edge.count / all, 0)}</span></td>
                <td title={edge.function}>{edge.itself ? <em>itself</em> : spotName(edge)} <span class="dim">{edge.itself ? (edge.line ? spotName(edge) : "") : edge.function && edge.line ? shortName(edge.function) : ""}</span></td></tr>
            ))}</tbody></table>
        );
      })}
    </>
  );
}

export function PartPane({ profile, name }: { profile: number; name: string }): JSX.Element {
  const part = useDocument<DataTypes.DataDocument | Locality.LocalityDocument>(profile, name);
  return (
    <Waiting loaded={part}>{(document) => {
      const found = document.part as (Part & { name: string; use: Use; statements?: DataTypes.Statement[]; objects?: DataTypes.Object[]; fields?: DataTypes.Object[];
        type?: string; size_bytes?: number | null; blocks?: number | null; kept_in?: string; caller?: string }) | null;
      if (!found) return <p class="missing">nothing more is known of it</p>;
      const beside = found.statements?.map((one) => ({ name: spotName(one), use: one.use, note: one.function ?? "" }))
        ?? found.objects?.map((one) => ({ name: one.name, use: one.use, note: one.place })) ?? [];
      const most = Math.max(1e-300, ...beside.map((one) => one.use.accesses));
      return (
        <div class="two wide">
          <section class="pane" aria-label="summary" tabIndex={0}><h2>{found.name}</h2>
            <p class="dim">{[found.type, found.blocks != null && `${amount(found.blocks)} blocks`, found.size_bytes != null && `${amount(found.size_bytes)} B each`, found.kept_in && `kept in ${found.kept_in}`, found.caller && `for ${found.caller}`].filter(Boolean).join(", ")}</p>
            <LevelTable use={found.use} /><KindTable part={found} use={found.use} />
            {(found.fields?.length ?? 0) > 0 && <table class="plain"><caption>fields</caption><tbody>{found.fields!.map((one) => <tr><td>{one.name}</td><td class="dim">{one.type}</td><td class="number">{accessesOf(one.use)}</td></tr>)}</tbody></table>}
            <table class="plain"><caption>{found.statements ? "statements that access it" : "objects that it accesses"}</caption>
              <tbody>{beside.slice(0, 16).map((one) => <tr><td class="number barred"><span class="bar" style={{ width: `${100 * one.use.accesses / most}%` }} aria-hidden="true" /><span class="cell">{accessesOf(one.use)}</span></td>
                <td class="number">{one.use.misses ? percent(one.use.misses.L1D / one.use.accesses) : "–"}</td><td title={one.note}>{one.name}</td></tr>)}</tbody></table>
          </section>
          <section class="pane" aria-label="reuse and eviction" tabIndex={0}><h2>Reuse and eviction</h2><EdgeLists part={found} /></section>
        </div>
      );
    }}</Waiting>
  );
}
