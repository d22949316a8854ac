// The whole graph in a corner, and which part of it is in sight: a click goes there.

import type { JSX, RefObject } from "preact";
import { useMemo } from "preact/hooks";

import { heat } from "./format";
import type { Box, Layout } from "./layout";

const WIDTH = 130, HEIGHT = 150;

export function Minimap({ frame, zoom, layout, seen, widths, heights, shares }: {
  frame: RefObject<HTMLDivElement>; zoom: number; layout: Layout; seen: Box;
  widths: number[]; heights: number[]; shares: number[];
}): JSX.Element {
  const scale = Math.min(WIDTH / layout.width, HEIGHT / layout.height);
  const go = (event: MouseEvent) => {
    const box = (event.currentTarget as SVGElement).getBoundingClientRect();
    frame.current?.scrollTo({
      left: ((event.clientX - box.left) / scale) * zoom - frame.current.clientWidth / 2,
      top: ((event.clientY - box.top) / scale) * zoom - frame.current.clientHeight / 2,
    });
  };
  // Not at each scroll.
  const boxes = useMemo(() => widths.map((width, i) => (
    <rect x={layout.x[i] - width / 2} y={layout.y[i]} width={width} height={heights[i]} class="box"
          style={{ fill: shares[i] > 0.005 ? heat(shares[i]) : undefined }} />
  )), [layout, shares]);
  return (
    <svg class="minimap" width={layout.width * scale} height={layout.height * scale} viewBox={`0 0 ${layout.width} ${layout.height}`}
         onClick={go} aria-hidden="true">
      {boxes}
      <rect class="seen" x={seen.x} y={seen.y} width={Math.min(seen.width, layout.width)} height={Math.min(seen.height, layout.height)} />
    </svg>
  );
}
