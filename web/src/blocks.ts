// A function's blocks as a graph with a place for each on the page: layers from the entry down
// (Sugiyama's method: edges against the flow are turned round, blocks of a layer are ordered by
// their neighbours' middle), as a reader of code expects them.

export interface Graph {
  successors: number[][];
  isBack: (from: number, to: number) => boolean;
  runsOf: (from: number, to: number) => number | null;  // null: not known
}

export interface Layout {
  x: number[];  // the middle of the block
  y: number[];  // its upper edge
  width: number;
  height: number;
}

const GAP_X = 24, GAP_Y = 30, SWEEPS = 8;

/// Where a branch goes, by the text of its instruction; null: it is none, or goes through a register.
function targetOf(text: string): { target: bigint | null; isJump: boolean; falls: boolean } {
  const [word, operand = ""] = text.trim().split(/\s+/, 2);
  const isX86Jump = /^j[a-z]+$/.test(word) || /^loop/.test(word);
  const isArmJump = /^(b|b\.[a-z]+|cbn?z|tbn?z|br|ret)$/.test(word) && !/^bl/.test(word);
  const isEnd = /^(ret[qlw]?|hlt|ud2|jmpq?|br|b|udf|brk)$/.test(word);
  const found = (isX86Jump || isArmJump) ? /(?:^|[\s,#])(?:0x)?([0-9a-f]+)\b(?!\()/.exec(isArmJump ? text.split(/[\s,]+/).pop()! : operand) : null;
  return { target: found && !operand.startsWith("*") ? BigInt(`0x${found[1]}`) : null, isJump: isX86Jump || isArmJump, falls: !isEnd };
}

/// The edges that the document has of the place.
export function graphOf(blocks: number, edges: { from: number[]; to: number[]; runs: (number | null)[] }): Graph {
  const successors: number[][] = Array.from({ length: blocks }, () => []);
  const runs = new Map<number, number | null>();
  edges.from.forEach((from, i) => {
    const to = edges.to[i];
    if (from < 0 || to < 0 || runs.has(from * blocks + to)) return;
    successors[from].push(to);
    runs.set(from * blocks + to, edges.runs[i]);
  });
  const back = findBackEdges(successors);
  return { successors, isBack: (from, to) => back.has(from * blocks + to), runsOf: (from, to) => runs.get(from * blocks + to) ?? null };
}

/// Edges of code that was inlined, which is a part of another function: by what its jumps say.
/// `ends[i]` is the text of the last instruction of block i.
export function findGraph(begins: string[], ends: string[]): Graph {
  const at = new Map(begins.map((begin, i) => [BigInt(begin), i]));
  const successors = begins.map((_, i) => {
    const { target, isJump, falls } = targetOf(ends[i] ?? "");
    const next: number[] = [];
    const jumps = isJump && target !== null ? at.get(target) : undefined;
    if (falls && i + 1 < begins.length) next.push(i + 1);
    if (jumps !== undefined && !next.includes(jumps)) next.push(jumps);
    return next;
  });
  const back = findBackEdges(successors);
  return { successors, isBack: (from, to) => back.has(from * begins.length + to), runsOf: () => null };
}

function findBackEdges(successors: number[][]): Set<number> {
  const count = successors.length;
  const back = new Set<number>();
  const state = new Uint8Array(count);  // 1: on the way, 2: done
  for (let root = 0; root < count; ++root) {
    if (state[root]) continue;
    const way: [number, number][] = [[root, 0]];
    state[root] = 1;
    while (way.length > 0) {
      const top = way[way.length - 1];
      const next = successors[top[0]][top[1]++];
      if (next === undefined) {
        state[top[0]] = 2;
        way.pop();
      } else if (state[next] === 1) {
        back.add(top[0] * count + next);
      } else if (state[next] === 0) {
        state[next] = 1;
        way.push([next, 0]);
      }
    }
  }
  return back;
}

export function layOut(graph: Omit<Graph, "runsOf">, widths: number[], heights: number[]): Layout {
  const count = graph.successors.length;
  const rank = new Int32Array(count);
  // Longest way from the entry; back edges do not count, so this ends.
  const indegree = new Int32Array(count);
  graph.successors.forEach((all, from) => all.forEach((to) => { if (!graph.isBack(from, to)) ++indegree[to]; }));
  const ready = [...indegree.keys()].filter((i) => indegree[i] === 0);
  const predecessors: number[][] = Array.from({ length: count }, () => []);
  while (ready.length > 0) {
    const from = ready.pop()!;
    for (const to of graph.successors[from]) {
      if (graph.isBack(from, to)) continue;
      predecessors[to].push(from);
      rank[to] = Math.max(rank[to], rank[from] + 1);
      if (--indegree[to] === 0) ready.push(to);
    }
  }
  const layers: number[][] = [];
  for (let i = 0; i < count; ++i) (layers[rank[i]] ??= []).push(i);
  const order = new Float64Array(count);
  layers.forEach((layer) => layer.forEach((block, i) => { order[block] = i; }));
  const middle = (neighbours: number[], own: number) => neighbours.length === 0 ? own
    : neighbours.reduce((sum, other) => sum + order[other], 0) / neighbours.length;
  for (let sweep = 0; sweep < SWEEPS; ++sweep) {
    const down = sweep % 2 === 0;
    for (const layer of down ? layers : [...layers].reverse()) {
      const wish = new Map(layer.map((block) => [block, middle(down ? predecessors[block]
        : graph.successors[block].filter((to) => !graph.isBack(block, to)), order[block])]));
      layer.sort((a, b) => wish.get(a)! - wish.get(b)! || a - b);
      layer.forEach((block, i) => { order[block] = i; });
    }
  }
  const x = new Array<number>(count).fill(0), y = new Array<number>(count).fill(0);
  const layerWidths = layers.map((layer) => layer.reduce((sum, block) => sum + widths[block] + GAP_X, -GAP_X));
  const width = Math.max(1, ...layerWidths);
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
  layers.forEach((layer) => {
    for (const block of layer) {
      if (predecessors[block].length === 0) continue;
      const wish = predecessors[block].reduce((sum, other) => sum + x[other], 0) / predecessors[block].length;
      const i = layer.indexOf(block);
      const left = i > 0 ? x[layer[i - 1]] + widths[layer[i - 1]] / 2 + GAP_X + widths[block] / 2 : widths[block] / 2;
      const right = i + 1 < layer.length ? x[layer[i + 1]] - widths[layer[i + 1]] / 2 - GAP_X - widths[block] / 2 : width - widths[block] / 2;
      if (right >= left) x[block] = Math.min(right, Math.max(left, wish));
    }
  });
  return { x, y, width, height: Math.max(1, top - GAP_Y) };
}
