// A place on the page for each block of a graph: layers from the entry down (Sugiyama's method:
// edges against the flow are turned round, blocks of a layer are ordered by their neighbours'
// middle), as a reader of code expects them.

import type { Graph } from "./blocks";

export interface Layout {
  x: number[];  // the middle of the block
  y: number[];  // its upper edge
  width: number;
  height: number;
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

const GAP_X = 24, GAP_Y = 30, SWEEPS = 8;

/// A graph without its back edges.
interface Flow {
  successors: number[][];
  predecessors: number[][];
  layers: number[][];  // each block is below all that lead to it
}

function findLayers(graph: Graph): Flow {
  const count = graph.length;
  const successors = graph.map((edges) => edges.filter((edge) => !edge.isBack).map((edge) => edge.to));
  const predecessors: number[][] = Array.from({ length: count }, () => []);
  successors.forEach((next, from) => next.forEach((to) => predecessors[to].push(from)));
  const rank = new Int32Array(count);  // the longest way from an entry
  const waits = predecessors.map((one) => one.length);
  const ready = [...waits.keys()].filter((i) => waits[i] === 0);
  while (ready.length > 0) {
    const from = ready.pop()!;
    for (const to of successors[from]) {
      rank[to] = Math.max(rank[to], rank[from] + 1);
      if (--waits[to] === 0) ready.push(to);
    }
  }
  const layers: number[][] = [];
  for (let i = 0; i < count; ++i) (layers[rank[i]] ??= []).push(i);
  return { successors, predecessors, layers };
}

function orderLayers({ successors, predecessors, layers }: Flow): void {
  const order = new Float64Array(successors.length);
  const wish = new Float64Array(successors.length);
  for (const layer of layers) layer.forEach((block, i) => { order[block] = i; });
  for (let sweep = 0; sweep < SWEEPS; ++sweep) {
    const isDown = sweep % 2 === 0;
    const neighbours = isDown ? predecessors : successors;
    for (const layer of isDown ? layers : [...layers].reverse()) {
      for (const block of layer) {
        const others = neighbours[block];
        wish[block] = others.length === 0 ? order[block] : others.reduce((sum, one) => sum + order[one], 0) / others.length;
      }
      layer.sort((a, b) => wish[a] - wish[b] || a - b);
      layer.forEach((block, i) => { order[block] = i; });
    }
  }
}

export function layOut(graph: Graph, widths: number[], heights: number[]): Layout {
  const flow = findLayers(graph);
  orderLayers(flow);
  const { layers, predecessors } = flow;
  const x = new Array<number>(graph.length).fill(0), y = new Array<number>(graph.length).fill(0);
  const layerWidths = layers.map((layer) => layer.reduce((sum, block) => sum + widths[block] + GAP_X, -GAP_X));
  const width = layerWidths.reduce((most, one) => Math.max(most, one), 1);
  let top = 0;
  layers.forEach((layer, i) => {
    let left = (width - layerWidths[i]) / 2;
    let tallest = 0;
    for (const block of layer) {
      x[block] = left + widths[block] / 2;
      y[block] = top;
      left += widths[block] + GAP_X;
      tallest = Math.max(tallest, heights[block]);
    }
    top += tallest + GAP_Y;
  });
  // Blocks move under what leads to them as far as their layer has room.
  for (const layer of layers) {
    layer.forEach((block, i) => {
      if (predecessors[block].length === 0) return;
      const wish = predecessors[block].reduce((sum, other) => sum + x[other], 0) / predecessors[block].length;
      const left = i > 0 ? x[layer[i - 1]] + widths[layer[i - 1]] / 2 + GAP_X + widths[block] / 2 : widths[block] / 2;
      const right = i + 1 < layer.length ? x[layer[i + 1]] - widths[layer[i + 1]] / 2 - GAP_X - widths[block] / 2 : width - widths[block] / 2;
      if (right >= left) x[block] = Math.min(right, Math.max(left, wish));
    });
  }
  return { x, y, width, height: Math.max(1, top - GAP_Y) };
}
