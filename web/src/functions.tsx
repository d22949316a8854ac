// Processes and modules above, functions below, with the same columns: choosing some above restricts
// what is below. Columns unfold: a branch of the tree of cycles into what it is made of.

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";

import { getDocument } from "./carrier";
import { fileName, inUnit, MARKS, MARK_WORDS, patternOf, percent } from "./format";
import { functionsOf, group, joinPlaces, placesOf, processOf, type Measure, type Place, type Places } from "./places";
import { go, tweak, type Route } from "./route";
import { CopyButtons, sortRows, Table, type ColumnOf } from "./table";
import type { Index, Table as TableTypes } from "./types";
import { NotRecorded, useDocument, usePromise, Waiting, type Loaded } from "./use_document";

/// Events by place, with the costs and the unfolded branches that have come.
function usePlaces(index: Index.IndexDocument, profile: number, unfolded: string[]): { places: Loaded<Places>; isWaiting: boolean } {
  const events = useDocument<TableTypes.TableDocument>(profile, "places");
  // A profile whose events no template names has events alone.
  const costs = useDocument<TableTypes.TableDocument>(profile, "costs", index.documents.costs?.is_there);
  const details = usePromise(() => Promise.all(unfolded.map((branch) => getDocument<TableTypes.TableDocument>(profile, `costs/${branch}`))),
    `details ${profile} ${unfolded.join(" ")}`);
  const places = useMemo<Loaded<Places>>(() => {
    if (events === null || "error" in events) return events;
    if (costs === null || "error" in costs) return { value: placesOf(events.value, null) };
    if (details !== null && "error" in details) return details;
    return { value: (details?.value ?? []).reduce((sum, detail, i) => withDetail(sum, detail, unfolded[i]), placesOf(events.value, costs.value)) };
  }, [events, costs, details]);
  return { places, isWaiting: costs === null || details === null };
}

/// Adds the parts of a branch behind it, under its name.
function withDetail(places: Places, detail: TableTypes.TableDocument, branch: string): Places {
  const words = branch.replace(/_/g, " ");
  const extra = joinPlaces(detail, null);
  const kept = extra.measures.map((one, i) => i).filter((i) =>
    extra.measures[i].unit === "cycles" && extra.measures[i].name !== words && extra.measures[i].name !== "unhalted cycles");
  const at = places.measures.findIndex((one) => one.isCost && one.name === words) + 1;
  const put = <T,>(list: T[], more: T[]) => [...list.slice(0, at), ...more, ...list.slice(at)];
  const byKey = new Map(extra.rows.map((row) => [row.key, row]));
  return {
    ...places,
    measures: put(places.measures, kept.map((i) => ({ ...extra.measures[i], name: `${words}: ${extra.measures[i].name}`, isCost: true }))),
    rows: places.rows.map((row) => {
      const other = byKey.get(row.key);
      const of = (field: "values" | "errors" | "samples") =>
        put(row[field], kept.map((i) => other?.[field][i] ?? 0));
      return { ...row, values: of("values"), errors: of("errors"), samples: of("samples") };
    }),
  };
}

const UNITS = ["value", "%"] as const;
const FEW_SAMPLES = 5;

/// Whether there are too few samples to rely on the number.
export function isThin(measure: Measure, samples: number): boolean {
  return measure.provenance === "sampled" && samples > 0 && samples < FEW_SAMPLES;
}

function measureColumn(measure: Measure, at: number, shows: string): ColumnOf<Place> {
  const mark = MARKS[measure.provenance];
  return {
    key: measure.name,
    title: `${mark}${measure.name}`,
    hint: `${measure.name} [${measure.unit}], ${MARK_WORDS[measure.provenance]}`,
    width: measure.provenance === "sampled" ? 138 : Math.max(84, Math.min(170, 30 + 7 * measure.name.length)),
    value: (row) => row.values[at],
    share: (row) => measure.total > 0 ? row.values[at] / measure.total : 0,
    draw: (row) => {
      const { values, errors, samples } = row;
      if (measure.isSimulated && values[at] === 0 && row.module.startsWith("[kernel")) {
        return <span class="dim" title="not covered: the software PMU runs programs, not the kernel">–</span>;
      }
      if (values[at] === 0) return <span class="dim">0</span>;
      const isUnsure = isThin(measure, samples[at]);
      const error = errors[at] > 0 ? ` ±${shows === "%" ? (196 * errors[at] / measure.total).toFixed(1) : inUnit(1.96 * errors[at], measure.unit)}` : "";
      return (
        <span class={isUnsure ? "thin" : ""} title={isUnsure ? `too few samples: ${samples[at]}` : `${values[at].toLocaleString("en")} ${measure.unit}${error}`}>
          {shows === "%" ? percent(values[at] / measure.total) : inUnit(values[at], measure.unit)}
          {error && <span class="dim">{error}</span>}
        </span>
      );
    },
  };
}

