// A panel of a scan's plot: curves that differ by colour, dashes and shape. Points are reached by the
// mouse and by the arrow keys, and lead to their cells.

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";

import { areNumbers, markText, numberAxis, type Axis, type Curve, type Mark, type Panel } from "./scan_curves";

const LEFT = 58, RIGHT = 14, TOP = 12, BOTTOM = 40;
// Okabe and Ito's colours, without the yellow one, which paper does not show.
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#7f7f7f"];
const DASHES = ["", "6 3", "2 3", "9 3 2 3"];

export interface Look { colour: string; dashes: string; shape: number; isHollow: boolean }
export function lookOf(number: number): Look {
  return { colour: COLOURS[number % COLOURS.length], dashes: DASHES[number % DASHES.length], shape: number % 3, isHollow: number % 6 >= 3 };
}

export function Shape({ look, x, y, size = 3.4 }: { look: Look; x: number; y: number; size?: number }): JSX.Element {
  const paint = { stroke: look.colour, fill: look.isHollow ? "var(--paper)" : look.colour };
  if (look.shape === 0) return <circle cx={x} cy={y} r={size} {...paint} />;
  if (look.shape === 1) return <rect x={x - size} y={y - size} width={2 * size} height={2 * size} {...paint} />;
  return <path d={`M${x} ${y - 1.3 * size}l${1.2 * size} ${2.1 * size}h${-2.4 * size}z`} {...paint} />;
}

interface Props {
  panel: Panel;
  numberOf: (name: string) => number;  // what a curve looks like
  over: string;
  label: string;
  logX: boolean;
  logY: boolean;
  isLarge: boolean;
  chosen: number[];  // cells
  onChoose: (cell: number) => void;
}

/// The marks that can be gone to, of curves that are drawn.
type Point = { curve: number; at: number };

