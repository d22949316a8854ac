#include "regions/constructs.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "base/text.h"
#include "model/labelled_runs.h"
#include "model/region_words.h"

namespace culprit {
namespace {

constexpr std::array<const char*, 22> kWords = {
    "parallel",         "teams",    "loop",      "sections", "single",   "master", "workshare",
    "distribute",       "scope",    "critical",  "atomic",   "ordered",  "lock",   "barrier",
    "implicit barrier", "taskwait", "taskgroup", "task",     "taskloop", "user",   "function",
    "unknown"};

constexpr const char* kParallelSections = "PARALLEL SECTIONS";
constexpr const char* kParallelLoop = "PARALLEL LOOP";

Kind find_kind(std::string_view word) {
  for (size_t i = 0; i < kWords.size(); ++i)
    if (kWords[i] == word) return static_cast<Kind>(i);
  return Kind::unknown;
}

std::string to_upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

bool has_word(const std::optional<std::string>& text, std::string_view word) {
  return text && to_lower(*text).find(word) != std::string::npos;
}

/// The name in "#pragma omp critical(name)"; "" if the line has none.
std::string find_critical_name(const std::optional<std::string>& text) {
  if (!text) return "";
  const size_t word = to_lower(*text).find("critical");
  if (word == std::string::npos) return "";
  const size_t open = text->find_first_not_of(' ', word + 8);
  if (open == std::string::npos || (*text)[open] != '(') return "";
  const size_t close = text->find(')', open);
  if (close == std::string::npos) return "";
  return std::string(trim(std::string_view(*text).substr(open + 1, close - open - 1)));
}

/// A place that is a function's entry says where the construct is only if its body is that
/// function: what only waits, or has no function of its own, took it from the region around.
bool has_own_function(Kind kind) {
  return kind == Kind::parallel || kind == Kind::teams || kind == Kind::task ||
         kind == Kind::taskloop || kind == Kind::loop || kind == Kind::user ||
         kind == Kind::function;
}

Construct make_construct(const Profile& profile, RegionId id, CodeIndex& code) {
  const Region& region = profile.regions[id.value];
  Construct construct;
  construct.kind = find_kind(profile.strings.text(region.kind));
  FoundRegion found = find_region(id, code);
  construct.name = profile.strings.text(region.name);
  construct.place = std::move(found.place);
  if (construct.place.file.empty() && !region.file.is_all()) {
    construct.place.file = profile.strings.text(region.file);
    construct.place.first_line = region.first_line;
    construct.place.last_line = region.last_line;
    if (region.first_line != 0) construct.place.lines = LinesAre::construct;
  }
  Attributor* attributor = code.attributor(region.site.image);
  const FunctionFact* function =
      attributor == nullptr ? nullptr : attributor->attribute(region.site.offset).function;
  const bool is_entry = function != nullptr && function->begin == region.site.offset;
  if (is_entry && !has_own_function(construct.kind)) {
    construct.place.lines = LinesAre::function;
  } else if (construct.kind == Kind::barrier && found.source &&
             !has_word(found.source, "barrier")) {
    construct.kind = Kind::implicit_barrier;
  }
  if (construct.kind == Kind::function) construct.name = construct.place.function;
  if (construct.kind == Kind::critical) {
    const std::string name = find_critical_name(found.source);
    if (!name.empty()) construct.name = name;
  }
  construct.type = to_upper(word_of(construct.kind));
  if (construct.kind == Kind::parallel && construct.place.lines == LinesAre::construct) {
    const bool is_pragma = has_word(found.source, "omp");
    if (is_pragma && (has_word(found.source, " for") || has_word(found.source, " do"))) {
      construct.type = kParallelLoop;
    } else if (is_pragma && has_word(found.source, " sections")) {
      construct.type = kParallelSections;
    }
  }
  return construct;
}

class ConstructFinder {
 public:
  ConstructFinder(const Profile& profile, CodeIndex& code, RegionsReport& report)
      : profile_(profile), code_(code), report_(report) {}

  void find() {
    choose_values();
    list_threads();
    order_regions();
    for (const size_t region : order_) add_region(region);
    for (const RegionValue& value : profile_.region_values) add_value(value);
    sum_up();
  }

