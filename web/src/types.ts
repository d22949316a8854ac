// Made by types.mjs of schema/*.json: do not edit.

export namespace Profiles {
export interface ProfilesDocument {
  schema: "culprit-web-profiles-1";
  profiles: {
    name: string;
    /**
     * another word when the file has changed
     */
    version: string;
  }[];
}
}

export namespace Index {
/**
 * the core clock, measured; null if it was not. cycles = ns x hertz / 1e9
 */
export type Clock = null | {
  hertz: number;
  /**
   * 95 % interval
   */
  low_hertz: number;
  high_hertz: number;
  bursts: number;
};

export interface IndexDocument {
  schema: "culprit-web-index-1";
  name: string;
  runs: Run[];
  /**
   * the first run was under the simulator: its times are the simulator's
   */
  is_simulated: boolean;
  machine: Machine;
  clock: Clock;
  documents: {
    [k: string]: {
      is_there: boolean;
      /**
       * the command that records it
       */
      filled_by: string;
    };
  };
  ledger: Ledger;
}
export interface Run {
  command: string;
  host: string;
  /**
   * CLOCK_REALTIME
   */
  start_ns: number;
  duration_ns: number;
  cpu_time_ns: number | null;
  /**
   * as wait(2) gives it; null where nothing was started
   */
  wait_status: number | null;
  /**
   * of cpu_time_ns: in the kernel, by its own account
   */
  system_time_ns: number | null;
  /**
   * page faults of the command and its children that waited for no disk
   */
  minor_faults: number | null;
  /**
   * page faults that did
   */
  major_faults: number | null;
  /**
   * system calls of the read family: files, pipes, sockets
   */
  read_calls: number | null;
  /**
   * that they brought
   */
  read_bytes: number | null;
  /**
   * system calls of the write family
   */
  write_calls: number | null;
  /**
   * that they took
   */
  written_bytes: number | null;
  /**
   * CPU time that other programs took while the command ran: they have slowed it
   */
  other_programs_ns: number | null;
  /**
   * CPU time that a hypervisor gave to other machines meanwhile
   */
  stolen_ns: number | null;
}
export interface Machine {
  architecture: string;
  cpu_model: string;
  cpu_id: string;
  kernel_release: string;
  cpus_online: number;
  has_pmu: boolean;
  virtualization: string;
}
/**
 * what makes the numbers weaker: amounts by key, and sentences
 */
export interface Ledger {
  lost_samples: number;
  notes: string[];
  [k: string]: number | string[];
}
}

export namespace Table {
export interface TableDocument {
  schema: "culprit-web-table-1";
  columns: Column[];
  /**
   * names, which the columns below number; in the order of their bytes, so that numbers compare as names do
   */
  texts: string[];
  process: number[];
  process_id: number[];
  module: number[];
  function: number[];
  /**
   * of the function: function/ID is its document
   */
  id: string[];
  /**
   * one list a column; an empty list is all 0
   */
  values: number[][];
  /**
   * one list a column; an empty list is all 0
   */
  errors: number[][];
  /**
   * one list a column; an empty list is all 0
   */
  samples: number[][];
  /**
   * of the first column, with all that was called; empty: no call stacks
   */
  inclusive: number[];
  remarks: string[];
}
export interface Column {
  name: string;
  unit: string;
  provenance: "counted" | "sampled" | "modelled";
  engine: string;
  period: number;
  samples: number;
  total: Value;
}
export interface Value {
  samples: number;
  value: number;
  error: number;
}
}

export namespace Calls {
export interface CallsDocument {
  schema: "culprit-web-calls-1";
  column: Column;
  /**
   * names, which the columns below number
   */
  texts: string[];
  depth: number[];
  module: number[];
  function: number[];
  value: number[];
  self: number[];
  /**
   * of rows that are too small
   */
  rest: number;
}
export interface Column {
  name: string;
  unit: string;
  provenance: "counted" | "sampled" | "modelled";
  engine: string;
  period: number;
  samples: number;
  total: Value;
}
export interface Value {
  samples: number;
  value: number;
  error: number;
}
}

export namespace Function {
export interface FunctionDocument {
  schema: "culprit-web-function-1";
  function: string;
  module: string;
  file: string;
  line: number;
  inlined: boolean;
  cpi: null | {
    value: number;
    error: number;
  };
  columns: Column[];
  places: {
    function: string;
    begin: string;
    end: string;
    /**
     * why there is no code; empty: there is
     */
    problem: string;
    blocks: {
      begin: string;
      end: string;
      /**
       * its first instruction
       */
      first: number;
      count: number;
      cpi: null | {
        value: number;
        error: number;
      };
    }[];
    /**
     * where they are known from; empty: no control flow was found
     */
    executions: string;
    /**
     * one list a column
     */
    edges: {
      /**
       * of the place's blocks; -1: outside
       */
      from: number[];
      /**
       * likewise
       */
      to: number[];
      runs: (number | null)[];
      /**
       * nothing in the code says so
       */
      assumed: boolean[];
    };
    loops: {
      begin: string;
      end: string;
      depth: number;
      irreducible: boolean;
      rounds: number | null;
    }[];
  }[];
  instructions: {
    address: string[];
    text: string[];
    file: number[];
    line: number[];
    /**
     * of inline_stacks; -1: none
     */
    stack: number[];
    cpi: (null | number[])[];
    more: string[];
    /**
     * one list a column; an empty list is all 0
     */
    values: number[][];
    /**
     * one list a column; an empty list is all 0
     */
    errors: number[][];
    /**
     * one list a column; an empty list is all 0
     */
    samples: number[][];
    /**
     * what may have held it up
     */
    stall: (null | {
      /**
       * the address of who was waited for
       */
      waits_for: string;
      /**
       * per execution, beyond the best case
       */
      cycles: number | null;
      /**
       * of them
       */
      unexplained: number;
      causes: {
        letter: string;
        cause: string;
        /**
         * least and most per execution; null: nothing bounds them
         */
        cycles: null | number[];
      }[];
    })[];
  };
  lines: {
    file: number[];
    line: number[];
    text: (string | null)[];
    cpi: (null | {
      value: number;
      error: number;
    })[];
    more: string[];
    /**
     * one list a column; an empty list is all 0
     */
    values: number[][];
    /**
     * one list a column; an empty list is all 0
     */
    errors: number[][];
    /**
     * one list a column; an empty list is all 0
     */
    samples: number[][];
  };
  inline_stacks: {
    function: string;
    call_file: number;
    call_line: number;
  }[][];
  files: string[];
  more_heading: string;
  remarks: string[];
  /**
   * the letters of stalls that stand here
   */
  legend: string;
}
export interface Column {
  name: string;
  unit: string;
  provenance: "counted" | "sampled" | "modelled";
  engine: string;
  period: number;
  samples: number;
  total: Value;
  function: Value;
}
export interface Value {
  samples: number;
  value: number;
  error: number;
}
}

