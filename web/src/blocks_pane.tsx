// The blocks of one place of a function as a graph: how hot each is, how often its edges ran. Only what
// is in sight is drawn.

import type { JSX, RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import { findGraph, graphOf, partOf } from "./blocks";
import { amount, heat, percent } from "./format";
import type { Instruction, Shown } from "./instructions";
import type { Box, Layout } from "./layout";
import type { Asked } from "./layout_worker";
import { Minimap } from "./minimap";
import type { Function as Code } from "./types";
import { useLayout } from "./use_layout";

const MOST_LINES = 6, CHAR = 6.3, LINE = 13;
const LEFT = 20, TOP = 8;  // around the graph
const MOST_BLOCKS = 300;  // of larger functions what is cold is left out, or nobody sees the rest
const LEAST_SHARE = 0.001;  // of a block that is not cold
const LEAST_ZOOM_OF_TEXT = 0.4;  // nobody reads smaller ones
const LEAST_ZOOM = 0.05;  // of the whole of a graph: nobody sees blocks that are smaller

type Place = Code.FunctionDocument["places"][number];

/// The texts of each block.
function textsOf(code: Code.FunctionDocument, blocks: Place["blocks"]): string[][] {
  return blocks.map((one) => {
    const shown = Math.min(one.count, MOST_LINES);
    const text = Array.from({ length: shown }, (_, k) => code.instructions.text[one.first + k].replace(/\s+/g, " "));
    if (one.count > shown) text.push(`… ${one.count - shown} more`);
    return text;
  });
}

/// What of the graph is in sight, in its own coordinates.
function useSeen(frame: RefObject<HTMLDivElement>, zoom: number, layout: Layout | null): Box {
  const [seen, setSeen] = useState<Box>({ x: 0, y: 0, width: 0, height: 0 });
  useLayoutEffect(() => {
    const element = frame.current;
    if (!element) return;
    const look = () => setSeen({
      x: element.scrollLeft / zoom - LEFT, y: element.scrollTop / zoom - TOP,
      width: element.clientWidth / zoom, height: element.clientHeight / zoom,
    });
    look();
    const resized = new ResizeObserver(look);
    resized.observe(element);
    element.addEventListener("scroll", look);
    return () => {
      resized.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, [zoom, layout]);
  return seen;
}

/// Whether something from one point to another is in sight, or less than half a window away.
function isNear({ x, y, width, height }: Box, left: number, top: number, right: number, bottom: number): boolean {
  return right > x - width / 2 && left < x + 1.5 * width && bottom > y - height / 2 && top < y + 1.5 * height;
}

function Edges({ asked, layout, seen, executions }: { asked: Asked; layout: Layout; seen: Box; executions: string }): JSX.Element {
  const { graph, widths, heights } = asked;
  const mostRuns = useMemo(() => Math.max(0, ...graph.map((edges) => Math.max(0, ...edges.map((one) => one.runs ?? 0)))), [graph]);
  return (
    <>{graph.map((edges, from) => edges.map(({ to, isBack, runs }, k) => {
      const [x1, y1, x2, y2] = [layout.x[from], layout.y[from] + heights[from], layout.x[to], layout.y[to]];
      const side = Math.max(x1 + widths[from] / 2, x2 + widths[to] / 2) + 26;
      if (!isNear(seen, Math.min(x1, x2), Math.min(y1, y2), isBack ? side : Math.max(x1, x2), Math.max(y1, y2))) return null;
      const path = isBack
        ? `M${x1 + widths[from] / 2},${y1 - 8} C${side},${y1 - 8} ${side},${y2 + 10} ${x2 + widths[to] / 2 + 3},${y2 + 10}`
        : `M${x1},${y1} C${x1},${y1 + 16} ${x2},${y2 - 16} ${x2},${y2 - 3}`;
      const strength = runs === null || mostRuns === 0 ? 1 : runs === 0 ? 0.5 : 1 + 2.5 * Math.max(0, 1 + Math.log10(runs / mostRuns) / 4);
      return (
        <path key={`${from} ${to}`} d={path} class={`edge ${isBack ? "back" : k > 0 ? "taken" : ""} ${runs === 0 ? "never" : ""}`} style={{ strokeWidth: strength }} marker-end="url(#arrow)">
          <title>{runs === null ? "how often: not known" : `${amount(runs)} times (${executions})`}</title>
        </path>
      );
    }))}</>
  );
}

export function BlocksPane({ code, list, place, main, selectedBlock, hoveredBlock, onSelect, onHover }: {
  code: Code.FunctionDocument; list: Instruction[]; place: number; main: Shown;
  selectedBlock: number | null; hoveredBlock: number | null;
  onSelect: (at: Instruction) => void; onHover: (block: number | null) => void;
}): JSX.Element {
  const frame = useRef<HTMLDivElement>(null);
  const [zoom, setZoom] = useState(1);
  const [hidesCold, setHidesCold] = useState(true);
  const { instructions } = code;
  const base = code.places.slice(0, place).reduce((sum, one) => sum + one.blocks.length, 0);
  const flow: Place | undefined = code.places[place];
  const all = flow?.blocks ?? [];
  const graph = useMemo(() => flow && flow.executions ? graphOf(all.length, flow.edges)
    : findGraph(all.map((one) => one.begin), all.map((one) => instructions.text[one.first + one.count - 1] ?? "")), [code, place]);
  const shares = useMemo(() => {
    const values = instructions.values[main.column] ?? [];
    const sums = all.map((one) => values.slice(one.first, one.first + one.count).reduce((sum, value) => sum + value, 0));
    const total = sums.reduce((sum, one) => sum + one, 0) || 1;
    return sums.map((one) => one / total);
  }, [code, place, main.column]);
  const isCut = hidesCold && all.length > MOST_BLOCKS;
  const kept = useMemo(() => [...all.keys()].filter((i) => !isCut || shares[i] > LEAST_SHARE || i === 0),
                       [code, place, isCut, isCut && shares]);
  const { texts, asked } = useMemo(() => {
    const lines = textsOf(code, kept.map((old) => all[old]));
    const widths = lines.map((text, i) => Math.min(260, Math.max(110, all[kept[i]].cpi ? 168 : 0, ...text.map((one) => 12 + CHAR * one.length))));
    return { texts: lines, asked: { graph: partOf(graph, kept), widths, heights: lines.map((text) => 20 + LINE * text.length) } };
  }, [graph, kept]);
  const keptShares = useMemo(() => kept.map((old) => shares[old]), [kept, shares]);
  const layout = useLayout(asked);
  const seen = useSeen(frame, zoom, layout);
  const { widths, heights } = asked;
  useEffect(() => {
    const at = selectedBlock === null ? -1 : kept.indexOf(selectedBlock - base);
    if (at < 0 || !frame.current || layout === null) return;
    frame.current.scrollTo({ left: layout.x[at] * zoom - frame.current.clientWidth / 2 + 20, top: layout.y[at] * zoom - frame.current.clientHeight / 3 });
  }, [selectedBlock, layout]);
  return (
    <div class="blocks">
      <div class="bar-of-tools small">
        <button type="button" onClick={() => setZoom(zoom * 1.25)} aria-label="larger">+</button>
        <button type="button" onClick={() => setZoom(zoom / 1.25)} aria-label="smaller">−</button>
        <button type="button" onClick={() => frame.current && layout && setZoom(Math.min(1, Math.max(LEAST_ZOOM, Math.min(frame.current.clientWidth / (layout.width + 50), frame.current.clientHeight / (layout.height + 40)))))}>all</button>
        {flow && flow.loops.length > 0 && <label>loop <select value="" onChange={(event) => {
          const begin = (event.target as HTMLSelectElement).value;
          const first = list.find((row) => row.place === place && instructions.address[row.at] === begin);
          if (first) onSelect(first);
        }}>
          <option value="">{flow.loops.length} in all</option>
          {flow.loops.map((one) => <option value={one.begin}>{"· ".repeat(one.depth - 1)}{one.begin.slice(2)}{one.rounds === null ? "" : `  ${amount(one.rounds)} rounds`}</option>)}
        </select></label>}
        <span class="dim">{all.length} blocks{all.length > kept.length ? `, ${all.length - kept.length} cold ones hidden` : ""}</span>
        {all.length > MOST_BLOCKS && <label><input type="checkbox" checked={!hidesCold} onChange={() => setHidesCold(!hidesCold)} /> cold ones, too</label>}
      </div>
      <div class="frame" ref={frame} tabIndex={0} role="group" aria-label="blocks of the function">
        {layout === null && <p class="waiting" role="status">laying {kept.length.toLocaleString("en")} blocks out …</p>}
        {layout && <svg role="img" aria-label={`control flow: ${kept.length} blocks`} width={(layout.width + 50) * zoom} height={(layout.height + 30) * zoom} viewBox={`${-LEFT} ${-TOP} ${layout.width + 50} ${layout.height + 30}`}>
          <defs><marker id="arrow" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse" orient="auto"><path d="M0,0 L6,3 L0,6 Z" class="arrow" /></marker></defs>
          <Edges asked={asked} layout={layout} seen={seen} executions={flow?.executions ?? ""} />
          {kept.map((old, i) => {
            const left = layout.x[i] - widths[i] / 2;
            if (!isNear(seen, left, layout.y[i], left + widths[i], layout.y[i] + heights[i])) return null;
            const isChosen = selectedBlock === base + old, isLinked = hoveredBlock === base + old;
            return (
              <g key={old} transform={`translate(${left},${layout.y[i]})`} class={`block ${isChosen ? "selected" : ""} ${isLinked ? "linked" : ""}`}
                 onMouseEnter={() => onHover(base + old)} onMouseLeave={() => onHover(null)}
                 onClick={() => { const first = list.find((row) => row.block === base + old); if (first) onSelect(first); }}>
                <rect width={widths[i]} height={heights[i]} rx="2" class="box" />
                <rect width={widths[i]} height={heights[i]} rx="2" style={{ fill: heat(shares[old]) }} />
                {zoom > LEAST_ZOOM_OF_TEXT && <>
                  <text x="6" y="13" class="title">{all[old].begin.slice(2)}  {percent(shares[old])}{all[old].cpi ? `  CPI ${all[old].cpi!.value.toFixed(2)}` : ""}</text>
                  {texts[i].map((text, k) => <text x="6" y={27 + LINE * k}>{text.slice(0, 38)}</text>)}
                </>}
              </g>
            );
          })}
        </svg>}
      </div>
      {layout && kept.length > 12 && <Minimap frame={frame} zoom={zoom} layout={layout} seen={seen} widths={widths} heights={heights} shares={keptShares} />}
    </div>
  );
}
