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

/// Writes what the columns of a table have in a row. Of zeros alone a table has an empty list.
function fill(to: number[], from: number, lists: number[][], row: number): void {
  for (let column = 0; column < lists.length; ++column) to[from + column] = lists[column][row] ?? 0;
}

export function joinPlaces(events: Table.TableDocument, costs: Table.TableDocument | null): Places {
  const measures = [...measuresOf(events, false), ...(costs ? measuresOf(costs, true) : [])];
  const tables = costs ? [events, costs] : [events];
  // Of fractions first: lists of whole numbers would be made anew for each row's first fraction.
  const zeros = new Array<number>(measures.length).fill(0.5).fill(0);
  // Exact counts and what is modelled have neither: one list of zeros does for all rows.
  const hasAny = (field: "errors" | "samples") => tables.some((table) => table[field].some((list) => list.length > 0));
  const [hasErrors, hasSamples] = [hasAny("errors"), hasAny("samples")];
  const rows: Place[] = [];
  const byProcess = new Map<string, Map<string, Place>>();  // by id of the function there
  tables.forEach((table, number) => {
    const { process, process_id, module, function: names, id, texts } = table;
    const from = number === 0 ? 0 : events.columns.length;
    let here = new Map<string, Place>();
    for (let row = 0; row < id.length; ++row) {
      if (row === 0 || process[row] !== process[row - 1] || process_id[row] !== process_id[row - 1]) {
        const key = `${process_id[row]} ${texts[process[row]] ?? ""}`;
        here = byProcess.get(key) ?? new Map();
        byProcess.set(key, here);
      }
      let place = here.get(id[row]);
      if (!place) {
        place = {
          key: `${process_id[row]} ${texts[process[row]] ?? ""} ${id[row]}`,
          process: texts[process[row]], pid: process_id[row], module: texts[module[row]],
          name: texts[names[row]] || "[unknown]", id: id[row],
          rank: table === events ? names[row] : Infinity,  // each table numbers its own texts
          inclusive: table.inclusive.length > 0 ? table.inclusive[row] : null,
          values: zeros.slice(),
          errors: hasErrors ? zeros.slice() : zeros,
          samples: hasSamples ? zeros.slice() : zeros,
        };
        here.set(id[row], place);
        rows.push(place);
      }
      fill(place.values, from, table.values, row);
      if (hasErrors) fill(place.errors, from, table.errors, row);
      if (hasSamples) fill(place.samples, from, table.samples, row);
    }
  });
  return { measures, rows, hasInclusive: events.inclusive.length > 0 };
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
    const [first] = rows;
    // One process has a row for each function already.
    const isOne = rows.every((row) => row.pid === first.pid && row.process === first.process);
    made.set(process, found = isOne ? rows : group(rows, (row) => row.id));
  }
  return found;
}