export namespace Source {
export interface SourceDocument {
  schema: "culprit-web-source-1";
  file: string;
  /**
   * rising; those that the profile has
   */
  line: number[];
  /**
   * of each of them
   */
  text: string[];
}
}

export namespace Why {
/**
 * the core clock, measured; null if it was not. cycles = ns x hertz / 1e9
 */
export type Clock = null | {
  hertz: number;
  /**
   * 95 % interval
   */
  low_hertz: number;
  high_hertz: number;
  bursts: number;
};
export type Estimate = null | {
  value: number;
  /**
   * standard error
   */
  error: number;
};

export interface WhyDocument {
  schema: "culprit-why-2";
  runs: Run[];
  machine: Machine;
  clock: Clock;
  template: {
    name: string;
    description: string;
    /**
     * by anybody, on hardware
     */
    validated: boolean;
    /**
     * by whom; empty: by nobody
     */
    validated_by: string;
    source: string;
  };
  filters: {
    level: "process" | "thread" | "module" | "function" | "line" | "block" | "instruction";
    pattern: string;
  }[];
  tree: Node;
  general: Node1[];
  everything: Estimate;
  overlap: Estimate;
  unexplained: Estimate;
  /**
   * time in the kernel, by what it does and for whom; of a part: what it or what it calls asks for; null: the kernel was not sampled
   */
  kernel: null | {
    /**
     * of everything's time [0 to 1]
     */
    share: null | {
      value: number;
      /**
       * standard error
       */
      error: number;
    };
    /**
     * of everything
     */
    samples: number;
    /**
     * whether call stacks told the kinds; else the innermost functions alone
     */
    by_stacks: boolean;
    /**
     * most first; their shares add up to the share of all
     */
    parts: {
      kind: string;
      title: string;
      share: Estimate;
      samples: number;
      /**
       * system calls, most first; shares are of what they are known of
       */
      calls: {
        name: string;
        share: number;
      }[];
      /**
       * of the program, that asks for most of it; empty if unknown
       */
      function: string;
      line: string;
      /**
       * of the part, that the function asks for [0 to 1]
       */
      place_share: number;
      /**
       * beside the part: in user mode, in the C library's functions that make these calls, of everything's time [0 to 1]
       */
      around: null | {
        value: number;
        /**
         * standard error
         */
        error: number;
      };
      /**
       * of the part: bytes copied between kernel and program [0 to 1]
       */
      copied: number;
      /**
       * of the part: pages of the file cache found or made [0 to 1]
       */
      file_cache: number;
    }[];
  };
  /**
   * time in functions of the C library whose work can be done without, or more cheaply, most first; empty for a part
   */
  library: {
    kind: string;
    title: string;
    /**
     * of everything's time [0 to 1]
     */
    share: null | {
      value: number;
      /**
       * standard error
       */
      error: number;
    };
    samples: number;
    /**
     * the one with most of it
     */
    function: string;
    /**
     * of the kind's time [0 to 1]
     */
    function_share: number;
  }[];
  measured: null | {
    measured: Estimate;
    kernel: Estimate;
    modelled: number;
    unexplained: Estimate;
    /**
     * of the native run, in this part
     */
    samples: number;
    /**
     * over the functions of user code, in cycles: measured in those with at least 100 samples; of them, where the modelled cycles differ by at most 25 % beyond sampling error; measured in the others, which were judged by their sum alone (0: they have too few samples for that, too), and whether that is so near; measured beyond the modelled ones, and modelled beyond the measured ones
     */
    fit: {
      judged: number;
      fitting: number;
      together: number;
      together_fits: boolean;
      missing: number;
      excess: number;
    };
    /**
     * measured of the whole profile
     */
    everything: null | {
      value: number;
      /**
       * standard error
       */
      error: number;
    };
  };
  /**
   * where the time of all threads went, recorded with --off-cpu
   */
  waiting: null | {
    /**
     * time of all threads on a CPU
     */
    on_cpu_ns: number;
    /**
     * false: by the kernel's account
     */
    on_cpu_is_sampled: boolean;
    /**
     * counted, from each switch away to the next switch back
     */
    waiting_ns: number;
    /**
     * as waiting_ns, where the thread could have run on
     */
    preempted_ns: number;
    /**
     * what was waited for; their ns add up to waiting_ns
     */
    kinds: {
      /**
       * sleep, lock, pipe, poll, disk, ...; other: no function on the stacks says
       */
      kind: string;
      ns: number;
      /**
       * the program's function with most of it; empty if unknown
       */
      function: string;
      /**
       * of ns, that this function has, 0 to 1
       */
      share: number;
    }[];
  };
  halted: null | {
    measured_by: "tsc" | "idle_time";
    total_cycles: null | number;
    cycles: null | number;
    seconds: null | number;
    capacity_seconds: null | number;
    /**
     * halted of all, 0 to 1
     */
    ratio: number;
  };
  advice: {
    label: string;
    /**
     * of the tree; kernel: work of the kernel; library: work of the C library
     */
    branch: string;
    /**
     * its kind, as in kernel.parts
     */
    kernel: string | null;
    /**
     * its kind, as in library
     */
    library: string | null;
    /**
     * what to do here, where the recording knows the loops and data; else empty
     */
    here: string;
    cycles: Estimate;
    share: number;
    problem: string;
    advice: string;
    function: string;
    line: string;
    /**
     * the loop with most of the function's executed instructions, by counted executions, where it is entered 100 times or more for 16 rounds or more; told once of each function, else null
     */
    loop: {
      /**
       * where it begins; else empty
       */
      line: string;
      /**
       * each time that it is entered, on average
       */
      rounds: number;
      entries: number;
    } | null;
    /**
     * of a library's function: the program's functions with a tenth of its calls or more, most first
     */
    callers: {
      function: string;
      /**
       * that has most of the calls; else empty
       */
      line: string;
      /**
       * of all its calls
       */
      share: number;
    }[];
    share_of_cost: number;
    /**
     * what a repair saves at most, of the cycles measured where there are some [0 to 1]
     */
    at_most: number;
    /**
     * the same, if all that the model lacks were of it
     */
    upper_end: number;
    /**
     * what the repair saves by a forecast, of the cycles measured where there are some; null: the model did not run without this cost
     */
    gain: null | {
      expected: number;
      low: number;
      high: number;
    };
    /**
     * the experiment that measured the gain, as in tried; null: a forecast, or none
     */
    tried: string | null;
  }[];
  rules: {
    name: string;
    left: Estimate;
    right: Estimate;
    difference: number;
    tolerance: number;
    broken: boolean;
    meaning: string;
  }[];
  remarks: string[];
  other_events: string[];
  ledger: Ledger;
  /**
   * which branch is the culprit, and how far that may be believed: firm; a candidate; none
   */
  verdict: {
    certainty: "firm" | "candidate" | "none";
    /**
     * the one with most cycles, if any has many; also where it is no verdict
     */
    branch: string | null;
    /**
     * instead of a branch: the kind of the kernel's work, as in kernel.parts
     */
    kernel: string | null;
    /**
     * instead of these: the kind of the C library's work, as in library
     */
    library: string | null;
    /**
     * instead of either: what holds up a program that hardly runs
     */
    waiting: null | {
      /**
       * as in waiting.kinds
       */
      kind: string;
      /**
       * how much it is, where, and what to do
       */
      words: string;
    };
    /**
     * why it is not firm
     */
    reason: string;
  };
  /**
   * experiments: the command ran again, natively, with one thing changed, in turns with runs as it is
   */
  tried: {
    /**
     * one-cpu or no-subnormals
     */
    experiment: string;
    /**
     * for people: with all threads on one CPU
     */
    change: string;
    /**
     * of runs
     */
    pairs: number;
    /**
     * of the user time of the whole command, whatever the filters: median of the pairs, and their range; below 0: it takes longer
     */
    saved: {
      expected: number;
      low: number;
      high: number;
    };
  }[];
}
export interface Run {
  command: string;
  host: string;
  /**
   * CLOCK_REALTIME
   */
  start_ns: number;
  duration_ns: number;
  cpu_time_ns: number | null;
  /**
   * as wait(2) gives it; null where nothing was started
   */
  wait_status: number | null;
  /**
   * of cpu_time_ns: in the kernel, by its own account
   */
  system_time_ns: number | null;
  /**
   * page faults of the command and its children that waited for no disk
   */
  minor_faults: number | null;
  /**
   * page faults that did
   */
  major_faults: number | null;
  /**
   * system calls of the read family: files, pipes, sockets
   */
  read_calls: number | null;
  /**
   * that they brought
   */
  read_bytes: number | null;
  /**
   * system calls of the write family
   */
  write_calls: number | null;
  /**
   * that they took
   */
  written_bytes: number | null;
  /**
   * CPU time that other programs took while the command ran: they have slowed it
   */
  other_programs_ns: number | null;
  /**
   * CPU time that a hypervisor gave to other machines meanwhile
   */
  stolen_ns: number | null;
}
export interface Machine {
  architecture: string;
  cpu_model: string;
  cpu_id: string;
  kernel_release: string;
  cpus_online: number;
  has_pmu: boolean;
  virtualization: string;
}
/**
 * unhalted cycles; null cycles are not known, which is not 0
 */
export interface Node {
  kind: "level" | "branch" | "group" | "event" | "formula";
  label: string;
  branch: string;
  state: "measured" | "partly_measured" | "not_recorded" | "not_covered";
  reason: string;
  cycles: Estimate;
  provenance: "counted" | "sampled" | "modelled";
  in_sum: boolean;
  linear: boolean;
  uncapped: Estimate;
  ratio: Estimate;
  event: null | Event;
  parts: Node1[];
}
export interface Event {
  name: string;
  role: "sum" | "info" | "bound" | "derive";
  count: Estimate;
  count_provenance: null | ("counted" | "sampled" | "modelled");
  penalty: null | number;
  penalty_unit: "cycles" | "ns";
  penalty_source: string;
  penalty_is_estimate: boolean;
  problem: string;
  advice: string;
}
export interface Node1 {
  kind: "level" | "branch" | "group" | "event" | "formula";
  label: string;
  branch: string;
  state: "measured" | "partly_measured" | "not_recorded" | "not_covered";
  reason: string;
  cycles: Estimate;
  provenance: "counted" | "sampled" | "modelled";
  in_sum: boolean;
  linear: boolean;
  uncapped: Estimate;
  ratio: Estimate;
  event: null | Event;
  parts: Node1[];
}
/**
 * what makes the numbers weaker: amounts by key, and sentences
 */
export interface Ledger {
  lost_samples: number;
  notes: string[];
  [k: string]: number | string[];
}
}

