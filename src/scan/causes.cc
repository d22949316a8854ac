#include "scan/causes.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/names.h"
#include "base/text.h"
#include "scan/cycle_causes.h"
#include "scan/print_answer.h"
#include "scan/register_use.h"
#include "scan/sides.h"

namespace culprit::scan {
namespace {

/// Less is rounding.
constexpr double kNothing = 1e-9;
/// A difference of so small a part of what both do explains nothing.
constexpr double kLittle = 0.02;

/// What a division takes more than other instructions do: 13 to 20 cycles on current cores, where
/// others take about a quarter of one (uops.info, Zen 4 and Golden Cove).
constexpr double kDivisionWeight = 20;

/// Accesses that move about the same bytes, but so many times as many: one side packs them.
constexpr double kSameBytes = 0.9;
constexpr double kFewerAccesses = 1.5;

/// An inner loop's count, comparison and branch.
constexpr double kLoopOverhead = 3;

/// An operation loads two operands and stores its result; what more of them costs is not more than
/// that.
constexpr double kOperationWeight = 4;

/// A check loads what it compares, and may have stored it before: a stack protector's word is
/// loaded, stored, and both are loaded again.
constexpr double kCheckAccesses = 4;

std::string count(double value) {
  return format_cost({value, 0});
}

double fp_instructions(const Sides& sides, int side) {
  double sum = 0;
  for (const char* event : {"fp-scalar", "fp-packed-128", "fp-packed-256", "fp-packed-512"}) {
    sum += side == 0 ? sides.a(event) : sides.b(event);
  }
  return sum;
}

/// Lanes of a floating-point instruction, a mean. A fused one does two operations in each.
double lanes(const Sides& sides, int side) {
  const auto value = [&](const char* event) { return side == 0 ? sides.a(event) : sides.b(event); };
  double operations = value("flops");
  const double instructions = fp_instructions(sides, side);
  if (instructions < kNothing) return 0;
  const double fused = value("fused-multiply-adds");
  // The kinds of fused instructions do not tell their widths, so that the width is that of all.
  operations /= 1 + fused / instructions;
  return operations / instructions;
}

/// Finds causes. Each looks for one thing that compilers do.
class CauseFinder {
 public:
  CauseFinder(const Sides& sides, const std::vector<Remark>& remarks_a,
              const std::vector<Remark>& remarks_b, const std::vector<CodePair>& code)
      : sides_(sides), remarks_{remarks_a, remarks_b}, code_(code) {}

  std::vector<Cause> find() {
    if (find_removed()) return std::move(causes_);
    find_packing();
    if (causes_.empty()) find_packed_accesses();
    find_rolled();
    find_checks();
    find_calls();
    find_divisions();
    find_work();
    find_memory();
    find_kinds();
    std::stable_sort(causes_.begin(), causes_.end(),
                     [](const Cause& x, const Cause& y) { return x.weight > y.weight; });
    add_cycle_causes(sides_, causes_);
    return std::move(causes_);
  }

 private:
  /// `excess` above 0: A is the one that does more of it. The sentence is of who does more.
  static const char* who(double excess) { return excess > 0 ? "A" : "B"; }
  static const char* other(double excess) { return excess > 0 ? "B" : "A"; }
  static double more(double a, double b) { return std::max(a, b); }
  static double less(double a, double b) { return std::min(a, b); }

  void add(const char* name, double weight, const char* event, std::string text) {
    // Wider vectors do as much of it by fewer instructions.
    std::string place = sides_.worst_line({event});
    if (place.empty()) place = sides_.worst_line({"instructions"});
    causes_.push_back({name, std::move(text), std::move(place), std::abs(weight)});
  }

  /// " (its compiler says: ...)", of the first remark of one side that has these words; "": none.
  [[nodiscard]] std::string find_remark(int side, const char* words, bool is_missed) const {
    for (const Remark& remark : remarks_[side]) {
      if (remark.is_missed != is_missed || remark.text.find(words) == std::string::npos) continue;
      return fmt::format(" (its compiler says: {})", printable(remark.text));
    }
    return "";
  }

