// Who does what to whose lines, as a matrix: a row for each of the statements with the highest cost,
// a column for each statement that evicts (or reuses, or brings in again) their lines.

import type { JSX } from "preact";

import { getDocument } from "./carrier";
import { amount, heat, percent } from "./format";
import { tweak } from "./route";
import type { Data as DataTypes, Locality } from "./types";
import { usePromise, Waiting } from "./use_document";

export interface Named { at: number; name: string }

const ROWS = 12, COLUMNS = 12;
const LEVELS = ["L1D", "L2", "L3"] as const;
const WHAT: { key: string; title: string; edges: (keyof DataTypes.Edges)[] }[] = [
  { key: "evicts", title: "who evicts whose lines", edges: ["evicted_by_capacity", "evicted_by_conflict"] },
  { key: "refetches", title: "who brings them in again", edges: ["refetched_by"] },
  { key: "reuses", title: "who reuses them", edges: ["reused_by"] },
];

interface Cell { row: Named; counts: Map<string, number>; total: number }

function readRow(row: Named, part: NonNullable<Locality.LocalityDocument["part"]>, level: (typeof LEVELS)[number],
                 kinds: (keyof DataTypes.Edges)[], nameOf: (spot: DataTypes.Edge) => string): Cell {
  const counts = new Map<string, number>();
  let total = 0;
  for (const kind of kinds) {
    for (const edge of (part.edges as Record<string, DataTypes.Edges>)[level][kind] as DataTypes.Edge[]) {
      const name = edge.itself ? row.name : nameOf(edge);
      counts.set(name, (counts.get(name) ?? 0) + edge.count);
      total += edge.count;
    }
  }
  return { row, counts, total };
}

function drawMatrix(cells: Cell[], chosen: number): JSX.Element {
  const sums = new Map<string, number>();
  for (const cell of cells) for (const [name, count] of cell.counts) sums.set(name, (sums.get(name) ?? 0) + count);
  const columns = [...sums].sort((a, b) => b[1] - a[1]).slice(0, COLUMNS).map(([name]) => name);
  const isCut = sums.size > columns.length;
  const rest = (cell: Cell) => cell.total - columns.reduce((sum, name) => sum + (cell.counts.get(name) ?? 0), 0);
  const most = Math.max(1, ...cells.flatMap((cell) => [...cell.counts.values()]));
  if (columns.length === 0) return <p class="dim">nobody, at this level</p>;
  return (
    <div class="matrix-frame" tabIndex={0} role="group" aria-label="matrix">
      <table class="plain matrix">
        <thead><tr><th>whose lines</th><th class="number">lines</th>{columns.map((name) => <th class="number" title={name}>{name}</th>)}{isCut && <th class="number">others</th>}</tr></thead>
        <tbody>{cells.map((cell) => (
          <tr class={cell.row.at === chosen ? "selected" : ""} onClick={() => tweak({ row: String(cell.row.at) })}>
            <th scope="row" title={cell.row.name}>{cell.row.name}</th><td class="number">{amount(cell.total)}</td>
            {columns.map((name) => {
              const count = cell.counts.get(name) ?? 0;
              return <td class="number" style={count > 0 ? { background: heat(count / most) } : undefined}
                         title={count > 0 ? `${amount(count)}, ${percent(count / cell.total)} of this row` : undefined}>{count > 0 ? amount(count) : <span class="dim">·</span>}</td>;
            })}
            {isCut && <td class="number">{amount(rest(cell))}</td>}
          </tr>
        ))}</tbody>
      </table>
    </div>
  );
}

/// `rows`: the statements, by cost; those without a document (of one file) are left out.
export function Matrix({ profile, rows, chosen, query, nameOf }: {
  profile: number; rows: Named[]; chosen: number; query: URLSearchParams; nameOf: (spot: DataTypes.Edge) => string;
}): JSX.Element {
  const level = LEVELS.find((one) => one === query.get("level")) ?? "L1D";
  const what = WHAT.find((one) => one.key === query.get("what")) ?? WHAT[0];
  const shown = rows.slice(0, ROWS);
  const loaded = usePromise(async () => {
    const found = await Promise.allSettled(shown.map((row) => getDocument<Locality.LocalityDocument>(profile, `locality/${row.at}`)));
    return found.map((one) => one.status === "fulfilled" ? one.value.part : null);
  }, `${profile} ${shown.map((row) => row.at).join()}`);
  return (
    <section class="pane" aria-label="who evicts whom">
      <div class="bar-of-tools">
        <span class="choice" role="group" aria-label="what">{WHAT.map((one) => <button type="button" aria-pressed={one === what} onClick={() => tweak({ what: one.key })}>{one.title}</button>)}</span>
        <span class="choice" role="group" aria-label="level of the matrix">{LEVELS.map((one) => <button type="button" aria-pressed={one === level} onClick={() => tweak({ level: one })}>{one}</button>)}</span>
        <span class="dim">the {shown.length} statements with the highest cost; lines</span>
      </div>
      <Waiting loaded={loaded}>{(parts) => drawMatrix(
        shown.flatMap((row, i) => parts[i] ? [readRow(row, parts[i]!, level, what.edges, nameOf)] : []), chosen)}</Waiting>
    </section>
  );
}
