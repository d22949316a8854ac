// A graph's layout: made in a worker, or in the page where a browser or another's policy lets it have
// no worker.

import { useEffect, useState } from "preact/hooks";

import { layOut, type Layout } from "./layout";
import type { Asked } from "./layout_worker";

/// The script of layout_worker.ts: build.mjs puts it here.
declare const LAYOUT_WORKER: string;

function startWorker(): Worker | null {
  const script = URL.createObjectURL(new Blob([LAYOUT_WORKER], { type: "text/javascript" }));
  try {
    return new Worker(script);
  } catch {
    return null;
  } finally {
    URL.revokeObjectURL(script);
  }
}

/// null: on the way. A layout that nobody waits for any more is given up.
export function useLayout(asked: Asked): Layout | null {
  const [made, setMade] = useState<{ of: Asked; layout: Layout } | null>(null);
  useEffect(() => {
    const take = (layout: Layout) => setMade({ of: asked, layout });
    const layOutHere = () => take(layOut(asked.graph, asked.widths, asked.heights));
    const worker = startWorker();
    if (worker === null) return layOutHere();
    worker.onmessage = ({ data }: MessageEvent<Layout>) => take(data);
    worker.onerror = layOutHere;
    worker.postMessage(asked);
    return () => worker.terminate();
  }, [asked]);
  return made?.of === asked ? made.layout : null;
}
