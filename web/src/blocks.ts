// A function's blocks as a graph: plain data, which a worker can be given.

export interface Edge {
  to: number;
  isBack: boolean;  // against the flow: it closes a loop
  runs: number | null;  // null: not known
}

/// The edges that leave each block.
export type Graph = Edge[][];

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
  const graph: Graph = Array.from({ length: blocks }, () => []);
  edges.from.forEach((from, i) => {
    const to = edges.to[i];
    if (from < 0 || to < 0 || graph[from].some((edge) => edge.to === to)) return;
    graph[from].push({ to, isBack: false, runs: edges.runs[i] });
  });
  markBackEdges(graph);
  return graph;
}

/// Edges of code that was inlined, which is a part of another function: by what its jumps say.
/// `ends[i]` is the text of the last instruction of block i.
export function findGraph(begins: string[], ends: string[]): Graph {
  const at = new Map(begins.map((begin, i) => [BigInt(begin), i]));
  const graph: Graph = begins.map((_, i) => {
    const { target, isJump, falls } = targetOf(ends[i] ?? "");
    const next: number[] = [];
    const jumps = isJump && target !== null ? at.get(target) : undefined;
    if (falls && i + 1 < begins.length) next.push(i + 1);
    if (jumps !== undefined && !next.includes(jumps)) next.push(jumps);
    return next.map((to) => ({ to, isBack: false, runs: null }));
  });
  markBackEdges(graph);
  return graph;
}

/// The graph of these blocks alone, numbered in this order.
export function partOf(graph: Graph, kept: number[]): Graph {
  const number = new Map(kept.map((old, now) => [old, now]));
  return kept.map((old) => graph[old].filter((edge) => number.has(edge.to))
    .map((edge) => ({ ...edge, to: number.get(edge.to)! })));
}

/// Those that lead to a block from which one came, going as deep as possible first.
function markBackEdges(graph: Graph): void {
  const state = new Uint8Array(graph.length);  // 1: on the way, 2: done
  for (let root = 0; root < graph.length; ++root) {
    if (state[root]) continue;
    const way: [number, number][] = [[root, 0]];
    state[root] = 1;
    while (way.length > 0) {
      const top = way[way.length - 1];
      const edge = graph[top[0]][top[1]++];
      if (edge === undefined) {
        state[top[0]] = 2;
        way.pop();
      } else if (state[edge.to] === 1) {
        edge.isBack = true;
      } else if (state[edge.to] === 0) {
        state[edge.to] = 1;
        way.push([edge.to, 0]);
      }
    }
  }
}
