// What changed between two profiles, and how sure that is.

import type { JSX } from "preact";

import { get } from "./carrier";
import { amount, inUnit, MARKS, percent, shortName } from "./format";
import { tweak, type Route } from "./route";
import { CopyButtons, Table, type ColumnOf } from "./table";
import type { Diff, Profiles } from "./types";
import { usePromise, Waiting } from "./use_document";

const VERDICTS: Record<Diff.Row["verdict"], string> = {
  "more": "+ more", "less": "− less", "same": "~ the same", "not-tested": "not tested: one run a side", "too-few-samples": "too few samples", "new": "new", "gone": "gone",
};

const signed = (value: number) => `${value > 0 ? "+" : "−"}${amount(Math.abs(value))}`;

/** What changed in the tree of cycles, or why that is not known. */
function describeCause(cause: Diff.Cause | null): string {
  if (!cause) return "";
  if (cause.state !== "found") return `cause unknown: ${cause.reason}`;
  return cause.branches.map((branch) => {
    const events = branch.events.map((event) => `${event.label} ${amount(event.base)} → ${amount(event.new)}`);
    return `${signed(branch.new - branch.base)} ${branch.label}${events.length ? ` (${events.join(", ")})` : ""}`;
  }).join("; ");
}

function DifferenceOf({ diff, route }: { diff: Diff.DiffDocument; route: Route }): JSX.Element {
  const sort = route.query.get("sort") ?? "-size";
  const name = (row: Diff.Row) => Object.values(row.names).join("  ");
  const total = Math.max(Math.abs(diff.total.base), Math.abs(diff.total.new), 1e-300);
  const columns: ColumnOf<Diff.Row>[] = [
    { key: "base", title: `${MARKS[diff.provenance]}base`, width: 92, value: (row) => row.base, draw: (row) => inUnit(row.base, diff.unit) },
    { key: "new", title: `${MARKS[diff.provenance]}new`, width: 92, value: (row) => row.new, draw: (row) => inUnit(row.new, diff.unit) },
    { key: "size", title: "difference", width: 150, value: (row) => Math.abs(row.new - row.base),
      draw: (row) => {
        const size = (row.new - row.base) / total;
        const isSure = row.verdict === "more" || row.verdict === "less" || row.verdict === "new" || row.verdict === "gone";
        return <span class={`delta ${isSure ? "" : "unsure"}`}><i class={size > 0 ? "up" : "down"} style={{ width: `${Math.min(50, 50 * Math.abs(size))}%` }} />{row.new > row.base ? "+" : ""}{inUnit(row.new - row.base, diff.unit)}</span>;
      } },
    { key: "change", title: "change", width: 210, value: (row) => row.change,
      draw: (row) => row.change === null ? "–" : <>{row.change > 0 ? "+" : ""}{percent(row.change)}{row.interval95 && <span class="dim"> {percent(row.interval95[0])} … {percent(row.interval95[1])}</span>}</> },
    { key: "verdict", title: "verdict", isText: true, width: 220, value: (row) => row.verdict, draw: (row) => VERDICTS[row.verdict] },
    { key: "cause", title: "cause [cycles]", isText: true, width: 320, value: (row) => describeCause(row.cause), draw: (row) => <span title={describeCause(row.cause)}>{describeCause(row.cause)}</span> },
    { key: "name", title: Object.keys(diff.total.names)[0] ?? "name", isText: true, value: name, draw: (row) => <span title={name(row)}>{shortName(name(row))}</span> },
  ];
  const rows = [diff.total, ...(diff.everything ? [diff.everything] : []), ...diff.rows];
  return (
    <div class="stack">
      <div class="bar-of-tools"><span>{diff.event}: {inUnit(diff.total.base, diff.unit)} → {inUnit(diff.total.new, diff.unit)}</span>
        {!diff.tested && <span class="dim">one run a side: what differs by chance cannot be told. culprit diff --base A1 A2 A3 --new B1 B2 B3 tests.</span>}
        {diff.rows_untested > 0 && <span class="dim">{diff.rows_untested} rows have too few samples</span>}
        <CopyButtons columns={columns} rows={rows} sort={sort} /></div>
      <Table label="differences" columns={columns} rows={rows} keyOf={name} sort={sort} onSort={(now) => tweak({ sort: now })}
             classOf={(row) => row.verdict === "same" || row.verdict === "too-few-samples" ? "faint" : ""} />
    </div>
  );
}

export function Differences({ route }: { route: Route }): JSX.Element {
  const profiles = usePromise(() => get<Profiles.ProfilesDocument>("profiles"), "profiles");
  const other = Number(route.query.get("with") ?? (route.profile === 0 ? 1 : 0));
  const diff = usePromise(() => get<Diff.DiffDocument>(`diff/${route.profile}/${other}`), `diff ${route.profile} ${other}`);
  return (
    <Waiting loaded={profiles}>{({ profiles: list }) => (
      <div class="stack">
        <div class="bar-of-tools"><b>{list[route.profile]?.name}</b> → <label><span class="hidden">with</span><select value={String(other)} onChange={(event) => tweak({ with: (event.target as HTMLSelectElement).value })}>
          {list.map((one, i) => i === route.profile ? null : <option value={String(i)}>{one.name}</option>)}</select></label></div>
        <Waiting loaded={diff}>{(value) => <DifferenceOf diff={value} route={route} />}</Waiting>
      </div>
    )}</Waiting>
  );
}
