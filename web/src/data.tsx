// Which data the program waits for, and what becomes of its lines: above what there is (objects, or
// statements, these as a table or in their source), below what is known of the chosen one.

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";

import { accessesOf, LEVELS, PartPane, spotName } from "./data_part";
import { amount, MARKS, percent, shortName } from "./format";
import { LocalitySource } from "./locality_source";
import { Matrix } from "./matrix";
import { tweak, type Route } from "./route";
import { CopyButtons, Table, type ColumnOf } from "./table";
import type { Data as DataTypes, Index, Locality } from "./types";
import { NotRecorded, useDocument, Waiting } from "./use_document";

type Use = DataTypes.Use;
type Row = { use: Use; name: string; place: string; note: string; at: number };

function useColumns(kind: "data" | "locality", cost: DataTypes.Cost, total: number, rows: Row[]): ColumnOf<Row>[] {
  const mark = rows.some((row) => row.use.accesses_error > 0) ? "~" : "=";
  return [
    { key: "cost", title: `${MARKS[cost.provenance]}${cost.unit}`, width: 96, value: (row) => row.use.cost.value, draw: (row) => amount(row.use.cost.value),
      share: (row) => total > 0 ? row.use.cost.value / total : 0 },
    { key: "share", title: "share", width: 66, value: (row) => row.use.cost.value / total, draw: (row) => percent(row.use.cost.value / total) },
    ...(kind === "data" ? [] : [{ key: "waits", title: "waits", hint: "of its modelled cycles, those that wait for data", width: 62,
      value: (row: Row) => row.use.modelled_cycles ? (row.use.waiting_cycles ?? 0) / row.use.modelled_cycles : null,
      draw: (row: Row) => row.use.modelled_cycles ? percent((row.use.waiting_cycles ?? 0) / row.use.modelled_cycles, 0) : "–" }]),
    { key: "accesses", title: `${mark}accesses`, width: 96, value: (row) => row.use.accesses, draw: (row) => accessesOf(row.use) },
    ...LEVELS.map((level): ColumnOf<Row> => ({ key: level, title: `${level} miss`, hint: `of its accesses, those that missed ${level}`, width: 84,
      value: (row) => row.use.misses ? row.use.misses[level] / row.use.accesses : null,
      draw: (row) => row.use.misses ? percent(row.use.misses[level] / row.use.accesses) : "–" })),
    { key: "spatial", title: "spatial", hint: "of the bytes of its lines in L1D, those that were touched", width: 72, value: (row) => row.use.levels.L1D?.spatial_percent ?? null,
      draw: (row) => row.use.levels.L1D?.spatial_percent == null ? "–" : `${row.use.levels.L1D.spatial_percent.toFixed(0)} %` },
    { key: "temporal", title: "temporal", hint: "how often a touched byte was accessed again before its line went", width: 84, value: (row) => row.use.levels.L1D?.temporal ?? null,
      draw: (row) => row.use.levels.L1D?.temporal?.toFixed(2) ?? "–" },
    { key: "name", title: "name", isText: true, value: (row) => row.name, draw: (row) => <span title={row.note}>{row.name} <span class="dim">{row.place}</span></span> },
  ];
}

function AdviceCards({ advice }: { advice: DataTypes.Advice[] }): JSX.Element {
  return <ol class="advice">{advice.map((one) => (
    <li><div class="gain">{percent(one.share, 0)}<small>{amount(one.saved_cycles)} cycles</small></div>
      <div><b>{one.title}</b><p>{one.reason}</p><code>{one.lines.join("  ")}</code> <span class="dim">{one.objects.join(", ")}{one.overlaps !== null && ` (overlaps with advice ${one.overlaps + 1})`}</span></div></li>
  ))}</ol>;
}

/** Beside source there is room for these. */
const BESIDE_SOURCE = ["cost", "L1D", "spatial", "temporal"];
const SHAPES: [show: string, title: string][] = [["", "one statement"], ["source", "source"], ["matrix", "matrix"]];

