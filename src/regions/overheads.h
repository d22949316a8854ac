#pragma once

// The four classes of overhead, of each parallel region and of the program.
//
//   synchronisation      what barriers, taskwait and taskgroup wait; entering critical, lock,
//                        atomic, ordered
//   imbalance            exit barriers of parallel, loop, workshare, taskloop, of static loops, and
//                        of sections if every thread could have had one
//   limited parallelism  exit barriers of single, of regions that end with one, and of sections if
//                        there were too few
//   thread management    parallel without body and barrier; leaving critical, lock, atomic,
//                        ordered; making tasks
//
// Source: ompP 0.7; what it did not know (tasks, ordered) is put where it is waited for.

#include "regions/regions_report.h"

namespace culprit {

/// Units:  times of one construct, summed over threads [ns] -> [ns]
Overheads compute_overheads(const Construct& construct);

/// Fills regions, program, parallel_wall_ns and most_threads.
void add_overheads(RegionsReport& report);

}  // namespace culprit
