// What the panes of a function share: its instructions in order, and the event that they show.

import type { Function as Code } from "./types";

export interface Instruction {
  at: number;  // its place in the document
  place: number;
  block: number;  // among all blocks
}

/// The instructions of all places in order, and which block each is in.
export function listInstructions(code: Code.FunctionDocument): Instruction[] {
  const all: Instruction[] = [];
  let block = 0;
  code.places.forEach((place, i) => place.blocks.forEach((one) => {
    for (let k = 0; k < one.count; ++k) all.push({ at: one.first + k, place: i, block });
    ++block;
  }));
  return all;
}

export interface Shown {
  column: number;
  name: string;
  unit: string;
  provenance: "counted" | "sampled" | "modelled";
  total: number;  // of the function
}

/// Never 0: shares are of it.
export function largest(values: number[]): number {
  return values.reduce((most, one) => Math.max(most, one), 1e-300);
}