  /// What scalar code is of the side with these calls: loops with calls in them are not vectorised.
  [[nodiscard]] double weight_of_scalar(double excess) const {
    double weight = 0;
    for (const Cause& one : causes_) {
      if (one.name == "scalar" && one.text.starts_with(who(excess))) weight += one.weight;
    }
    return weight;
  }

  bool find_removed() {
    const auto works = [&](int side) {
      double sum = 0;
      for (const char* event : {"L1-dcache-loads", "L1-dcache-stores", "flops"}) {
        sum += side == 0 ? sides_.a(event) : sides_.b(event);
      }
      return sum > kNothing;
    };
    if (works(0) == works(1)) return find_no_operations();
    const double excess = works(0) ? 1 : -1;
    add("removed", sides_.excess("instructions"), "instructions",
        fmt::format("{} loads, stores and computes nothing: its kernel was optimised away",
                    other(excess)));
    return true;
  }

  /// A compiler that takes the work out of the loop leaves the store of its result.
  bool find_no_operations() {
    const double flops[] = {sides_.a("flops"), sides_.b("flops")};
    if (more(flops[0], flops[1]) < 1 || less(flops[0], flops[1]) > kNothing) return false;
    const double excess = sides_.excess("flops");
    add("removed", sides_.excess("instructions"), "flops",
        fmt::format("{} does {} floating-point operations in an iteration, {} none: they were "
                    "optimised away",
                    who(excess), count(more(flops[0], flops[1])), other(excess)));
    return true;
  }

  void find_packing() {
    const double flops_a = sides_.a("flops");
    const double flops_b = sides_.b("flops");
    if (!(flops_a > kNothing && flops_b > kNothing)) return;
    const double instructions = fp_instructions(sides_, 0) - fp_instructions(sides_, 1);
    const double weight = std::abs(instructions) + std::abs(sides_.excess("L1-dcache-loads")) +
                          std::abs(sides_.excess("L1-dcache-stores"));
    const double share_a = sides_.a("packed-flops") / flops_a;
    const double share_b = sides_.b("packed-flops") / flops_b;
    if (std::abs(share_a - share_b) > 0.01) {
      const double excess = share_b - share_a;  // the one that is scalar
      note_packing(fp_instructions(sides_, 0), fp_instructions(sides_, 1));
      add("scalar", weight, "packed-flops",
          fmt::format("{} does {:.0f} % of its floating-point operations in packed instructions, "
                      "{} {:.0f} %",
                      who(excess), 100 * less(share_a, share_b), other(excess),
                      100 * more(share_a, share_b)));
      return;
    }
    const auto width = [&](int side) { return lanes(sides_, side); };
    const double excess = width(1) - width(0);  // the one that is narrow
    if (std::abs(width(0) / width(1) - 1) >= 0.05) {
      note_packing(fp_instructions(sides_, 0), fp_instructions(sides_, 1));
      add("narrow", weight, "flops",
          fmt::format("{} works on {} lanes in a floating-point instruction, {} on {}: narrower "
                      "vectors",
                      who(excess), count(less(width(0), width(1))), other(excess),
                      count(more(width(0), width(1)))));
    }
    const double fused = sides_.excess("fused-multiply-adds");
    if (std::abs(fused) < 0.01) return;
    // Instructions differ by the lanes, too, which are a cause of their own.
    const bool is_all = std::abs(excess) < 0.05;
    add("unfused", is_all ? std::max(std::abs(instructions), std::abs(fused)) : std::abs(fused),
        "fused-multiply-adds",
        fmt::format("{} fuses {} multiplications with additions, {} {}: it takes instructions for "
                    "that (FMA), and permission to round once",
                    who(-fused),
                    count(less(sides_.a("fused-multiply-adds"), sides_.b("fused-multiply-adds"))),
                    other(-fused),
                    count(more(sides_.a("fused-multiply-adds"), sides_.b("fused-multiply-adds")))));
  }

