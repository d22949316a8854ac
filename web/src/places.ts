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
  id: string;
  inclusive: number | null;
  values: Float64Array;
  errors: Float64Array;
  samples: Float64Array;
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

export function joinPlaces(events: Table.TableDocument, costs: Table.TableDocument | null): Places {
  const measures = [...measuresOf(events, false), ...(costs ? measuresOf(costs, true) : [])];
  const rows = new Map<string, Place>();
  const add = (table: Table.TableDocument, from: number) => {
    const { process, process_id, module, function: names, id, texts } = table;
    for (let row = 0; row < id.length; ++row) {
      const key = `${process_id[row]} ${process[row] === undefined ? "" : texts[process[row]]} ${id[row]}`;
      let place = rows.get(key);
      if (!place) {
        place = {
          key, process: texts[process[row]], pid: process_id[row], module: texts[module[row]],
          name: texts[names[row]] || "[unknown]", id: id[row],
          inclusive: table.inclusive.length > 0 ? table.inclusive[row] : null,
          values: new Float64Array(measures.length), errors: new Float64Array(measures.length),
          samples: new Float64Array(measures.length),
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
export function group(rows: Place[], keyOf: (row: Place) => string): Place[] {
  const sums = new Map<string, Place>();
  for (const row of rows) {
    const key = keyOf(row);
    const sum = sums.get(key);
    if (!sum) {
      sums.set(key, { ...row, key, values: row.values.slice(), errors: row.errors.slice(), samples: row.samples.slice() });
      continue;
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
