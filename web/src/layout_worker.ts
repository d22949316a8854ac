// Lays a graph out beside the page, which goes on answering meanwhile. The page holds this script as
// a text (build.mjs) and starts it from there: one file has no other file to load it from.

import type { Graph } from "./blocks";
import { layOut } from "./layout";

export interface Asked {
  graph: Graph;
  widths: number[];
  heights: number[];
}

self.onmessage = ({ data }: MessageEvent<Asked>) => self.postMessage(layOut(data.graph, data.widths, data.heights));