export function Plot(props: Props): JSX.Element {
  const { panel, over } = props;
  const [point, setPoint] = useState<Point | null>(null);
  const width = props.isLarge ? 760 : 460, height = props.isLarge ? 360 : 280;
  const drawn = useMemo(() => {
    const isNumeric = areNumbers(panel.xs);
    const ys = panel.curves.flatMap((curve) => curve.marks.flatMap((mark) =>
      mark.value === null ? [] : [mark.value - mark.error, mark.value + mark.error]));
    const count = panel.xs.length;
    const x: Axis = isNumeric ? numberAxis(panel.xs.map(Number), props.logX, false, props.isLarge ? 10 : 6)
      : { place: (value) => (value + 0.5) / count, ticks: panel.xs.map((text, i) => ({ at: (i + 0.5) / count, text })) };
    if (isNumeric && count <= 10) x.ticks = panel.xs.map((text) => ({ at: x.place(Number(text)), text }));
    const xOf = (at: number): number => LEFT + (width - LEFT - RIGHT) * x.place(isNumeric ? Number(panel.xs[at]) : at);
    return { isNumeric, x, y: numberAxis(ys, props.logY, true, props.isLarge ? 6 : 4), xOf };
  }, [panel, props.logX, props.logY, props.isLarge]);
  const yAt = (place: number): number => height - BOTTOM - place * (height - TOP - BOTTOM);
  const yOf = (value: number): number => yAt(drawn.y.place(value));

  const canGo = (curve: Curve, at: number): boolean => !curve.isExpected && curve.marks[at]?.value != null;
  const move = (across: number, along: number): void => {
    const first = panel.curves.findIndex((curve) => !curve.isExpected);
    let { curve, at } = point ?? { curve: first, at: along > 0 ? -1 : 0 };
    for (let tries = 0; tries < panel.curves.length * panel.xs.length; ++tries) {
      curve = (curve + across + panel.curves.length) % panel.curves.length;
      at += along;
      if (at < 0 || at >= panel.xs.length) return;
      if (panel.curves[curve] && canGo(panel.curves[curve], at)) return setPoint({ curve, at });
    }
  };
  const onKey = (event: KeyboardEvent): void => {
    const steps: Record<string, [number, number]> = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    const mark = point && panel.curves[point.curve]?.marks[point.at];
    if (event.key in steps) move(...steps[event.key]);
    else if (event.key === "Enter" && mark?.cell != null) props.onChoose(mark.cell);
    else return;
    event.preventDefault();
  };
  const describe = (curve: Curve, mark: Mark): string => `${curve.name}, ${over} ${mark.x}: ${markText(mark)}`;
  const shown = point && panel.curves[point.curve]?.marks[point.at] ? { curve: panel.curves[point.curve], mark: panel.curves[point.curve].marks[point.at] } : null;
  const line = (curve: Curve): string => {
    let isOpen = false;
    return curve.marks.map((mark, at) => {
      if (mark.value === null) { isOpen = false; return ""; }  // a hole is no line
      const step = `${isOpen ? "L" : "M"}${drawn.xOf(at).toFixed(1)} ${yOf(mark.value).toFixed(1)}`;
      isOpen = true;
      return step;
    }).join("");
  };
  // Expectations lie under what was measured.
  const order = [...panel.curves.keys()].sort((a, b) => Number(panel.curves[b].isExpected) - Number(panel.curves[a].isExpected));
  let freeFrom = 0;
  return (
    <figure class={props.isLarge ? "plot large" : "plot"}>
      {panel.title && <figcaption>{panel.title}</figcaption>}
      <svg viewBox={`0 0 ${width} ${height}`} role="application" tabIndex={0} onKeyDown={onKey} onBlur={() => setPoint(null)}
           aria-label={`${props.label}${panel.title ? `, ${panel.title}` : ""}: arrow keys go from point to point, Enter shows the cell`}>
        {drawn.y.ticks.map((tick) => <>
          <path class="grid" d={`M${LEFT} ${yAt(tick.at).toFixed(1)}H${width - RIGHT}`} />
          <text x={LEFT - 6} y={yAt(tick.at) + 4} text-anchor="end">{tick.text}</text></>)}
        {drawn.x.ticks.map((tick) => {
          const x = LEFT + (width - LEFT - RIGHT) * tick.at;
          const half = 3.4 * tick.text.length;
          const isFree = x - half >= freeFrom;
          if (isFree) freeFrom = x + half + 4;
          return <><path class="axis" d={`M${x.toFixed(1)} ${yAt(0)}v4`} />{isFree && <text x={x} y={yAt(0) + 16} text-anchor="middle">{tick.text}</text>}</>;
        })}
        <path class="axis" d={`M${LEFT} ${TOP}V${yAt(0)}H${width - RIGHT}`} />
        <text x={(LEFT + width - RIGHT) / 2} y={height - 6} text-anchor="middle">{over}</text>
        {order.map((number) => {
          const curve = panel.curves[number];
          const look = lookOf(props.numberOf(curve.name));
          if (curve.isExpected) return <path class="expected" d={line(curve)} />;
          return <g>
            {drawn.isNumeric && <path d={line(curve)} fill="none" stroke={look.colour} stroke-width="1.6" stroke-dasharray={look.dashes} />}
            {curve.marks.map((mark, at) => {
              if (mark.value === null) return null;
              const x = drawn.xOf(at), y = yOf(mark.value);
              const isChosen = mark.cell !== null && props.chosen.includes(mark.cell);
              return <g class="point" data-cell={mark.cell} onClick={() => mark.cell !== null && props.onChoose(mark.cell)}
                        onMouseEnter={() => setPoint({ curve: number, at })} onMouseLeave={() => setPoint(null)}>
                {mark.error > 0 && <path d={`M${x.toFixed(1)} ${yOf(mark.value - mark.error).toFixed(1)}V${yOf(mark.value + mark.error).toFixed(1)}`} stroke={look.colour} />}
                {isChosen && <circle class="ring" cx={x} cy={y} r={8} />}
                <circle class="reach" cx={x} cy={y} r={8} />
                <Shape look={look} x={x} y={y} />
              </g>;
            })}
          </g>;
        })}
        {shown && shown.mark.value !== null && point && <circle class="ring" cx={drawn.xOf(point.at)} cy={yOf(shown.mark.value)} r={6} />}
      </svg>
      {shown && shown.mark.value !== null && point && <div class={`tip ${drawn.xOf(point.at) > width / 2 ? "left" : ""}`} role="status"
        style={{ [drawn.xOf(point.at) > width / 2 ? "right" : "left"]: `${drawn.xOf(point.at) > width / 2 ? 100 - 100 * (drawn.xOf(point.at) - 10) / width : 100 * (drawn.xOf(point.at) + 10) / width}%`, top: `${100 * yOf(shown.mark.value) / height}%` }}>{describe(shown.curve, shown.mark)}</div>}
    </figure>
  );
}
