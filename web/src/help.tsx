// Keys, marks and what is what.

import type { JSX } from "preact";

const KEYS: [string, string][] = [
  ["/", "search"], ["g o", "overview"], ["g f", "functions"], ["g c", "calls"], ["g d", "data"], ["g l", "locality"],
  ["g r", "regions"], ["g t", "time"], ["g x", "difference"], ["g n", "scan"], ["↑ ↓ PgUp PgDn Home End", "move in a table"], ["Enter", "open"],
  ["← →", "close and open a row of a tree"], ["[ ]", "hottest instruction before and after, in a function"],
  ["← → ↑ ↓ + - 0", "slice, lane, closer, further, the whole run, in the picture of time"],
  ["s a b", "source, assembly, blocks: show or hide, in a function"], ["Esc", "leave the search"], ["?", "this page"],
];

export function Help(): JSX.Element {
  return (
    <div class="help">
      <section><h2>Keys</h2>
        <table class="plain"><tbody>{KEYS.map(([key, what]) => <tr><td><kbd>{key}</kbd></td><td>{what}</td></tr>)}</tbody></table></section>
      <section><h2>Marks</h2>
        <dl>
          <dt>=</dt><dd>counted: exact</dd>
          <dt>~</dt><dd>sampled: ± is half of the 95 % interval</dd>
          <dt>?</dt><dd>modelled: the software PMU's machine says so, no hardware counted it</dd>
          <dt>–</dt><dd>unknown: not recorded, or nothing that could be measured. It is never 0.</dd>
          <dt class="thin">51</dt><dd>too few samples to rely on</dd>
          <dt>filtered out</dt><dd>is there, but not among what you asked to see; the chips above a table say what was asked</dd>
        </dl></section>
      <section><h2>Everything is in the address</h2>
        <p>Columns, order, search and what is chosen are in the URL: back and forward work, and a copied link opens the same.</p></section>
    </div>
  );
}
