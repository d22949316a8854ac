#pragma once

// The costs that are not sums of events x penalties, as functions of events. Each is
// recomputed from the summed events of whatever is looked at: a function's value is not
// the sum of its instructions' values.

#include <functional>
#include <span>

#include "stats/estimate.h"

namespace culprit {

/// Cycles in which instructions were issued that never retired (the wrong path of branches,
/// pipeline restarts).
/// Units:  micro-operations, micro-operations, micro-operations per cycle -> [cycles]
/// Errors: issue and retirement are up to a scheduler apart: of a whole program only, not of
///         a function or less. 0 if more retired than were issued, which micro-fusion can do
/// Source: Nowak, Levinthal, Zwaenepoel, ISPASS 2015, table 8 (whose text has lost a sign),
///         with the division that turns micro-operations into cycles as in their tool
double wrong_path_cycles(double issued, double retired, double issue_rate);

/// The busiest port's cycles: the ports work side by side, so their sum means nothing.
/// Units:  [cycles] -> [cycles]
/// Shape:  one number per port; 0 of none
/// Source: the same, section 2.2.2: attention from 60 to 80 % of all cycles on
double busiest_port_cycles(std::span<const double> ports);
inline constexpr double kPortAttention = 0.6;  // of the unhalted cycles
inline constexpr double kPortSaturated = 0.8;

/// What stack frames and argument passing cost.
/// Units:  calls, [cycles per call] -> [cycles]
/// Source: the same, table 8: 3 cycles per call
double call_overhead_cycles(double calls, double cycles_per_call);

/// Cycles in which two threads of a core both wanted its in-order stages, if what they do is
/// not correlated and the other thread is like this one: while both are awake, each is active
/// with the share of its unstalled cycles; when both are, one of them waits.
/// Units:  [cycles], [cycles], [0 to 1] -> [cycles]; `alone`: the part of this thread's running
///         time in which the other one was halted
/// Errors: an estimate by assumption; for whole runs only
/// Source: the same, section 2.2.1, "multi-thread collisions"
double thread_collision_cycles(double unhalted, double unstalled, double alone);

/// What some events counted and others (with negative weights) explain; 0 where it is less.
/// Units:  any, the same for all
double positive_sum(std::span<const double> weighted);

/// A function's value and standard error.
/// Errors: first order: each operand moved by its standard error, the changes added in
///         squares; operands are taken to be independent
Estimate propagate(const std::function<double(std::span<const double>)>& function,
                   std::span<const Estimate> operands);

}  // namespace culprit
