// A table of many rows, of which only those in sight are drawn: sorted by any column, with the
// keyboard, copied as CSV. A tree if its rows have levels.

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

export interface ColumnOf<Row> {
  key: string;
  title: string;
  hint?: string;
  isText?: boolean;
  width?: number;  // pixels
  value: (row: Row) => number | string | null;
  rank?: (row: Row) => number;  // of a text in its order, where that is known
  draw?: (row: Row) => ComponentChildren;
  share?: (row: Row) => number;  // a bar under the cell [0 to 1]
}

interface Props<Row> {
  label: string;
  columns: ColumnOf<Row>[];
  rows: Row[];
  keyOf: (row: Row) => string;
  sort: string;  // key, "-key": falling
  onSort?: (sort: string) => void;
  selected?: string | null;
  onSelect?: (row: Row) => void;
  onOpen?: (row: Row) => void;
  levelOf?: (row: Row) => number;
  isOpen?: (row: Row) => boolean | null;  // null: nothing below
  onToggle?: (row: Row) => void;
  classOf?: (row: Row) => string;
  onHover?: (row: Row | null) => void;
  height?: string;
  isSorted?: boolean;  // the rows come in their order
  empty?: ComponentChildren;
  scrollTo?: number | null;
}

const ROW_PIXELS = 22;

/// The order of rows by whole numbers from `first` to `last`, by counting each.
function orderOfPlaces(keys: Float64Array, first: number, last: number): Uint32Array {
  const begins = new Uint32Array(last - first + 2);
  for (const key of keys) ++begins[key - first + 1];
  for (let at = 1; at < begins.length; ++at) begins[at] += begins[at - 1];
  const order = new Uint32Array(keys.length);
  for (let row = 0; row < keys.length; ++row) order[begins[keys[row] - first]++] = row;
  return order;
}

/// The order of rows by these keys; those with the same key stay as they are.
function orderOf(keys: Float64Array): Uint32Array {
  let [first, last, areWhole] = [Infinity, -Infinity, true];
  for (const key of keys) {
    if (key < first) first = key;
    if (key > last) last = key;
    areWhole = areWhole && Number.isInteger(key);
  }
  const isShort = last >= first && last - first < 4 * keys.length;
  if (areWhole && isShort) return orderOfPlaces(keys, first, last);
  // The browser sorts numbers ten times as fast as it calls a comparison.
  const sorted = keys.slice().sort();
  const taken = new Uint32Array(keys.length);  // from each first one of its key on
  const order = new Uint32Array(keys.length);
  keys.forEach((key, row) => {
    let [low, high] = [0, keys.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle] < key) low = middle + 1;
      else high = middle;
    }
    order[low + taken[low]++] = row;
  });
  return order;
}

/// The place of each text among all of them; of nothing: null.
function ranksOf(values: (number | string | null)[]): (number | null)[] {
  const different = [...new Set(values.filter((one) => one !== null))];
  const ranks = new Map(different.sort((a, b) => a < b ? -1 : 1).map((one, at) => [one, at]));
  return values.map((one) => one === null ? null : ranks.get(one)!);
}

/// What has no value comes last, however it is sorted.
export function sortRows<Row>(rows: Row[], columns: ColumnOf<Row>[], sort: string): Row[] {
  const column = columns.find((one) => one.key === sort.replace(/^-/, ""));
  if (!column) return rows;
  const sign = sort.startsWith("-") ? -1 : 1;
  const found = rows.map(column.rank ?? column.value);
  const values = found.every((one) => typeof one !== "string") ? found : ranksOf(found);
  const keys = new Float64Array(rows.length);
  values.forEach((one, at) => { keys[at] = Number.isFinite(one) ? sign * Number(one) : Infinity; });
  return Array.from(orderOf(keys), (at) => rows[at]);
}