export namespace Data {
export interface DataDocument {
  schema: "culprit-data-1";
  runs: Run[];
  machine: Machine;
  caches: Caches | null;
  cost: Cost;
  /**
   * of the whole run, of which costs are those that wait for data; null: costs are modelled
   */
  measured_cycles: number | null;
  rows: Object[];
  rest: {
    rows: number;
    use: Use;
  } | null;
  totals: Use;
  named: Use1;
  part: {
    name: string;
    kind: "" | "variable" | "heap" | "stack" | "range" | "field" | "mapping";
    /**
     * where it is allocated
     */
    place: string;
    /**
     * whether the name is that of a data structure
     */
    named: boolean;
    /**
     * what the statement that allocates it assigns it to
     */
    kept_in: string;
    /**
     * who called what allocates it
     */
    caller: string;
    type: string;
    size_bytes: number | null;
    blocks: number | null;
    total_bytes: number | null;
    use: Use;
    kinds: {
      integer_load: Kind;
      integer_store: Kind;
      float_load: Kind;
      float_store: Kind;
    };
    edges: {
      L1D: Edges;
      L2: Edges;
      L3: Edges;
      L1I: Edges;
    };
    statements: Statement[];
    fields: Object[];
    /**
     * what else matches
     */
    others: string[];
  } | null;
  advice: Advice[];
  remarks: string[];
  ledger: Ledger;
}
export interface Run {
  command: string;
  host: string;
  /**
   * CLOCK_REALTIME
   */
  start_ns: number;
  duration_ns: number;
  cpu_time_ns: number | null;
  /**
   * as wait(2) gives it; null where nothing was started
   */
  wait_status: number | null;
  /**
   * of cpu_time_ns: in the kernel, by its own account
   */
  system_time_ns: number | null;
  /**
   * page faults of the command and its children that waited for no disk
   */
  minor_faults: number | null;
  /**
   * page faults that did
   */
  major_faults: number | null;
  /**
   * system calls of the read family: files, pipes, sockets
   */
  read_calls: number | null;
  /**
   * that they brought
   */
  read_bytes: number | null;
  /**
   * system calls of the write family
   */
  write_calls: number | null;
  /**
   * that they took
   */
  written_bytes: number | null;
  /**
   * CPU time that other programs took while the command ran: they have slowed it
   */
  other_programs_ns: number | null;
  /**
   * CPU time that a hypervisor gave to other machines meanwhile
   */
  stolen_ns: number | null;
}
export interface Machine {
  architecture: string;
  cpu_model: string;
  cpu_id: string;
  kernel_release: string;
  cpus_online: number;
  has_pmu: boolean;
  virtualization: string;
}
export interface Caches {
  machine: string;
  line_bytes: number;
  recorded: "l1" | "all";
  levels: {
    L1D: {
      size_bytes: number;
      ways: number;
    } | null;
    L2: {
      size_bytes: number;
      ways: number;
    } | null;
    L3: {
      size_bytes: number;
      ways: number;
    } | null;
    L1I: {
      size_bytes: number;
      ways: number;
    } | null;
  };
  sampling: {
    one_of: number;
    random_groups: number;
  } | null;
}
export interface Cost {
  unit: "cycles" | "L1D misses";
  provenance: "sampled" | "modelled" | "counted";
}
export interface Object {
  name: string;
  kind: "" | "variable" | "heap" | "stack" | "range" | "field" | "mapping";
  /**
   * where it is allocated
   */
  place: string;
  /**
   * whether the name is that of a data structure
   */
  named: boolean;
  /**
   * what the statement that allocates it assigns it to
   */
  kept_in: string;
  /**
   * who called what allocates it
   */
  caller: string;
  type: string;
  size_bytes: number | null;
  blocks: number | null;
  total_bytes: number | null;
  use: Use;
}
export interface Use {
  /**
   * in the unit of `cost`
   */
  cost: {
    samples: number;
    value: number;
    error: number;
  };
  accesses: number;
  /**
   * half-width of the 95 % interval of `accesses`, where it is estimated which data objects they are of; 0: exact
   */
  accesses_error: number;
  misses: Misses | null;
  modelled_cycles: number | null;
  /**
   * of modelled_cycles: waiting for data, or for room to store them
   */
  waiting_cycles: number | null;
  levels: Levels;
  miss_errors: {
    L1D: number | null;
    L2: number | null;
    L3: number | null;
  } | null;
}
/**
 * that this level did not have
 */
export interface Misses {
  L1D: number;
  L2: number;
  L3: number;
}
/**
 * null: the machine has no such level, or it was not recorded
 */
export interface Levels {
  L1D: Level | null;
  L2: Level | null;
  L3: Level | null;
  L1I: Level | null;
}
export interface Level {
  lines: number;
  /**
   * different bytes of each line that were used while it was there
   */
  bytes_touched: number;
  bytes_accessed: number;
  /**
   * times that this level was asked for one of the lines
   */
  touches: number;
  /**
   * asked for more than once
   */
  lines_reused: number;
  /**
   * still there when the run ended
   */
  lines_at_end: number;
  lines_prefetched: number;
  /**
   * of those prefetched
   */
  lines_never_used: number;
  /**
   * of which not all uses are known
   */
  lines_cut: number;
  spatial_percent: number | null;
  temporal: number | null;
  errors: {
    lines: number | null;
    spatial_percent: number | null;
    temporal: number | null;
  } | null;
}
/**
 * of the totals, what was of data structures that have a name
 */
export interface Use1 {
  /**
   * in the unit of `cost`
   */
  cost: {
    samples: number;
    value: number;
    error: number;
  };
  accesses: number;
  /**
   * half-width of the 95 % interval of `accesses`, where it is estimated which data objects they are of; 0: exact
   */
  accesses_error: number;
  misses: Misses | null;
  modelled_cycles: number | null;
  /**
   * of modelled_cycles: waiting for data, or for room to store them
   */
  waiting_cycles: number | null;
  levels: Levels;
  miss_errors: {
    L1D: number | null;
    L2: number | null;
    L3: number | null;
  } | null;
}
export interface Kind {
  accesses: number;
  /**
   * half-width of the 95 % interval of `accesses`, where it is estimated which data objects they are of; 0: exact
   */
  accesses_error: number;
  misses: Misses;
  /**
   * modelled cycles that waited for what these loads bring, or for room for these stores; null: not modelled
   */
  waiting_cycles: number | null;
  levels: Levels;
  miss_errors: {
    L1D: number | null;
    L2: number | null;
    L3: number | null;
  } | null;
}
export interface Edges {
  reused_by: Edge[];
  evicted_by_capacity: Edge[];
  evicted_by_conflict: Edge[];
  refetched_by: Edge[];
  shared_same_bytes: Edge[];
  shared_other_bytes: Edge[];
  reuses_of: Edge[];
  evicts: Edge[];
  refetches: Edge[];
  takes_from: Edge[];
}
export interface Edge {
  module?: string;
  function?: string;
  file?: string;
  line?: number;
  /**
   * of a statement over several lines; else the same
   */
  last_line?: number;
  column?: number;
  address?: string;
  itself: boolean;
  count: number;
  /**
   * half-width of the 95 % interval of `count`; 0: exact; null: seen in too few sets
   */
  error: number | null;
}
export interface Statement {
  module: string;
  function?: string;
  file?: string;
  line?: number;
  /**
   * of a statement over several lines; else the same
   */
  last_line?: number;
  column?: number;
  address?: string;
  use: Use;
}
export interface Advice {
  kind:
    | "swap_loops"
    | "block_loops"
    | "fuse_loops"
    | "pad_arrays"
    | "pool_blocks"
    | "split_layout"
    | "false_sharing"
    | "huge_pages"
    | "dead_stores";
  title: string;
  reason: string;
  /**
   * to touch
   */
  lines: string[];
  objects: string[];
  /**
   * at most; modelled, as the measured time of the function has them where there is one
   */
  saved_cycles: number;
  /**
   * of all cycles, 0 to 1
   */
  share: number;
  /**
   * the number of an earlier piece, from 0, that saves some of the same cycles
   */
  overlaps: number | null;
}
/**
 * what makes the numbers weaker: amounts by key, and sentences
 */
export interface Ledger {
  lost_samples: number;
  notes: string[];
  [k: string]: number | string[];
}
}