 private:
  struct Part {
    std::string_view word;
    double RegionTimes::* time;
  };

  void choose_values();
  [[nodiscard]] bool is_chosen(const RegionValue& value) const;
  [[nodiscard]] std::string find_rank(const Context& context) const;
  void list_threads();
  void find_lost_place(size_t row);
  void order_regions();
  void add_region(size_t region);
  void add_value(const RegionValue& value);
  void sum_up();
  void add_exclusive_times();
  static double inside_ns(const Construct& construct, const RegionTimes& times);
  static bool runs_as_task(const Construct& construct, const RegionTimes& times);

  const Profile& profile_;
  CodeIndex& code_;
  RegionsReport& report_;
  std::set<ContextId> contexts_;  // of the values that are taken
  std::map<ContextId, size_t> thread_of_;
  std::vector<Construct> made_;       // by row of regions, until it is added
  std::vector<size_t> order_;         // rows of regions, a parent before its children
  std::map<size_t, size_t> path_of_;  // row of regions → row of call_paths
  /// Kind, name, and the place: file, line and function where they are known (a compiler that
  /// unrolls a loop makes several calls of one construct), else the address.
  using Identity =
      std::tuple<Kind, std::string, std::string, uint32_t, std::string, ImageId, FileOffset>;
  static Identity identify(const Construct& construct, const Region& region);