/// Those that show at first: the first event, and branches of the tree with at least a hundredth;
/// without a tree the other events.
function usualColumns(measures: Measure[]): string[] {
  const costs = measures.filter((one) => one.isCost);
  if (costs.length > 0) {
    const all = costs[0].total;
    return [measures[0].name, ...costs.filter((one) => one.total > 0.01 * all).map((one) => one.name)];
  }
  return measures.slice(0, 6).map((one) => one.name);
}

function isMine(module: string): boolean {
  return !/^\/(usr\/)?lib|^\[|ld-linux|\.so(\.|$)/.test(module);
}

function Chips({ route }: { route: Route }): JSX.Element {
  const filters = ["process", "module", "q", "mine"].filter((key) => route.query.get(key));
  return (
    <>
      {filters.map((key) => (
        <button type="button" class="chip" onClick={() => tweak({ [key]: "" })} title="take this filter away">
          {key === "q" ? "search" : key}: {key === "module" ? fileName(route.query.get(key)!) : route.query.get(key)} ×
        </button>
      ))}
    </>
  );
}

function ColumnChooser({ measures, chosen }: { measures: Measure[]; chosen: string[] }): JSX.Element {
  const set = (name: string, isOn: boolean) =>
    tweak({ cols: measures.map((one) => one.name).filter((one) => one === name ? isOn : chosen.includes(one)).join("~") });
  return (
    <details class="chooser">
      <summary>columns ({chosen.length} of {measures.length})</summary>
      <div class="choices">
        {measures.map((one) => (
          <label><input type="checkbox" checked={chosen.includes(one.name)}
                        onChange={(event) => set(one.name, (event.target as HTMLInputElement).checked)} />
            {MARKS[one.provenance]}{one.name} <span class="dim">{one.isCost ? "tree" : one.unit}</span></label>
        ))}
      </div>
    </details>
  );
}

export function Functions({ index, route }: { index: Index.IndexDocument; route: Route }): JSX.Element {
  const unfolded = (route.query.get("unfold") ?? "").split("~").filter(Boolean);
  const { places, isWaiting } = usePlaces(index, route.profile, unfolded);
  if (!index.documents.places?.is_there) {
    return <NotRecorded index={index} name="places">This profile has counts of whole runs, and no places in the code.</NotRecorded>;
  }
  return <Waiting loaded={places}>{(value) => <FunctionsOf places={value} isWaiting={isWaiting} route={route} unfolded={unfolded} />}</Waiting>;
}

interface FunctionsProps { places: Places; isWaiting: boolean; route: Route; unfolded: string[] }

function FunctionsOf({ places, isWaiting, route, unfolded }: FunctionsProps): JSX.Element {
  const query = route.query;
  const [selected, setSelected] = useState<string | null>(null);
  const shows = query.get("unit") === "%" ? "%" : "value";
  const chosen = query.get("cols")?.split("~") ?? [...usualColumns(places.measures), ...places.measures.filter((one) => unfolded.some((branch) => one.name.startsWith(`${branch.replace(/_/g, " ")}: `))).map((one) => one.name)];
  const first = places.measures[0];
  const sort = query.get("sort") ?? `-${first.name}`;
  const pattern = patternOf(query.get("q") ?? "");
  const [process, module] = [query.get("process"), query.get("module")];

  const upper = useMemo(() => group(places.rows, (row) => `${row.pid} ${row.process} ${row.module}`), [places]);
  const functions = functionsOf(places, process ?? "");
  const whole = functionsOf(places).length;
  const shown = places.measures.map((one, at) => ({ one, at })).filter(({ one }) => chosen.includes(one.name))
    .map(({ one, at }) => measureColumn(one, at, shows));
  const inclusive: ColumnOf<Place>[] = places.hasInclusive ? [{
    key: "inclusive", title: "with callees", hint: "with all that was called", width: 110, value: (row) => row.inclusive,
    draw: (row) => row.inclusive === null ? "–" : shows === "%" ? percent(row.inclusive / first.total) : inUnit(row.inclusive, first.unit),
  }] : [];
  const share: ColumnOf<Place> = {
    key: "share", title: "share", width: 70, value: (row) => row.values[0] / first.total, draw: (row) => percent(row.values[0] / first.total),
  };
  const name: ColumnOf<Place> = {
    key: "function", title: "function", isText: true, width: 300, value: (row) => row.name, rank: (row) => row.rank,
    draw: (row) => <span title={row.name}>{pattern && pattern.test(row.name) ? <mark>{row.name}</mark> : row.name}</span>,
  };
  const moduleColumn: ColumnOf<Place> = {
    key: "module", title: "module", isText: true, value: (row) => fileName(row.module),
    draw: (row) => <span title={row.module}>{fileName(row.module)}</span>,
  };
  const processColumn: ColumnOf<Place> = {
    key: "process", title: "process", isText: true, width: 150, value: processOf,
  };
  const columns = [name, ...shown.slice(0, 1), share, ...inclusive, ...shown.slice(1), moduleColumn];
  // What is searched for is among rows that are sorted already: each key of a word would sort anew.
  const sorted = useMemo(() => sortRows(functions, columns, sort), [functions, sort, chosen.join("~")]);
  const lower = useMemo(() => sorted.filter((row) => (!module || row.module === module) && (!query.get("mine") || isMine(row.module))
    && (!pattern || pattern.test(row.name) || pattern.test(row.module))), [sorted, module, query.get("q"), query.get("mine")]);
  const branches = places.measures.filter((one) => one.isCost && !one.name.includes(": ") && !/^(un)?(halted|stalled) cycles$|^unstalled/.test(one.name));
  return (
    <div class="stack" aria-busy={isWaiting}>
      <div class="bar-of-tools">
        <label class="search"><span class="hidden">search functions</span>
          <input type="search" placeholder="search (regular expression)   /" value={query.get("q") ?? ""}
                 onInput={(event) => tweak({ q: (event.target as HTMLInputElement).value })} /></label>
        <label><input type="checkbox" checked={!!query.get("mine")}
                      onChange={(event) => tweak({ mine: (event.target as HTMLInputElement).checked ? "only my code" : "" })} /> only my code</label>
        <span class="choice" role="group" aria-label="unit">
          {UNITS.map((unit) => <button type="button" aria-pressed={shows === unit} onClick={() => tweak({ unit: unit === "%" ? "%" : "" })}>{unit}</button>)}
        </span>
        <ColumnChooser measures={places.measures} chosen={chosen} />
        {branches.length > 0 && (
          <details class="chooser"><summary>unfold ({unfolded.length})</summary>
            <div class="choices">
              {branches.map((one) => {
                const key = one.name.replace(/ /g, "_");
                const isOn = unfolded.includes(key);
                return <label><input type="checkbox" checked={isOn} onChange={() => tweak({ cols: "",
                  unfold: (isOn ? unfolded.filter((other) => other !== key) : [...unfolded, key]).join("~") })} />{one.name}</label>;
              })}
            </div>
          </details>
        )}
        <Chips route={route} />
        {isWaiting && <span class="waiting" role="status">costs are on their way …</span>}
        <span class="dim">{lower.length === whole ? `${whole.toLocaleString("en")} functions` : `${lower.length.toLocaleString("en")} of ${whole.toLocaleString("en")} functions; the others are filtered out`}</span>
        <CopyButtons columns={columns} rows={lower} sort={sort} />
      </div>
      <div class="upper">
        <Table label="processes and modules" columns={[processColumn, { ...moduleColumn, width: 150 }, ...shown.slice(0, 1), share, ...shown.slice(1)]}
               rows={upper} keyOf={(row) => row.key} sort={`-${first.name}`}
               selected={upper.find((row) => row.module === module && (!process || processOf(row) === process))?.key ?? null}
               onSelect={(row) => row.module === module && processOf(row) === process
                 ? tweak({ module: "", process: "" }) : tweak({ module: row.module, process: processOf(row) })} />
      </div>
      <Table label="functions" columns={columns} rows={lower} isSorted keyOf={(row) => row.key} sort={sort} onSort={(now) => tweak({ sort: now })}
             selected={selected} onSelect={(row) => setSelected(row.key)}
             onOpen={(row) => go({ profile: route.profile, screen: "function", what: row.id })}
             empty={<>no function matches; <button type="button" class="chip" onClick={() => tweak({ q: "", module: "", process: "", mine: "" })}>take the filters away</button></>} />
      <p class="hint">Enter or a double click opens a function. Total: {inUnit(first.total, first.unit)} of {first.name}.</p>
    </div>
  );
}