  /// Integers: packed instructions move the same bytes by fewer accesses.
  void find_packed_accesses() {
    const auto sum = [&](int side, const char* loads, const char* stores) {
      return side == 0 ? sides_.a(loads) + sides_.a(stores) : sides_.b(loads) + sides_.b(stores);
    };
    const double bytes[] = {sum(0, "load-bytes", "store-bytes"),
                            sum(1, "load-bytes", "store-bytes")};
    const double accesses[] = {sum(0, "L1-dcache-loads", "L1-dcache-stores"),
                               sum(1, "L1-dcache-loads", "L1-dcache-stores")};
    const double packed = more(sides_.a("simd-integer"), sides_.b("simd-integer"));
    if (packed < kNothing || less(bytes[0], bytes[1]) < kSameBytes * more(bytes[0], bytes[1])) {
      return;
    }
    const double excess = accesses[0] - accesses[1];  // the one that moves less at once
    if (more(accesses[0], accesses[1]) < kFewerAccesses * less(accesses[0], accesses[1])) return;
    note_packing(accesses[0], accesses[1]);
    const double of_worse = excess > 0 ? sides_.a("simd-integer") : sides_.b("simd-integer");
    const bool is_scalar = of_worse < packed / 2;
    const auto width = [&](int side) { return bytes[side] / accesses[side]; };
    add(is_scalar ? "scalar" : "narrow", std::abs(excess), "L1-dcache-loads",
        fmt::format("{} moves {} bytes by a load or store, {} {}: {}", who(excess),
                    count(less(width(0), width(1))), other(excess), count(more(width(0), width(1))),
                    is_scalar ? "works on integers one by one, the other on several in an "
                                "instruction"
                              : "narrower vectors"));
  }

  /// Keeps how many instructions the better side needs for one of the other's.
  void note_packing(double a, double b) {
    if (a > kNothing && b > kNothing) packing_ = less(a, b) / more(a, b);
  }

  /// Finds loops that were unrolled, but for packed instructions, which do several rounds in one by
  /// themselves.
  void find_rolled() {
    const char* const event = sides_.has("loop-branches") ? "loop-branches" : "branches";
    const double rounds[] = {sides_.loop_rounds(0), sides_.loop_rounds(1)};
    double a = rounds[0];
    double b = rounds[1];
    const bool is_a = rounds[0] > rounds[1];
    (is_a ? a : b) *= packing_;
    // More work takes more rounds.
    if (is_a == (sides_.excess("flops") > 0)) (is_a ? b : a) *= work_ratio();
    const double excess = a - b;
    if (std::abs(excess) < 0.5 || excess * (rounds[0] - rounds[1]) <= 0) return;
    add("rolled", kLoopOverhead * excess, event,
        fmt::format("{} goes {} times through inner loops in an iteration, {} {}: loops that are "
                    "not unrolled, or that do less each time",
                    who(excess), count(more(rounds[0], rounds[1])), other(excess),
                    count(less(rounds[0], rounds[1]))));
  }

  /// Conditional branches that close no loop.
  [[nodiscard]] double checks(int side) const {
    const char* const all = "conditional-branches";
    return (side == 0 ? sides_.a(all) : sides_.b(all)) - sides_.loop_rounds(side);
  }

  /// How many more of them A takes.
  [[nodiscard]] double excess_of_checks() const {
    return sides_.has("loop-branches") ? checks(0) - checks(1) : 0;
  }