  std::map<Identity, size_t> construct_of_;
  std::map<std::pair<size_t, size_t>, size_t> path_below_;         // parent path + 1, construct
  std::map<std::pair<size_t, size_t>, RegionTimes> by_path_;       // path, thread
  std::map<std::pair<size_t, size_t>, RegionTimes> by_construct_;  // construct, thread
};

/// Where a run was measured its regions have times. A simulated one beside it says of the same
/// threads what they counted, by other contexts.
void ConstructFinder::choose_values() {
  report_.has_times = std::any_of(
      profile_.region_values.begin(), profile_.region_values.end(), [&](const RegionValue& value) {
        return value.event.is_all() && profile_.strings.text(value.part) != region::kPieces;
      });
  for (const RegionValue& value : profile_.region_values) {
    const bool is_body = profile_.strings.text(value.part) == region::kBody;
    if (is_body && value.event.is_all() == report_.has_times) contexts_.insert(value.context);
  }
}

bool ConstructFinder::is_chosen(const RegionValue& value) const {
  const bool is_of_kind = value.event.is_all() == report_.has_times ||
                          profile_.strings.text(value.part) == region::kPieces;
  return is_of_kind && contexts_.contains(value.context);
}

std::string ConstructFinder::find_rank(const Context& context) const {
  const Run* const run = find_row(profile_.runs, context.run);
  return run == nullptr ? "" : find_label(profile_, *run, kRankLabel);
}

/// Threads with regions, by rank, by process and in the order in which they began.
void ConstructFinder::list_threads() {
  struct Known {
    ContextId context;
    uint32_t process;
    uint32_t ordinal;
    uint32_t tid;
    uint32_t pid;
    ThreadId row;
    std::string rank;  // of an MPI program
  };
  std::map<ContextId, Known> found;
  for (const RegionValue& value : profile_.region_values) {
    if (!is_chosen(value)) continue;
    const Context* context = find_row(profile_.contexts, value.context);
    if (context == nullptr) continue;
    const Thread* thread = find_row(profile_.threads, context->thread);
    const Process* process = find_row(profile_.processes, context->process);
    const uint32_t ordinal =
        thread == nullptr || thread->ordinal == 0 ? UINT32_MAX : thread->ordinal;
    found.try_emplace(
        value.context,
        Known{value.context, context->process.value, ordinal, thread == nullptr ? 0 : thread->tid,
              process == nullptr ? 0 : process->pid, context->thread, find_rank(*context)});
  }
  std::vector<Known> ordered;
  for (const auto& [context, known] : found) ordered.push_back(known);
  std::stable_sort(ordered.begin(), ordered.end(), [](const Known& a, const Known& b) {
    const auto order = [](const Known& one) {
      // Ranks are numbers: 2 comes before 10.
      return std::tuple(one.rank.size(), std::string_view(one.rank), one.process, one.ordinal,
                        one.tid);
    };
    return order(a) < order(b);
  });
  const bool has_one_process = ordered.empty() || ordered.front().process == ordered.back().process;
  size_t number = 0;
  for (size_t i = 0; i < ordered.size(); ++i) {
    if (i > 0 && ordered[i].process != ordered[i - 1].process) number = 0;
    thread_of_[ordered[i].context] = report_.threads.size();
    const std::string process =
        ordered[i].rank.empty() ? fmt::format("{}", ordered[i].pid) : "r" + ordered[i].rank;
    report_.threads.push_back(
        {has_one_process ? fmt::format("{}", number) : fmt::format("{}:{}", process, number),
         ordered[i].pid, ordered[i].tid, ordered[i].row, ProcessId(ordered[i].process),
         ordered[i].rank});
    ++number;
  }
}

/// LLVM's runtime forgets now and then where a construct is, which then has the place of the region
/// around: it is that of the same kind beside it, if there is one such.
void ConstructFinder::find_lost_place(size_t row) {
  const Region& region = profile_.regions[row];
  const Kind kind = made_[row].kind;
  const bool can_be_lost = kind == Kind::loop || !has_own_function(kind);
  if (!can_be_lost || made_[row].place.lines != LinesAre::construct) return;
  if (region.parent.value >= row) return;
  if (region.site == Location() || region.site != profile_.regions[region.parent.value].site)
    return;
  const Construct* beside = nullptr;
  for (size_t i = 0; i < profile_.regions.size(); ++i) {
    const Region& other = profile_.regions[i];
    const bool is_alike = other.parent == region.parent && other.kind == region.kind &&
                          other.name == region.name && other.site != region.site;
    if (!is_alike) continue;
    if (beside != nullptr && identify(*beside, other) != identify(made_[i], other)) return;
    beside = &made_[i];
  }
  if (beside != nullptr && beside->place.lines == LinesAre::construct) {
    made_[row].place = beside->place;
  }
}

/// Depth first, so that what is inside a region follows it, in the order of the source: which
/// construct a thread met first differs from run to run. Rows whose parent is no earlier row (a
/// damaged file) are roots.
void ConstructFinder::order_regions() {
  made_.reserve(profile_.regions.size());
  for (size_t i = 0; i < profile_.regions.size(); ++i) {
    const bool is_construct = region::is_construct(profile_.strings.text(profile_.regions[i].kind));
    made_.push_back(is_construct ? make_construct(profile_, RegionId(i), code_) : Construct());
  }
  for (size_t i = 0; i < made_.size(); ++i) find_lost_place(i);
  const auto comes_before = [&](size_t a, size_t b) {
    const auto key = [&](size_t row) {
      const RegionPlace& place = made_[row].place;
      return std::tie(place.file, place.first_line);
    };
    return key(a) < key(b);
  };
  std::map<size_t, std::vector<size_t>> children;
  std::vector<size_t> roots;
  for (size_t i = 0; i < profile_.regions.size(); ++i) {
    const RegionId parent = profile_.regions[i].parent;
    if (!parent.is_all() && parent.value < i) {
      children[parent.value].push_back(i);
    } else {
      roots.push_back(i);
    }
  }
  std::stable_sort(roots.begin(), roots.end(), comes_before);
  for (auto& [parent, inside] : children) {
    std::stable_sort(inside.begin(), inside.end(), comes_before);
  }
  std::vector<size_t> waiting(roots.rbegin(), roots.rend());
  while (!waiting.empty()) {
    const size_t region = waiting.back();
    waiting.pop_back();
    order_.push_back(region);
    const std::vector<size_t>& inside = children[region];
    waiting.insert(waiting.end(), inside.rbegin(), inside.rend());
  }
}

/// "main" of "main.omp_outlined": compilers run a region's body in its function, too, if it has one
/// thread.
std::string find_written_function(const std::string& function) {
  for (const char* made : {"._omp_fn.", ".omp_outlined", "..omp_par"}) {
    if (const size_t at = function.find(made); at != std::string::npos) {
      return function.substr(0, at);
    }
  }
  return function;
}

ConstructFinder::Identity ConstructFinder::identify(const Construct& construct,
                                                    const Region& region) {
  const RegionPlace& place = construct.place;
  const bool has_line = place.lines == LinesAre::construct;
  return {construct.kind,
          construct.name,
          has_line ? place.file : "",
          has_line ? place.first_line : 0,
          has_line ? find_written_function(place.function) : "",
          region.site.image,
          has_line ? FileOffset() : region.site.offset};
}

void ConstructFinder::add_region(size_t row) {
  const Region& region = profile_.regions[row];
  if (!region::is_construct(profile_.strings.text(region.kind))) return;
  const auto parent = region.parent.is_all() ? path_of_.end() : path_of_.find(region.parent.value);
  CallPath path;
  if (parent != path_of_.end()) {
    path.parent = parent->second;
    path.depth = report_.call_paths[parent->second].depth + 1;
  }
  Construct construct = std::move(made_[row]);
  const auto [at, is_new] =
      construct_of_.try_emplace(identify(construct, region), report_.constructs.size());
  path.construct = at->second;
  if (is_new) {
    if (construct.kind == Kind::parallel) construct.region = path.construct;
    for (std::optional<size_t> up = path.parent; up && !construct.region;
         up = report_.call_paths[*up].parent) {
      const size_t around = report_.call_paths[*up].construct;
      if (report_.constructs[around].kind == Kind::parallel) construct.region = around;
    }
    report_.constructs.push_back(std::move(construct));
  } else {
    Construct& known = report_.constructs[path.construct];
    known.place.last_line = std::max(known.place.last_line, construct.place.last_line);
  }
  const auto [below, is_new_path] = path_below_.try_emplace(
      {path.parent ? *path.parent + 1 : 0, path.construct}, report_.call_paths.size());
  path_of_[row] = below->second;
  report_.path_of_region.resize(profile_.regions.size());
  report_.path_of_region[row] = below->second;
  if (is_new_path) report_.call_paths.push_back(path);
}

void ConstructFinder::add_value(const RegionValue& value) {
  static constexpr Part kParts[] = {{region::kEnter, &RegionTimes::enter_ns},
                                    {region::kBody, &RegionTimes::body_ns},
                                    {region::kExit, &RegionTimes::exit_ns},
                                    {region::kExitBarrier, &RegionTimes::exit_barrier_ns},
                                    {region::kWait, &RegionTimes::wait_ns},
                                    {region::kBehindSingle, &RegionTimes::behind_single_ns},
                                    {region::kInnerTasks, &RegionTimes::inner_tasks_ns},
                                    {region::kUnfinished, &RegionTimes::unfinished_ns}};
  const auto path = path_of_.find(value.region.value);
  const auto thread = thread_of_.find(value.context);
  if (path == path_of_.end() || thread == thread_of_.end() || !is_chosen(value)) return;
  const std::string& word = profile_.strings.text(value.part);
  RegionTimes& times = by_path_[{path->second, thread->second}];
  // Each part has the executions of all; those of the body are always there.
  if (word == region::kBody) times.executions += value.executions;
  if (word == region::kPieces) times.pieces += value.value;
  if (word == region::kUnfinished) times.unfinished += value.executions;
  if (!report_.has_times) return;
  for (const Part& part : kParts)
    if (part.word == word) times.*part.time += static_cast<double>(value.value);
}

void ConstructFinder::sum_up() {
  for (const auto& [key, times] : by_path_) {
    CallPath& path = report_.call_paths[key.first];
    path.sum += times;
    by_construct_[{path.construct, key.second}] += times;
  }
  for (const auto& [key, times] : by_construct_) {
    Construct& construct = report_.constructs[key.first];
    construct.threads.push_back({key.second, times, {}});
    construct.sum += times;
  }
  for (size_t i = 0; i < report_.constructs.size(); ++i) {
    Construct& construct = report_.constructs[i];
    if (construct.kind == Kind::loop && construct.region) {
      Construct& region = report_.constructs[*construct.region];
      if (region.type == kParallelLoop) region.own_loop = i;
    }
    if (construct.kind != Kind::sections) continue;
    construct.lacks_sections = construct.sum.pieces < construct.sum.executions;
    // Threads without a section wait at the region's own barrier where it has nothing else.
    if (!construct.region) continue;
    Construct& region = report_.constructs[*construct.region];
    if (region.type == kParallelSections) region.lacks_sections = construct.lacks_sections;
  }
  add_exclusive_times();
}

/// What of a construct's time is in the time of the construct around it.
double ConstructFinder::inside_ns(const Construct& construct, const RegionTimes& times) {
  switch (construct.kind) {
    case Kind::task:  // runs when a thread has time; what creating tasks takes is in the creator's
      return std::max(0.0, times.enter_ns - times.inner_tasks_ns);
    case Kind::taskloop:  // GCC's says how many tasks it had, and its body are they
      return times.pieces > 0
                 ? std::max(0.0, times.whole_ns() - times.body_ns - times.inner_tasks_ns)
                 : times.whole_ns();
    case Kind::lock:  // code under it counts for the construct around
      return times.whole_ns() - times.body_ns;
    default:
      return times.whole_ns();
  }
}

bool ConstructFinder::runs_as_task(const Construct& construct, const RegionTimes& times) {
  return construct.kind == Kind::task || (construct.kind == Kind::taskloop && times.pieces > 0);
}

/// By thread: what a region has more of them than the construct around is nobody else's time. Times
/// are taken off as they were counted, so that those of a thread add up to its outermost
/// constructs.
void ConstructFinder::add_exclusive_times() {
  // Tasks that ran in a construct and in what is inside it: a task around is without them.
  std::map<std::pair<size_t, size_t>, double> tasks_inside;
  for (auto at = by_path_.rbegin(); at != by_path_.rend(); ++at) {  // a parent after its children
    const auto& [key, times] = *at;
    const CallPath& path = report_.call_paths[key.first];
    const Construct& construct = report_.constructs[path.construct];
    if (runs_as_task(construct, times)) continue;
    double& tasks_ns = tasks_inside[key];
    tasks_ns += times.inner_tasks_ns;
    if (path.parent) tasks_inside[{*path.parent, key.second}] += tasks_ns;
  }
  for (const auto& [key, times] : by_path_) {
    CallPath& path = report_.call_paths[key.first];
    const Construct& construct = report_.constructs[path.construct];
    const double inside = inside_ns(construct, times);
    path.exclusive_ns +=
        construct.kind == Kind::lock ? inside : times.whole_ns() - times.inner_tasks_ns;
    if (!path.parent) continue;
    const auto around = by_path_.find({*path.parent, key.second});
    if (around == by_path_.end()) continue;
    CallPath& parent = report_.call_paths[*path.parent];
    const bool is_in_task = runs_as_task(report_.constructs[parent.construct], around->second);
    const bool is_task = runs_as_task(construct, times);
    parent.exclusive_ns -= inside - (is_in_task && !is_task ? tasks_inside[key] : 0);
  }
  for (CallPath& path : report_.call_paths) path.exclusive_ns = std::max(0.0, path.exclusive_ns);
}

}  // namespace

const char* word_of(Kind kind) {
  return kWords[static_cast<size_t>(kind)];
}

RegionTimes& RegionTimes::operator+=(const RegionTimes& other) {
  executions += other.executions;
  pieces += other.pieces;
  enter_ns += other.enter_ns;
  body_ns += other.body_ns;
  exit_ns += other.exit_ns;
  exit_barrier_ns += other.exit_barrier_ns;
  wait_ns += other.wait_ns;
  behind_single_ns += other.behind_single_ns;
  inner_tasks_ns += other.inner_tasks_ns;
  unfinished += other.unfinished;
  unfinished_ns += other.unfinished_ns;
  return *this;
}

void find_constructs(const Profile& profile, CodeIndex& code, RegionsReport& report) {
  ConstructFinder(profile, code, report).find();
}

}  // namespace culprit