export namespace Locality {
export interface LocalityDocument {
  schema: "culprit-locality-1";
  runs: Run[];
  machine: Machine;
  caches: Caches;
  cost: Cost;
  by: "module" | "function" | "statement" | "line" | "column" | "instruction";
  rows: Statement[];
  rest: {
    rows: number;
    use: Use;
  } | null;
  totals: Use;
  part: {
    name: string;
    use: Use;
    kinds: {
      integer_load: Kind;
      integer_store: Kind;
      float_load: Kind;
      float_store: Kind;
    };
    edges: {
      L1D: Edges;
      L2: Edges;
      L3: Edges;
      L1I: Edges;
    };
    objects: Object[];
  } | null;
  advice: Advice[];
  remarks: string[];
  ledger: Ledger;
}
export interface Run {
  command: string;
  host: string;
  /**
   * CLOCK_REALTIME
   */
  start_ns: number;
  duration_ns: number;
  cpu_time_ns: number | null;
  /**
   * as wait(2) gives it; null where nothing was started
   */
  wait_status: number | null;
  /**
   * of cpu_time_ns: in the kernel, by its own account
   */
  system_time_ns: number | null;
  /**
   * page faults of the command and its children that waited for no disk
   */
  minor_faults: number | null;
  /**
   * page faults that did
   */
  major_faults: number | null;
  /**
   * system calls of the read family: files, pipes, sockets
   */
  read_calls: number | null;
  /**
   * that they brought
   */
  read_bytes: number | null;
  /**
   * system calls of the write family
   */
  write_calls: number | null;
  /**
   * that they took
   */
  written_bytes: number | null;
  /**
   * CPU time that other programs took while the command ran: they have slowed it
   */
  other_programs_ns: number | null;
  /**
   * CPU time that a hypervisor gave to other machines meanwhile
   */
  stolen_ns: number | null;
}
export interface Machine {
  architecture: string;
  cpu_model: string;
  cpu_id: string;
  kernel_release: string;
  cpus_online: number;
  has_pmu: boolean;
  virtualization: string;
}
export interface Caches {
  machine: string;
  line_bytes: number;
  recorded: "l1" | "all";
  levels: {
    L1D: {
      size_bytes: number;
      ways: number;
    } | null;
    L2: {
      size_bytes: number;
      ways: number;
    } | null;
    L3: {
      size_bytes: number;
      ways: number;
    } | null;
    L1I: {
      size_bytes: number;
      ways: number;
    } | null;
  };
  sampling: {
    one_of: number;
    random_groups: number;
  } | null;
}
export interface Cost {
  unit: "cycles" | "L1D misses";
  provenance: "sampled" | "modelled" | "counted";
}
export interface Statement {
  module: string;
  function?: string;
  file?: string;
  line?: number;
  /**
   * of a statement over several lines; else the same
   */
  last_line?: number;
  column?: number;
  address?: string;
  use: Use;
}
export interface Use {
  /**
   * in the unit of `cost`
   */
  cost: {
    samples: number;
    value: number;
    error: number;
  };
  accesses: number;
  /**
   * half-width of the 95 % interval of `accesses`, where it is estimated which data objects they are of; 0: exact
   */
  accesses_error: number;
  misses: Misses | null;
  modelled_cycles: number | null;
  /**
   * of modelled_cycles: waiting for data, or for room to store them
   */
  waiting_cycles: number | null;
  levels: Levels;
  miss_errors: {
    L1D: number | null;
    L2: number | null;
    L3: number | null;
  } | null;
}
/**
 * that this level did not have
 */
export interface Misses {
  L1D: number;
  L2: number;
  L3: number;
}
/**
 * null: the machine has no such level, or it was not recorded
 */
export interface Levels {
  L1D: Level | null;
  L2: Level | null;
  L3: Level | null;
  L1I: Level | null;
}
export interface Level {
  lines: number;
  /**
   * different bytes of each line that were used while it was there
   */
  bytes_touched: number;
  bytes_accessed: number;
  /**
   * times that this level was asked for one of the lines
   */
  touches: number;
  /**
   * asked for more than once
   */
  lines_reused: number;
  /**
   * still there when the run ended
   */
  lines_at_end: number;
  lines_prefetched: number;
  /**
   * of those prefetched
   */
  lines_never_used: number;
  /**
   * of which not all uses are known
   */
  lines_cut: number;
  spatial_percent: number | null;
  temporal: number | null;
  errors: {
    lines: number | null;
    spatial_percent: number | null;
    temporal: number | null;
  } | null;
}
export interface Kind {
  accesses: number;
  /**
   * half-width of the 95 % interval of `accesses`, where it is estimated which data objects they are of; 0: exact
   */
  accesses_error: number;
  misses: Misses;
  /**
   * modelled cycles that waited for what these loads bring, or for room for these stores; null: not modelled
   */
  waiting_cycles: number | null;
  levels: Levels;
  miss_errors: {
    L1D: number | null;
    L2: number | null;
    L3: number | null;
  } | null;
}
export interface Edges {
  reused_by: Edge[];
  evicted_by_capacity: Edge[];
  evicted_by_conflict: Edge[];
  refetched_by: Edge[];
  shared_same_bytes: Edge[];
  shared_other_bytes: Edge[];
  reuses_of: Edge[];
  evicts: Edge[];
  refetches: Edge[];
  takes_from: Edge[];
}
export interface Edge {
  module?: string;
  function?: string;
  file?: string;
  line?: number;
  /**
   * of a statement over several lines; else the same
   */
  last_line?: number;
  column?: number;
  address?: string;
  itself: boolean;
  count: number;
  /**
   * half-width of the 95 % interval of `count`; 0: exact; null: seen in too few sets
   */
  error: number | null;
}
export interface Object {
  name: string;
  kind: "" | "variable" | "heap" | "stack" | "range" | "field" | "mapping";
  /**
   * where it is allocated
   */
  place: string;
  /**
   * whether the name is that of a data structure
   */
  named: boolean;
  /**
   * what the statement that allocates it assigns it to
   */
  kept_in: string;
  /**
   * who called what allocates it
   */
  caller: string;
  type: string;
  size_bytes: number | null;
  blocks: number | null;
  total_bytes: number | null;
  use: Use;
}
export interface Advice {
  kind:
    | "swap_loops"
    | "block_loops"
    | "fuse_loops"
    | "pad_arrays"
    | "pool_blocks"
    | "split_layout"
    | "false_sharing"
    | "huge_pages"
    | "dead_stores";
  title: string;
  reason: string;
  /**
   * to touch
   */
  lines: string[];
  objects: string[];
  /**
   * at most; modelled, as the measured time of the function has them where there is one
   */
  saved_cycles: number;
  /**
   * of all cycles, 0 to 1
   */
  share: number;
  /**
   * the number of an earlier piece, from 0, that saves some of the same cycles
   */
  overlaps: number | null;
}
/**
 * what makes the numbers weaker: amounts by key, and sentences
 */
export interface Ledger {
  lost_samples: number;
  notes: string[];
  [k: string]: number | string[];
}
}