function Panes({ index, kind, rows, document, route }: { index: Index.IndexDocument; kind: "data" | "locality"; rows: Row[]; document: DataTypes.DataDocument | Locality.LocalityDocument; route: Route }): JSX.Element {
  const { profile } = route;
  const total = ("measured_cycles" in document ? document.measured_cycles : null) ?? document.totals.cost.value;
  const columns = useColumns(kind, document.cost as DataTypes.Cost, total, rows);
  const sort = route.query.get("sort") ?? "-cost";
  const at = Number(route.query.get("row") ?? 0);
  const show = kind === "locality" ? route.query.get("show") ?? "" : "";
  const byCost = useMemo(() => [...rows].sort((a, b) => b.use.cost.value - a.use.cost.value), [document]);
  return (
    <div class="stack">
      {document.advice.length > 0 && <details open={route.query.get("advice") !== "no"}><summary>What to change ({document.advice.length})</summary><AdviceCards advice={document.advice as DataTypes.Advice[]} /></details>}
      <div class="bar-of-tools">{kind === "locality" && <span class="choice" role="group" aria-label="shape">{SHAPES.map(([one, title]) => (
        <button type="button" aria-pressed={show === one} onClick={() => tweak({ show: one })}>{title}</button>))}</span>}
        <span>{rows.length} {kind === "data" ? "data objects" : "statements"}, {amount(document.totals.accesses)} accesses</span><CopyButtons columns={columns} rows={rows} sort={sort} /></div>
      {show === "source"
        ? <LocalitySource document={document as Locality.LocalityDocument} rows={rows} columns={columns.filter((one) => BESIDE_SOURCE.includes(one.key))} index={index} route={route} total={total} />
        : <Table label={kind === "data" ? "data objects" : "statements"} columns={columns} rows={rows} keyOf={(row) => String(row.at)} sort={sort} onSort={(now) => tweak({ sort: now })}
                 selected={String(at)} onSelect={(row) => tweak({ row: String(row.at) })} height="34vh" />}
      {show === "matrix" ? <Matrix profile={profile} rows={byCost} chosen={at} query={route.query} nameOf={spotName} />
        : rows.length > 0 && <PartPane profile={profile} name={`${kind}/${at}`} />}
      {document.remarks.map((one) => <p class="hint">{one}</p>)}
    </div>
  );
}

export function Data({ index, route }: { index: Index.IndexDocument; route: Route }): JSX.Element {
  const isThere = index.documents.data?.is_there;
  const data = useDocument<DataTypes.DataDocument>(route.profile, isThere ? "data" : "index");
  if (!isThere) return <NotRecorded index={index} name="data">Which data was accessed was not recorded.</NotRecorded>;
  return <Waiting loaded={data}>{(document) => <Panes index={index} kind="data" document={document} route={route}
    rows={document.rows.map((row, at) => ({ use: row.use, name: row.name || "[unknown]", place: row.kept_in && `kept in ${row.kept_in}`, note: [row.place, row.type].filter(Boolean).join(", "), at }))} />}</Waiting>;
}

export function LocalityScreen({ index, route }: { index: Index.IndexDocument; route: Route }): JSX.Element {
  const isThere = index.documents.locality?.is_there;
  const locality = useDocument<Locality.LocalityDocument>(route.profile, isThere ? "locality" : "index");
  if (!isThere) return <NotRecorded index={index} name="locality">What became of cache lines was not recorded.</NotRecorded>;
  return <Waiting loaded={locality}>{(document) => <Panes index={index} kind="locality" document={document} route={route}
    rows={document.rows.map((row, at) => ({ use: row.use as Use, name: spotName(row), place: row.line ? shortName(row.function ?? "") : "", note: row.file ?? row.module, at }))} />}</Waiting>;
}
