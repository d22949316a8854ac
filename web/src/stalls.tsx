// What may have held an instruction up: a few letters in the listing, and a sentence for the chosen one.

import type { JSX } from "preact";

import type { Function as Code } from "./types";

type Stall = Code.FunctionDocument["instructions"]["stall"][number];

function cycles(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(1);
}

function range(all: number[] | null): string {
  return all ? ` ${cycles(all[0])}–${cycles(all[1])}` : "";
}

/// "dm 12–144, t 0–80": the three causes that may have most.
export function stallWords(stall: Stall): string {
  if (!stall) return "";
  return stall.causes.slice(0, 3).map((one) => one.letter + range(one.cycles)).join(", ");
}

/// "data from memory" of the legend "dm data from memory, t address translation".
function wordsOf(legend: string, letter: string): string {
  const found = legend.split(", ").find((one) => one.startsWith(`${letter} `));
  return found ? found.slice(letter.length + 1) : letter;
}

export function StallLine({ code, at, onOpen }: {
  code: Code.FunctionDocument; at: number; onOpen: (address: string) => void;
}): JSX.Element | null {
  const stall = code.instructions.stall[at];
  if (!stall) return null;
  const waitsFor = code.instructions.address.indexOf(stall.waits_for);
  return (
    <p class="hint">
      Held up{stall.cycles === null ? "" : ` ${cycles(stall.cycles)} cycles each time`}, most likely for{" "}
      <button type="button" class="link" onClick={() => onOpen(stall.waits_for)}>
        <code>{stall.waits_for.slice(2)} {waitsFor >= 0 ? code.instructions.text[waitsFor].replace(/\s+/g, " ") : ""}</code>
      </button>
      : {stall.causes.length === 0 ? "every known cause is ruled out" : stall.causes.map((one) => wordsOf(code.legend, one.letter) + range(one.cycles)).join("; ")}
      {stall.unexplained > 0.05 * (stall.cycles ?? Infinity) ? `; unexplained ${cycles(stall.unexplained)}` : ""}
      <span class="dim"> (least–most cycles that cannot be ruled out)</span>
    </p>
  );
}