export namespace Regions {
export interface RegionsDocument {
  schema: "culprit-regions-1";
  runs: Run[];
  machine: Machine;
  program_wall_ns: number;
  /**
   * of outermost parallel regions; over program_wall_ns: the coverage
   */
  parallel_wall_ns: number;
  /**
   * that one parallel region had
   */
  most_threads: number;
  /**
   * false: the run was simulated, constructs have executions and counts, and times are null or missing
   */
  has_times: boolean;
  /**
   * counts are of accesses to data objects of this name or pattern; null: of everything
   */
  object: string | null;
  /**
   * of the whole program, by event; null: it was counted in regions alone
   */
  counts: {
    [k: string]: number | null;
  };
  overheads: Overheads;
  threads: {
    /**
     * 0; PID:0 of several processes; r3:0 of rank 3 of an MPI program
     */
    thread: string;
    /**
     * of an MPI program: its process's number; null: of none
     */
    rank: string | null;
    pid: number;
    tid: number;
  }[];
  constructs: {
    id: string;
    kind: string;
    /**
     * for people: PARALLEL LOOP
     */
    type: string;
    /**
     * the schedule of a loop, what a user called a region; empty without
     */
    name: string;
    file: string;
    first_line: number;
    /**
     * 0: not known
     */
    last_line: number;
    function: string;
    /**
     * function: the lines are those of the region around
     */
    lines_are: "construct" | "function" | "unknown";
    /**
     * the innermost parallel construct around; itself, if it is one
     */
    region: string | null;
    sum: {
      executions: number;
      /**
       * chunks of a loop, sections or singles that ran, tasks that were created, of a taskloop of GCC those that ran
       */
      pieces: number;
      /**
       * enter + body + exit + exit barrier + wait
       */
      whole_ns: number | null;
      enter_ns: number | null;
      body_ns: number | null;
      exit_ns: number | null;
      exit_barrier_ns: number | null;
      wait_ns: number | null;
      /**
       * in body_ns: tasks that ran on the thread while it waited, at a region's end, too; of a task: in enter_ns, creating it elsewhere than in its parent
       */
      inner_tasks_ns: number | null;
      /**
       * executions that had not ended when their process did
       */
      unfinished: number;
      /**
       * what those took until then: part of the other times
       */
      unfinished_ns: number | null;
      /**
       * in exit_barrier_ns: of a region that ends with a single
       */
      behind_single_ns: number | null;
      counts: Counts;
    };
    threads: {
      thread: string;
      executions: number;
      /**
       * chunks of a loop, sections or singles that ran, tasks that were created, of a taskloop of GCC those that ran
       */
      pieces: number;
      /**
       * enter + body + exit + exit barrier + wait
       */
      whole_ns: number | null;
      enter_ns: number | null;
      body_ns: number | null;
      exit_ns: number | null;
      exit_barrier_ns: number | null;
      wait_ns: number | null;
      /**
       * in body_ns: tasks that ran on the thread while it waited, at a region's end, too; of a task: in enter_ns, creating it elsewhere than in its parent
       */
      inner_tasks_ns: number | null;
      /**
       * executions that had not ended when their process did
       */
      unfinished: number;
      /**
       * what those took until then: part of the other times
       */
      unfinished_ns: number | null;
      /**
       * in exit_barrier_ns: of a region that ends with a single
       */
      behind_single_ns: number | null;
      counts: Counts;
    }[];
  }[];
  call_graph: {
    construct: string;
    /**
     * row of call_graph
     */
    parent: number | null;
    executions: number;
    inclusive_ns: number | null;
    exclusive_ns: number | null;
    counts: Counts;
  }[];
  regions: {
    construct: string;
    executions: number;
    threads: number;
    wall_ns: number;
    /**
     * of all its threads
     */
    whole_ns: number;
    overheads: Overheads;
  }[];
  findings: {
    property: string;
    construct: string;
    /**
     * waiting time / (wall time of its region x threads)
     */
    severity: number;
    waiting_ns: number;
    saves_at_most_ns: number;
    advice: string;
  }[];
  remarks: string[];
  ledger: Ledger;
}
export interface Run {
  command: string;
  host: string;
  /**
   * CLOCK_REALTIME
   */
  start_ns: number;
  duration_ns: number;
  cpu_time_ns: number | null;
  /**
   * as wait(2) gives it; null where nothing was started
   */
  wait_status: number | null;
  /**
   * of cpu_time_ns: in the kernel, by its own account
   */
  system_time_ns: number | null;
  /**
   * page faults of the command and its children that waited for no disk
   */
  minor_faults: number | null;
  /**
   * page faults that did
   */
  major_faults: number | null;
  /**
   * system calls of the read family: files, pipes, sockets
   */
  read_calls: number | null;
  /**
   * that they brought
   */
  read_bytes: number | null;
  /**
   * system calls of the write family
   */
  write_calls: number | null;
  /**
   * that they took
   */
  written_bytes: number | null;
  /**
   * CPU time that other programs took while the command ran: they have slowed it
   */
  other_programs_ns: number | null;
  /**
   * CPU time that a hypervisor gave to other machines meanwhile
   */
  stolen_ns: number | null;
}
export interface Machine {
  architecture: string;
  cpu_model: string;
  cpu_id: string;
  kernel_release: string;
  cpus_online: number;
  has_pmu: boolean;
  virtualization: string;
}
/**
 * summed over threads
 */
export interface Overheads {
  synchronization_ns: number;
  imbalance_ns: number;
  limited_parallelism_ns: number;
  thread_management_ns: number;
}
/**
 * by event, those asked for or the usual ones
 */
export interface Counts {
  [k: string]: {
    /**
     * in the construct and those inside it, without any waiting
     */
    inside: number;
    /**
     * at its beginning and end; all of what only waits
     */
    waiting: number;
  };
}
/**
 * what makes the numbers weaker: amounts by key, and sentences
 */
export interface Ledger {
  lost_samples: number;
  notes: string[];
  [k: string]: number | string[];
}
}