  /// How many of the accesses that one side has more may be those of its checks.
  [[nodiscard]] double accesses_of_checks() const {
    const double excess = excess_of_checks();
    const double accesses = sides_.excess("L1-dcache-loads") + sides_.excess("L1-dcache-stores");
    if (std::abs(excess) < 0.5 || excess * accesses <= 0) return 0;
    return std::min(std::abs(accesses), kCheckAccesses * std::abs(excess));
  }

  /// Conditional branches that close no loop, with what they compare.
  void find_checks() {
    const double excess = excess_of_checks();
    if (std::abs(excess) < 0.5) return;
    const int side = excess > 0 ? 0 : 1;
    const double weight = 2 * std::abs(excess) + accesses_of_checks();
    if (const std::string guessed = find_remark(side, "speculatively devirtualizing", false);
        !guessed.empty()) {
      add("calls", weight + weight_of_scalar(excess), "conditional-branches",
          fmt::format("{} asks {} times more in an iteration which function is called: its "
                      "compiler guessed one of a virtual call and inlined that behind a check{}",
                      who(excess), count(std::abs(excess)), guessed));
      return;
    }
    add("checks", weight, "conditional-branches",
        fmt::format(
            "{} takes {} decisions in an iteration, {} {}: checks of bounds, of aliasing or "
            "of what is left of a loop{}",
            who(excess), count(more(checks(0), checks(1))), other(excess),
            count(less(checks(0), checks(1))), find_remark(side, "versioned", false)));
  }

  void find_calls() {
    const double excess = sides_.excess("calls");
    if (std::abs(excess) < 0.01) return;
    const int side = excess > 0 ? 0 : 1;
    const std::vector<std::string> functions = sides_.only_in(side);
    std::string names;
    for (size_t i = 0; i < std::min<size_t>(functions.size(), 3); ++i) {
      names += (i == 0 ? " (" : ", ") + shorten_name(printable(functions[i]), 30);
    }
    if (!names.empty()) names += ")";
    // A call and its return, and what the callee sets up.
    double weight = 2 * std::abs(excess) + sides_.instructions_of(side, functions);
    weight += weight_of_scalar(excess);
    add("calls", weight, "calls",
        fmt::format("{} calls {} functions more in an iteration{}: not inlined", who(excess),
                    count(std::abs(excess)), names));
  }

  /// Whether there are fewer of it only because each does more at once.
  [[nodiscard]] bool follows_packing(const char* event) const {
    const double ratio = sides_.a(event) / sides_.b(event);
    const double packing = fp_instructions(sides_, 0) / fp_instructions(sides_, 1);
    return std::isfinite(ratio) && std::isfinite(packing) && std::abs(ratio / packing - 1) < 0.05;
  }

  void find_divisions() {
    for (const char* event : {"fp-divisions", "integer-divisions"}) {
      const double excess = sides_.excess(event);
      if (std::abs(excess) < 0.01 || follows_packing(event)) continue;
      add("divisions", kDivisionWeight * excess, event,
          fmt::format("{} divides {} times, {} {} ({})", who(excess),
                      count(more(sides_.a(event), sides_.b(event))), other(excess),
                      count(less(sides_.a(event), sides_.b(event))), event));
    }
  }

  /// How many times as many floating-point operations one side does as the other; 1: as many.
  [[nodiscard]] double work_ratio() const {
    const double least = less(sides_.a("flops"), sides_.b("flops"));
    return least > kNothing ? more(sides_.a("flops"), sides_.b("flops")) / least : 1;
  }

  /// What an operation takes with all that belongs to it, where it takes less.
  [[nodiscard]] double instructions_per_operation() const {
    double least = kOperationWeight;
    for (const int side : {0, 1}) {
      const double operations = side == 0 ? sides_.a("flops") : sides_.b("flops");
      const double all = side == 0 ? sides_.a("instructions") : sides_.b("instructions");
      if (operations > kNothing) least = std::min(least, all / operations);
    }
    return least;
  }

