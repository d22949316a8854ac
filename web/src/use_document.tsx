// Documents in components: there, on the way, or missing with what would fill it.

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

import { getDocument } from "./carrier";
import type { Index } from "./types";

export type Loaded<T> = { value: T } | { error: string } | null;

export function usePromise<T>(make: () => Promise<T>, key: string): Loaded<T> {
  const [state, setState] = useState<{ key: string; loaded: Loaded<T> }>({ key: "", loaded: null });
  useEffect(() => {
    let isWanted = true;
    make().then(
      (value) => isWanted && setState({ key, loaded: { value } }),
      (error: Error) => isWanted && setState({ key, loaded: { error: error.message } }));
    return () => { isWanted = false; };
  }, [key]);
  return state.key === key ? state.loaded : null;
}

/// `isThere`: else it is missing without being asked for.
export function useDocument<T>(profile: number, name: string, isThere = true): Loaded<T> {
  return usePromise(() => isThere ? getDocument<T>(profile, name) : Promise.reject(new Error(`no ${name}`)), `${profile} ${name} ${isThere}`);
}

/// What was not recorded, and the command that records it.
export function NotRecorded({ index, name, children }: { index: Index.IndexDocument; name: string; children: ComponentChildren }): JSX.Element {
  return (
    <div class="missing">
      <p>{children}</p>
      <p>This fills it: <code>{index.documents[name]?.filled_by}</code></p>
    </div>
  );
}

export function Waiting<T>({ loaded, children }: { loaded: Loaded<T>; children: (value: T) => JSX.Element }): JSX.Element {
  if (loaded === null) return <p class="waiting" role="status">loading …</p>;
  if ("error" in loaded) return <p class="missing">{loaded.error}</p>;
  return children(loaded.value);
}