export namespace Diff {
export interface DiffDocument {
  schema: "culprit-diff-1";
  base: string[];
  new: string[];
  event: string;
  unit: "cycles" | "ns" | "events" | "bytes";
  provenance: "counted" | "sampled" | "modelled";
  tested: boolean;
  spread: number;
  rows_untested: number;
  rows: Row[];
  everything: null | Row;
  total: Row;
}
export interface Row {
  names: {
    [k: string]: string;
  };
  base: number;
  new: number;
  base_samples: number;
  new_samples: number;
  change: number | null;
  interval95: null | number[];
  tail: number;
  verdict: "more" | "less" | "same" | "not-tested" | "too-few-samples" | "new" | "gone";
  cause: null | Cause;
  functions: null | Functions;
}
export interface Cause {
  state: "found" | "none" | "unknown";
  reason: string;
  tree: null | Amount;
  instructions: null | Amount;
  branches: CauseBranch[];
}
export interface Amount {
  label: string;
  unit: "cycles" | "events";
  base: number;
  new: number;
  error: number;
}
export interface CauseBranch {
  label: string;
  unit: "cycles" | "events";
  base: number;
  new: number;
  error: number;
  branch: string;
  provenance: "counted" | "sampled" | "modelled";
  most: string;
  events: Amount[];
}
export interface Functions {
  base: string[];
  new: string[];
  matched_by: "name" | "shape" | "none";
}
}

