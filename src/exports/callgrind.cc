// Callgrind's format: costs by instruction and line within functions, one column per
// event. Calls come from stacks: a call's inclusive cost is that of the samples with it
// on their stack, its count the number of those samples. Without stacks, branch records
// tell which calls there were and how often they were seen; their cost is unknown and
// left open.
//
//     fn=(1) grind
//     0x1210 11 250000000          self cost of an instruction
//     fi=(2) /src/scale.h          from here on inlined code of another file
//     0x1220 5 50000000
//     fe=(1)                       and back
//     cfn=(2) weigh
//     calls=50 0x1300 40           seen on the stack of 50 samples
//     0x1226 14 50000000           called here; inclusive cost

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <tuple>

#include "attribute/code_index.h"
#include "base/text.h"
#include "branches/call_kind.h"
#include "exports/call_paths.h"
#include "exports/callgrind_names.h"
#include "exports/exports.h"
#include "model/counts.h"

namespace culprit {

namespace {

/// A symbol of an image; without one, code at an address.
struct FunctionKey {
  ImageId image;
  uint32_t row = CodePlace::kNone;
  FileOffset begin;
  friend auto operator<=>(const FunctionKey&, const FunctionKey&) = default;
};

struct Call {
  uint64_t count = 0;
  Sums inclusive;  // empty: unknown
};

/// What happened at one instruction.
struct Position {
  Sums self;
  std::map<FunctionKey, Call> calls;
};

using Positions = std::map<FileOffset, Position>;

/// Adds the counts of a profile up, by function and instruction.
class Costs {
 public:
  Costs(const Profile& profile, CodeIndex& code) : profile_(profile), code_(code), codes_(code) {
    for (const Histogram& histogram : profile.histograms) {
      for_each_count(profile, histogram, [this](const Location& at, size_t event, const Sum& sum) {
        Sums& self = position(at).self;
        self.resize(profile_.events.size());
        self[event] += sum;
      });
    }
    if (profile.stack_counts.empty()) {
      for (const BranchCount& branch : profile.branch_counts) add_branch(branch);
    } else {
      for_each_call_path(profile, [this](const CallPath& path) { add_calls(path); });
    }
  }

  [[nodiscard]] const std::map<FunctionKey, Positions>& functions() const { return functions_; }

  FunctionKey function_of(const Location& at) {
    const uint32_t row = code_.find(at).function;
    if (row == CodePlace::kNone) return {at.image, row, at.offset};
    return {at.image, row, code_.facts(at.image)->functions[row].begin};
  }

 private:
  Position& position(const Location& at) { return functions_[function_of(at)][at.offset]; }

  /// A call that recursion put on the stack several times counts once.
  void add_calls(const CallPath& path) {
    std::set<std::pair<Location, FunctionKey>> seen;
    for (size_t caller = 1; caller < path.frames.size(); ++caller) {
      const FunctionKey callee = function_of(path.frames[caller - 1]);
      if (!seen.emplace(path.frames[caller], callee).second) continue;
      Call& call = position(path.frames[caller]).calls[callee];
      call.inclusive.resize(profile_.events.size());
      add_sums(call.inclusive, path.sums);
      uint64_t samples = 0;
      for (const Sum& sum : path.sums) samples = std::max(samples, sum.samples);
      call.count += samples;
    }
  }

  /// A call to the first instruction of a function; of itself, too.
  void add_branch(const BranchCount& branch) {
    if (find_call_kind(codes_, branch.from, branch.to) == CallKind::other) return;
    if (code_.find(branch.to).function == CodePlace::kNone) return;
    const FunctionKey callee = function_of(branch.to);
    if (callee.begin != branch.to.offset) return;
    position(branch.from).calls[callee].count += branch.count;
  }

  const Profile& profile_;
  CodeIndex& code_;
  FunctionCodes codes_;
  std::map<FunctionKey, Positions> functions_;
};

class CallgrindWriter {
 public:
  CallgrindWriter(const Profile& profile, const FactsLookup& facts)
      : profile_(profile),
        code_(profile, facts),
        scaler_(profile),
        totals_(profile.events.size()) {}

  std::string write() {
    Costs costs(profile_, code_);
    for (const auto& [function, positions] : costs.functions()) write_function(function, positions);
    return header() + body_ + "\ntotals:" + numbers(totals_) + "\n";
  }

