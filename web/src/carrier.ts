// Where documents come from: the server beside the page, or chunks inside the file that the page is.

export class Missing extends Error {}

const cache = new Map<string, Promise<unknown>>();

function chunk(name: string): string | null {
  return document.getElementById(`doc:${name}`)?.textContent ?? null;
}

/// Whether the page is one file with everything in it.
export const isOneFile = chunk("index") !== null;

/// The document of a JSON text. Characters that turn the order of others (Unicode's bidirectional
/// controls) would make names and source look like what they are not: they show as U+FFFD.
function parse(json: string): unknown {
  return JSON.parse(json.replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "\ufffd"));
}

async function inflate(base64: string): Promise<unknown> {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return parse(await new Response(stream).text());
}

async function load(path: string, inFile: string | null): Promise<unknown> {
  if (isOneFile) {
    const text = inFile === null ? null : chunk(inFile);
    if (text === null) {
      throw new Missing("This file does not hold it: culprit export --to html --max-size takes more in, "
        + "and culprit serve has everything.");
    }
    return inflate(text);
  }
  const answer = await fetch(path);
  const text = await answer.text();
  if (answer.ok) return parse(text);
  let reason = `the server answered ${answer.status}`;
  try {
    reason = (parse(text) as { error: string }).error;
  } catch { /* it was no document: the status says enough */ }
  throw new Missing(reason);
}

/// A document of a profile; asked for once.
export function getDocument<T>(profile: number, name: string): Promise<T> {
  return get<T>(`d/${profile}/${name}`, name);
}

export function get<T>(path: string, inFile: string | null = null): Promise<T> {
  let found = cache.get(path);
  if (!found) {
    found = load(path, inFile);
    found.catch(() => cache.delete(path));
    cache.set(path, found);
  }
  return found as Promise<T>;
}

/// Has the server make a document that will be asked for soon, while nobody waits.
export function prepare(profile: number, name: string): void {
  if (!isOneFile) fetch(`d/${profile}/${name}`, { method: "HEAD" }).catch(() => null);
}

/// What was read of profiles that have changed is read again.
export function forget(): void {
  cache.clear();
}