export namespace Timeline {
/**
 * the core clock, measured; null if it was not. cycles = ns x hertz / 1e9
 */
export type Clock = null | {
  hertz: number;
  /**
   * 95 % interval
   */
  low_hertz: number;
  high_hertz: number;
  bursts: number;
};

export interface TimelineDocument {
  schema: "culprit-timeline-1";
  runs: Run[];
  machine: Machine;
  clock: Clock;
  events: Event[];
  by: string[];
  filters: {
    level:
      | "process"
      | "comm"
      | "thread"
      | "module"
      | "function"
      | "line"
      | "loop"
      | "block"
      | "instruction"
      | "object"
      | "region";
    pattern: string;
  }[];
  /**
   * how the time of each run is divided
   */
  slices: Slices[];
  /**
   * by run, those with most of the first event first
   */
  lanes: Lane[];
  shown: Values;
  without_time: Values;
  ledger: Ledger;
}
export interface Run {
  command: string;
  host: string;
  /**
   * CLOCK_REALTIME
   */
  start_ns: number;
  duration_ns: number;
  cpu_time_ns: number | null;
  /**
   * as wait(2) gives it; null where nothing was started
   */
  wait_status: number | null;
  /**
   * of cpu_time_ns: in the kernel, by its own account
   */
  system_time_ns: number | null;
  /**
   * page faults of the command and its children that waited for no disk
   */
  minor_faults: number | null;
  /**
   * page faults that did
   */
  major_faults: number | null;
  /**
   * system calls of the read family: files, pipes, sockets
   */
  read_calls: number | null;
  /**
   * that they brought
   */
  read_bytes: number | null;
  /**
   * system calls of the write family
   */
  write_calls: number | null;
  /**
   * that they took
   */
  written_bytes: number | null;
  /**
   * CPU time that other programs took while the command ran: they have slowed it
   */
  other_programs_ns: number | null;
  /**
   * CPU time that a hypervisor gave to other machines meanwhile
   */
  stolen_ns: number | null;
}
export interface Machine {
  architecture: string;
  cpu_model: string;
  cpu_id: string;
  kernel_release: string;
  cpus_online: number;
  has_pmu: boolean;
  virtualization: string;
}
export interface Event {
  name: string;
  unit: "cycles" | "ns" | "events" | "bytes";
  provenance: "counted" | "sampled" | "modelled";
  engine: string;
  /**
   * events per sample; 0: varying, or not sampled
   */
  period: number;
  samples: number;
  /**
   * of everything, in unit
   */
  total: number;
}
export interface Slices {
  /**
   * in runs
   */
  run: number;
  /**
   * of its start, since that of the first run
   */
  offset_ns: number;
  duration_ns: number;
  width_ns: number;
  count: number;
}
export interface Lane {
  /**
   * in slices
   */
  run: number;
  process?: string;
  process_id?: number;
  thread?: string;
  thread_id?: number;
  region?: string;
  /**
   * of the region: that of a construct, waiting, [not known]
   */
  kind?: string;
  values: Values;
  series: Series[];
}
/**
 * by event name
 */
export interface Values {
  [k: string]: Value;
}
export interface Value {
  /**
   * 0: not sampled here
   */
  samples: number;
  /**
   * in the event's unit
   */
  value: number;
  /**
   * standard error of value; 0 where nothing was sampled
   */
  error: number;
}
export interface Series {
  event: string;
  mode: "" | "user" | "kernel" | "guest user" | "guest kernel" | "hypervisor";
  /**
   * the slice of the first value
   */
  first: number;
  samples: number[];
  /**
   * in the event's unit, slice by slice
   */
  values: number[];
  /**
   * standard errors; empty: the values are exact
   */
  errors: number[];
}
/**
 * what makes the numbers weaker: amounts by key, and sentences
 */
export interface Ledger {
  lost_samples: number;
  notes: string[];
  [k: string]: number | string[];
}
}

