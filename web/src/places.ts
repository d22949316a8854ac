// The rows of `places` and `costs` joined: events and costs by process, module and function; and
// sums of them.

import type { Table } from "./types";

export interface Measure {
  name: string;
  unit: string;
  provenance: "counted" | "sampled" | "modelled";
  total: number;
  isCost: boolean;  // a branch of the tree of cycles
  isSimulated: boolean;  // of programs alone: nothing is known of the kernel
}

export interface Place {
  key: string;
  process: string;
  pid: number;
  module: string;
  name: string;
  rank: number;  // of the name, among all; Infinity: not known
  id: string;
  inclusive: number | null;
  // By measure. Plain lists: typed arrays of a few numbers take a hundred times as long to make.
  values: number[];
  errors: number[];
  samples: number[];
}

export interface Places {
  measures: Measure[];
  rows: Place[];
  hasInclusive: boolean;
}

function measuresOf(table: Table.TableDocument, isCost: boolean): Measure[] {
  return table.columns.map((one) => ({
    name: one.name, unit: one.unit, provenance: one.provenance, total: one.total.value, isCost,
    isSimulated: one.engine === "simulate" || (isCost && one.provenance === "modelled"),
  }));
}

const joined = new WeakMap<Table.TableDocument, { costs: Table.TableDocument | null; places: Places }>();

/// Screens share what they are made of: 100,000 rows take their time.
export function placesOf(events: Table.TableDocument, costs: Table.TableDocument | null): Places {
  const made = joined.get(events);
  if (made && made.costs === costs) return made.places;
  const places = joinPlaces(events, costs);
  joined.set(events, { costs, places });
  return places;
}

export function joinPlaces(events: Table.TableDocument, costs: Table.TableDocument | null): Places {
  const measures = [...measuresOf(events, false), ...(costs ? measuresOf(costs, true) : [])];
  const rows = new Map<string, Place>();
  const zeros = new Array<number>(measures.length).fill(0);
  const add = (table: Table.TableDocument, from: number) => {
    const { process, process_id, module, function: names, id, texts } = table;
    for (let row = 0; row < id.length; ++row) {
      const key = `${process_id[row]} ${process[row] === undefined ? "" : texts[process[row]]} ${id[row]}`;
      let place = rows.get(key);
      if (!place) {
        place = {
          key, process: texts[process[row]], pid: process_id[row], module: texts[module[row]],
          name: texts[names[row]] || "[unknown]", id: id[row],
          rank: table === events ? names[row] : Infinity,  // each table numbers its own texts
          inclusive: table.inclusive.length > 0 ? table.inclusive[row] : null,
          values: zeros.slice(), errors: zeros.slice(), samples: zeros.slice(),
        };
        rows.set(key, place);
      }
      for (let column = 0; column < table.columns.length; ++column) {
        place.values[from + column] = table.values[column][row] ?? 0;
        place.errors[from + column] = table.errors[column][row] ?? 0;
        place.samples[from + column] = table.samples[column][row] ?? 0;
      }
    }
  };
  add(events, 0);
  if (costs) add(costs, events.columns.length);
  return { measures, rows: [...rows.values()], hasInclusive: events.inclusive.length > 0 };
}

/// Rows with the same key as one: values add up, and errors as those of independent samples do.
/// A row that is alone shares its lists with what it was made of.
export function group(rows: Place[], keyOf: (row: Place) => string): Place[] {
  const sums = new Map<string, Place>();
  const own = new Set<Place>();  // those with lists of their own
  for (const row of rows) {
    const key = keyOf(row);
    const sum = sums.get(key);
    if (!sum) {
      sums.set(key, { ...row, key });
      continue;
    }
    if (!own.has(sum)) {
      own.add(sum);
      [sum.values, sum.errors, sum.samples] = [sum.values.slice(), sum.errors.slice(), sum.samples.slice()];
    }
    if (sum.inclusive !== null) sum.inclusive += row.inclusive ?? 0;
    for (let i = 0; i < row.values.length; ++i) {
      sum.values[i] += row.values[i];
      sum.errors[i] = Math.hypot(sum.errors[i], row.errors[i]);
      sum.samples[i] += row.samples[i];
    }
  }
  return [...sums.values()];
}

export function processOf(row: Place): string {
  return `${row.process} ${row.pid}`;
}

const functions = new WeakMap<Places, Map<string, Place[]>>();

/// A row for each function, of one process or of all ("").
export function functionsOf(places: Places, process = ""): Place[] {
  let made = functions.get(places);
  if (!made) functions.set(places, made = new Map());
  let found = made.get(process);
  if (!found) {
    const rows = process ? places.rows.filter((row) => processOf(row) === process) : places.rows;
    // Of the only process there is they are those of all.
    const areAll = process !== "" && rows.length === places.rows.length;
    made.set(process, found = areAll ? functionsOf(places) : group(rows, (row) => row.id));
  }
  return found;
}