 private:
  [[nodiscard]] std::string header() const {
    std::string text = "# callgrind format\nversion: 1\ncreator: culprit\n";
    for (const Run& run : profile_.runs) {
      text += "cmd: " + printable(profile_.strings.text(run.command)) + "\n";
    }
    for (const std::string& entry : describe_ledger(profile_.ledger)) {
      text += "desc: ledger: " + entry + "\n";
    }
    text += "positions: instr line\nevents:";
    for (const std::string& name : callgrind_event_names(profile_)) text += " " + name;
    return text + "\nsummary:" + numbers(totals_) + "\n";
  }

  static std::string numbers(const std::vector<uint64_t>& values) {
    return fmt::format(" {}", fmt::join(values, " "));
  }

  std::string file_of(const FunctionKey& function) {
    if (function.row == CodePlace::kNone) return "";
    const ImageFacts& facts = *code_.facts(function.image);
    return facts.strings.text(facts.functions[function.row].file);
  }

  std::string name_of(const FunctionKey& function) {
    if (function.row == CodePlace::kNone) return code_.unnamed({function.image, function.begin});
    const ImageFacts& facts = *code_.facts(function.image);
    const std::string& name = facts.strings.text(facts.functions[function.row].name);
    return name.empty() ? code_.unnamed({function.image, function.begin}) : name;
  }

  /// Where a function is entered, and the line of its own that this is.
  std::string entry(const FunctionKey& function) {
    const Location at{function.image, function.begin};
    const std::vector<Frame> frames = code_.frames(at);
    return fmt::format("{:#x} {}", code_.link_address(at).value,
                       frames.empty() ? 0 : frames.back().line);
  }

  /// "0x1210 11": address and line; the file goes to `file`, if it is wanted.
  std::string place(const Location& at, std::string* file) {
    const std::vector<Frame> frames = code_.frames(at);
    const uint32_t line = frames.empty() ? 0 : frames.front().line;
    if (line != 0) {
      *file = code_.facts(at.image)->strings.text(frames.front().file);
    }
    return fmt::format("{:#x} {}", code_.link_address(at).value, line);
  }

  void write_function(const FunctionKey& function, const Positions& positions) {
    const std::string own_file = file_of(function);
    std::string file = own_file;
    body_ += "\nob=" + objects_.name(code_.module(function.image));
    body_ += "\nfl=" + files_.name(own_file) + "\nfn=" + functions_.name(name_of(function)) + "\n";
    for (const auto& [offset, position] : positions) {
      std::string here = own_file;
      const std::string at = place({function.image, offset}, &here);
      if (here != file) body_ += (here == own_file ? "fe=" : "fi=") + files_.name(here) + "\n";
      file = here;
      if (!position.self.empty()) body_ += at + self_cost(position.self) + "\n";
      for (const auto& [callee, call] : position.calls) write_call(at, callee, call);
    }
  }

  std::string self_cost(const Sums& self) {
    std::vector<uint64_t> values;
    for (size_t event = 0; event < self.size(); ++event) {
      values.push_back(scaler_.next(event, self[event].value));
      totals_[event] += values.back();
    }
    return numbers(values);
  }

  void write_call(const std::string& at, const FunctionKey& callee, const Call& call) {
    body_ += "cob=" + objects_.name(code_.module(callee.image));
    body_ += "\ncfi=" + files_.name(file_of(callee));
    body_ += "\ncfn=" + functions_.name(name_of(callee));
    body_ += fmt::format("\ncalls={} {}\n{}", call.count, entry(callee), at);
    std::vector<uint64_t> values;
    for (size_t event = 0; event < call.inclusive.size(); ++event) {
      values.push_back(scaled(profile_.events[event], call.inclusive[event].value));
    }
    body_ += (values.empty() ? "" : numbers(values)) + "\n";
  }

  const Profile& profile_;
  CodeIndex code_;
  Scaler scaler_;
  CompressedNames objects_, files_, functions_;
  std::vector<uint64_t> totals_;
  std::string body_;
};

}  // namespace

Result<std::string> export_callgrind(const Profile& profile, const FactsLookup& facts) {
  if (profile.events.empty()) return Error{"the profile counts no event: nothing to export"};
  return CallgrindWriter(profile, facts).write();
}

}  // namespace culprit