export namespace Scan {
export interface ScanDocument {
  schema: "culprit-web-scan-1";
  /**
   * of the measurement in the file that the cells are of: the last one
   */
  label: string;
  /**
   * the dimension that plots are over unless another is asked for
   */
  over: string;
  /**
   * the dimension that has a curve for each of its values
   */
  by: string;
  /**
   * program, setup, then the parameters
   */
  dimensions: string[];
  /**
   * the Nth has its values in scan/values/N
   */
  quantities: {
    name: string;
    kind: "preset" | "event" | "build";
    title: string;
  }[];
  /**
   * of the cell, as commands take it
   */
  name: string[];
  program: string[];
  setup: string[];
  /**
   * by name; an empty text: the cell has none of that name
   */
  parameters: {
    [k: string]: string[];
  };
  /**
   * what stands where the cell has no value: build failed, grows, -
   */
  missing: string[];
  /**
   * iterations differ: values are means
   */
  varies: boolean[];
  /**
   * an iteration neither loads, stores nor computes
   */
  idle: boolean[];
  /**
   * of what failed
   */
  message: string[];
  compiler: string[];
  /**
   * the command that built it
   */
  build: string[];
}
}

export namespace ScanValues {
export interface ScanValuesDocument {
  schema: "culprit-web-scan-values-1";
  expression: string;
  title: string;
  caveat: string;
  provenance: "counted" | "sampled" | "modelled";
  values: (number | null)[];
  /**
   * standard errors
   */
  errors: number[];
}
}

export namespace ScanOne {
export type Remarks = {
  function: string;
  instructions: number;
}[];

export interface ScanOneDocument {
  schema: "culprit-scan-one-1";
  title: string;
  by: "function" | "line" | "instruction";
  first_runs: number;
  last_runs: number;
  /**
   * no number is the cost of an iteration
   */
  refused: boolean;
  /**
   * iterations differ: values are means
   */
  varies: boolean;
  per_iteration: null | Costs;
  rows: {
    function: string;
    name: string;
    detail: string;
    varies: boolean;
    per_iteration: Costs;
  }[];
  once: Remarks;
  growing: Remarks;
  /**
   * rules of kernels, each with its name in brackets
   *
   * @minItems 1
   */
  broken_rules?: string[];
  /**
   * rules that could not be checked, and why
   *
   * @minItems 1
   */
  undecided_rules?: string[];
}
/**
 * by event, in its unit
 */
export interface Costs {
  [k: string]: {
    value: number;
    error: number;
  };
}
}

export namespace ScanExplain {
/**
 * of the compiler, about lines that differ
 */
export type Remarks = {
  place: string;
  text: string;
  missed: boolean;
  /**
   * of what works on vectors: how much of it an iteration executed
   */
  executed?: string;
}[];
export type Instructions = {
  address: string;
  text: string;
  executions: number;
}[];

export interface ScanExplainDocument {
  schema: "culprit-scan-explain-1";
  a: Cell;
  b: Cell;
  /**
   * the largest first
   */
  causes: {
    name:
      | "removed"
      | "scalar"
      | "narrow"
      | "unfused"
      | "rolled"
      | "checks"
      | "calls"
      | "divisions"
      | "work"
      | "spills"
      | "reloads"
      | "moves"
      | "shuffles"
      | "conversions"
      | "integer-multiplies"
      | "simd-integer"
      | "nops"
      | "ports"
      | "divider"
      | "call-overhead"
      | "chains"
      | "mispredictions"
      | "forwarding"
      | "aliasing"
      | "loads-l2"
      | "loads-l3"
      | "loads-memory"
      | "loads-other-core"
      | "translation"
      | "bandwidth"
      | "stores"
      | "code-fetch"
      | "microcode";
    text: string;
    place: string;
    /**
     * what it stands for, per iteration
     */
    weight: number;
    /**
     * cycles: a class of modelled cycles
     */
    unit: "instructions" | "cycles";
  }[];
  events: {
    name: string;
    provenance: "counted" | "sampled" | "modelled";
    a: number;
    b: number;
  }[];
  instructions_by_line: {
    name: string;
    a: number;
    b: number;
  }[];
  remarks_a: Remarks;
  remarks_b: Remarks;
  /**
   * the lines that differ most first
   */
  code: {
    line: string;
    source: string;
    a: Instructions;
    b: Instructions;
  }[];
}
export interface Cell {
  program: string;
  setup: string;
  parameters: {
    [k: string]: string;
  };
}
}

