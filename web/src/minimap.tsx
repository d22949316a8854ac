// The whole graph in a corner, and which part of it is in sight: a click goes there.

import type { JSX, RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";

import type { Layout } from "./blocks";
import { heat } from "./format";

const WIDTH = 130, HEIGHT = 150;

export function Minimap({ frame, zoom, layout, widths, heights, shares }: {
  frame: RefObject<HTMLDivElement>; zoom: number; layout: Layout; widths: number[]; heights: number[]; shares: number[];
}): JSX.Element {
  const [seen, setSeen] = useState({ x: 0, y: 0, width: 0, height: 0 });
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const look = () => setSeen({
      x: element.scrollLeft / zoom, y: element.scrollTop / zoom,
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
  }, [frame, zoom, layout]);
  const scale = Math.min(WIDTH / layout.width, HEIGHT / layout.height);
  const go = (event: MouseEvent) => {
    const box = (event.currentTarget as SVGElement).getBoundingClientRect();
    frame.current?.scrollTo({
      left: ((event.clientX - box.left) / scale) * zoom - frame.current.clientWidth / 2,
      top: ((event.clientY - box.top) / scale) * zoom - frame.current.clientHeight / 2,
    });
  };
  return (
    <svg class="minimap" width={layout.width * scale} height={layout.height * scale} viewBox={`0 0 ${layout.width} ${layout.height}`}
         onClick={go} aria-hidden="true">
      {widths.map((width, i) => (
        <rect x={layout.x[i] - width / 2} y={layout.y[i]} width={width} height={heights[i]} class="box"
              style={{ fill: shares[i] > 0.005 ? heat(shares[i]) : undefined }} />
      ))}
      <rect class="seen" x={seen.x} y={seen.y} width={Math.min(seen.width, layout.width)} height={Math.min(seen.height, layout.height)} />
    </svg>
  );
}