export function csvOf<Row>(columns: ColumnOf<Row>[], rows: Row[]): string {
  const cell = (value: number | string | null) => {
    if (value === null) return "";
    if (typeof value === "number") return String(value);
    const text = /^[=+@\t-]/.test(value) ? `'${value}` : value;
    return /[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  return [columns.map((one) => cell(one.title)), ...rows.map((row) => columns.map((one) => cell(one.value(row))))]
    .map((line) => line.join(",")).join("\n") + "\n";
}

export function Table<Row>(props: Props<Row>): JSX.Element {
  const { columns, keyOf } = props;
  // Not at each scroll: the columns' closures are new each time, what they read of the rows is not.
  const shape = columns.map((one) => one.key).join("~");
  const rows = useMemo(() => props.isSorted ? props.rows : sortRows(props.rows, columns, props.sort),
                       [props.rows, props.isSorted, props.sort, shape]);
  const body = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [room, setRoom] = useState(600);
  const [widths, setWidths] = useState<Record<string, number>>({});
  useLayoutEffect(() => {
    const element = body.current;
    if (!element) return;
    const measure = new ResizeObserver(() => setRoom(element.clientHeight));
    measure.observe(element);
    return () => measure.disconnect();
  }, []);
  useEffect(() => {
    if (props.scrollTo != null && body.current) {
      const at = props.scrollTo * ROW_PIXELS;
      const element = body.current;
      if (at < element.scrollTop || at > element.scrollTop + element.clientHeight - 2 * ROW_PIXELS) {
        element.scrollTop = Math.max(0, at - element.clientHeight / 3);
      }
    }
  }, [props.scrollTo]);

  const first = Math.max(0, Math.floor(top / ROW_PIXELS) - 8);
  const last = Math.min(rows.length, Math.ceil((top + room) / ROW_PIXELS) + 8);
  const selectedAt = useMemo(() => props.selected == null ? -1 : rows.findIndex((row) => keyOf(row) === props.selected), [rows, props.selected]);
  const template = columns.map((one) => {
    const width = widths[one.key] ?? one.width;
    return width ? `${width}px` : one.isText ? "minmax(160px, 1fr)" : "92px";
  }).join(" ");

  const choose = (at: number) => {
    const row = rows[Math.min(rows.length - 1, Math.max(0, at))];
    if (!row) return;
    props.onSelect?.(row);
    const element = body.current;
    const y = rows.indexOf(row) * ROW_PIXELS;
    if (element && y < element.scrollTop) element.scrollTop = y;
    if (element && y > element.scrollTop + element.clientHeight - 2 * ROW_PIXELS) {
      element.scrollTop = y - element.clientHeight + 2 * ROW_PIXELS;
    }
  };
  const onKey = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor(room / ROW_PIXELS) - 2);
    const steps: Record<string, number> =
      { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -rows.length, End: rows.length };
    const row = rows[selectedAt];
    if (event.key in steps) choose(selectedAt + steps[event.key]);
    else if (event.key === "Enter" && row) props.onOpen?.(row);
    else if (event.key === "ArrowRight" && row && props.isOpen?.(row) === false) props.onToggle?.(row);
    else if (event.key === "ArrowLeft" && row && props.isOpen?.(row) === true) props.onToggle?.(row);
    else return;
    event.preventDefault();
  };
  const resize = (event: PointerEvent, key: string) => {
    event.preventDefault();
    event.stopPropagation();
    const from = event.clientX;
    const head = (event.target as HTMLElement).parentElement!;
    const was = head.getBoundingClientRect().width;
    const move = (now: PointerEvent) =>
      setWidths((all) => ({ ...all, [key]: Math.max(40, was + now.clientX - from) }));
    const up = () => {
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", up);
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", up);
  };
  const isTree = props.levelOf !== undefined;
  return (
    <div class="table" role={isTree ? "treegrid" : "grid"} aria-label={props.label} aria-rowcount={rows.length + 1}
         style={props.height ? { height: props.height } : undefined}>
      <div class="body" ref={body} tabIndex={0} aria-label={`${props.label}: rows`} role="rowgroup"
           onScroll={(event) => setTop((event.target as HTMLElement).scrollTop)} onKeyDown={onKey}>
        <div class="row head" role="row" aria-rowindex={1} style={{ gridTemplateColumns: template }}>
          {columns.map((one) => {
            const state = props.sort === one.key ? "ascending" : props.sort === `-${one.key}` ? "descending" : "none";
            const next = state === "descending" || (state === "none" && one.isText) ? one.key : `-${one.key}`;
            return (
              <div role="columnheader" aria-sort={state} class={one.isText ? "text" : "number"} title={one.hint}>
                <button type="button" onClick={() => props.onSort?.(next)} disabled={!props.onSort}>
                  {one.title}{state === "descending" ? " ▾" : state === "ascending" ? " ▴" : ""}
                </button>
                <span class="grip" onPointerDown={(event) => resize(event, one.key)} aria-hidden="true" />
              </div>
            );
          })}
        </div>
        <div style={{ height: `${first * ROW_PIXELS}px` }} aria-hidden="true" />
        {rows.slice(first, last).map((row, i) => {
          const key = keyOf(row);
          const open = props.isOpen?.(row) ?? null;
          return (
            <div key={key} role="row" aria-rowindex={first + i + 2} style={{ gridTemplateColumns: template }}
                 aria-selected={props.onSelect ? key === props.selected : undefined}
                 aria-level={isTree ? props.levelOf!(row) + 1 : undefined} aria-expanded={open === null ? undefined : open}
                 class={`row ${key === props.selected ? "selected" : ""} ${props.classOf?.(row) ?? ""}`}
                 onClick={() => props.onSelect?.(row)} onDblClick={() => props.onOpen?.(row)}
                 onMouseEnter={props.onHover && (() => props.onHover!(row))}
                 onMouseLeave={props.onHover && (() => props.onHover!(null))}>
              {columns.map((one, at) => {
                const share = one.share?.(row) ?? 0;
                return (
                  <div role="gridcell" class={one.isText ? "text" : "number"}
                       style={at === 0 && isTree ? { paddingLeft: `${6 + 14 * props.levelOf!(row)}px` } : undefined}>
                    {share > 0.0005 && <span class="bar" style={{ width: `${Math.min(100, 100 * share)}%` }} aria-hidden="true" />}
                    {at === 0 && isTree && (
                      <button type="button" class="twisty" tabIndex={-1} aria-label={open ? "close" : "open"}
                              style={{ visibility: open === null ? "hidden" : "visible" }}
                              onClick={(event) => { event.stopPropagation(); props.onToggle?.(row); }}>
                        {open ? "▾" : "▸"}
                      </button>
                    )}
                    <span class="cell">{one.draw ? one.draw(row) : one.value(row) ?? "–"}</span>
                  </div>
                );
              })}
            </div>
          );
        })}
        <div style={{ height: `${(rows.length - last) * ROW_PIXELS}px` }} aria-hidden="true" />
        {rows.length === 0 && <p class="none">{props.empty ?? "nothing here"}</p>}
      </div>
    </div>
  );
}

export function CopyButtons<Row>({ columns, rows, sort }: { columns: ColumnOf<Row>[]; rows: Row[]; sort: string }): JSX.Element {
  const [done, setDone] = useState("");
  const copy = async (text: string, word: string) => {
    await navigator.clipboard?.writeText(text).catch(() => undefined);
    setDone(word);
    setTimeout(() => setDone(""), 1500);
  };
  return (
    <span class="tools">
      <button type="button" onClick={() => copy(csvOf(columns, sortRows(rows, columns, sort)), "copied")}>copy CSV</button>
      <button type="button" onClick={() => copy(location.href, "link copied")}>copy link</button>
      <span role="status">{done}</span>
    </span>
  );
}