  void find_work() {
    const double excess = sides_.excess("flops");
    // Vectors have some sums more at their end.
    if (std::abs(excess) < std::max(0.01, kLittle * sides_.b("flops"))) return;
    add("work", excess * instructions_per_operation(), "flops",
        fmt::format(
            "{} does {} floating-point operations, {} {}: work done twice, or in lanes that "
            "nobody uses",
            who(excess), count(more(sides_.a("flops"), sides_.b("flops"))), other(excess),
            count(less(sides_.a("flops"), sides_.b("flops")))));
  }

  /// Bytes, not accesses: packed ones move more at once.
  void find_memory() {
    const double stack = sides_.excess("stack-accesses");
    const double bytes = sides_.excess("load-bytes") + sides_.excess("store-bytes");
    const double accesses = sides_.excess("L1-dcache-loads") + sides_.excess("L1-dcache-stores");
    const auto total = [&](int side) {
      return side == 0 ? sides_.a("load-bytes") + sides_.a("store-bytes")
                       : sides_.b("load-bytes") + sides_.b("store-bytes");
    };
    if (std::abs(bytes) < std::max(0.5, kLittle * total(1))) return;
    const bool is_of_stack = stack * bytes > 0 && std::abs(stack) >= 0.5 * std::abs(accesses);
    const bool is_spilled = is_of_stack && lacks_registers(code_, bytes > 0);
    // All of it may be what checks load and store.
    const double of_checks = accesses * bytes > 0 ? accesses_of_checks() / std::abs(accesses) : 0;
    if (of_checks >= 1) return;
    add(is_spilled ? "spills" : "reloads",
        (1 - of_checks) * std::max(std::abs(accesses), std::abs(bytes) / 8),
        sides_.excess("load-bytes") * bytes > 0 ? "load-bytes" : "store-bytes",
        fmt::format("{} loads and stores {} bytes, {} {}: {}{}", who(bytes),
                    count(more(total(0), total(1))), other(bytes), count(less(total(0), total(1))),
                    is_spilled    ? "much of it on the stack, as spilled registers and copies are"
                    : is_of_stack ? "variables on the stack beside free registers: volatile, or "
                                    "something has their address"
                                  : "operands that are not kept in registers",
                    find_remark(bytes > 0 ? 0 : 1, "or volatile ", true)));
  }

  void find_kinds() {
    static constexpr struct {
      const char* event;
      const char* words;
    } kKinds[] = {{"moves", "moves (copies, loads and stores by themselves)"},
                  {"shuffles", "shuffles of vector lanes"},
                  {"conversions", "conversions between types"},
                  {"integer-multiplies", "integer multiplications"},
                  {"simd-integer", "integer and bitwise operations on vectors"},
                  {"nops", "NOPs, which cost next to nothing"}};
    for (const auto& kind : kKinds) {
      const double excess = sides_.excess(kind.event);
      if (std::abs(excess) < 0.01) continue;
      // Moves are a consequence of what is above more often than a cause.
      const bool is_slight = kind.event == std::string_view("moves");
      const bool is_free = kind.event == std::string_view("nops");
      add(kind.event,
          excess * (is_free     ? 0.1
                    : is_slight ? 0.5
                                : 1),
          kind.event,
          fmt::format("{} executes {} {}, {} {}", who(excess),
                      count(more(sides_.a(kind.event), sides_.b(kind.event))), kind.words,
                      other(excess), count(less(sides_.a(kind.event), sides_.b(kind.event)))));
    }
  }

  const Sides& sides_;
  const std::vector<Remark> remarks_[2];
  const std::vector<CodePair>& code_;
  std::vector<Cause> causes_;
  double packing_ = 1;  // of instructions, where one side packs more into each
};

}  // namespace

std::vector<Cause> find_causes(const Profile& profile, const Side& a, const Side& b,
                               const std::vector<CodePair>& code) {
  return CauseFinder(Sides(profile, a, b), a.remarks, b.remarks, code).find();
}

}  // namespace culprit::scan
