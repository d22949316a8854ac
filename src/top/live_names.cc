#include "top/live_names.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <future>
#include <iterator>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

#include "base/time.h"

namespace culprit {

namespace {

// A pass that took a millisecond is followed by so many in which nothing is read of that image: few
// at first, when most names are new.
constexpr uint64_t kFirstRestFactor = 4;
constexpr uint64_t kRestFactor = 100;
constexpr uint64_t kLongestRestNs = 30'000'000'000;

bool is_in_function(const ImageFacts& facts, FileOffset place) {
  const auto after =
      std::upper_bound(facts.functions.begin(), facts.functions.end(), place,
                       [](FileOffset at, const FunctionFact& one) { return at < one.begin; });
  return after != facts.functions.begin() && place < std::prev(after)->end;
}

bool has_names(const Image& image) {
  return image.kind != ImageKind::unknown;
}

}  // namespace

LiveNames::LiveNames() : thread_([this] { run(); }) {}

LiveNames::~LiveNames() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void LiveNames::want(const std::shared_ptr<const Profile>& tables, const Profile& profile) {
  const std::lock_guard lock(mutex_);
  tables_ = tables;
  for (const Histogram& histogram : profile.histograms) {
    if (histogram.image.value >= tables->images.size()) continue;
    if (!has_names(tables->images[histogram.image.value])) continue;
    Names& names = images_[histogram.image];
    std::vector<FileOffset> nameless;
    for (const FileOffset place : histogram.offsets) {
      if (names.facts && is_in_function(*names.facts, place)) continue;
      if (std::binary_search(names.wanted.begin(), names.wanted.end(), place)) continue;
      nameless.push_back(place);
    }
    if (nameless.empty()) continue;
    std::vector<FileOffset> all;
    std::set_union(names.wanted.begin(), names.wanted.end(), nameless.begin(), nameless.end(),
                   std::back_inserter(all));
    names.wanted = std::move(all);
  }
  changed_.notify_all();
}

void LiveNames::want_code(const std::shared_ptr<const Profile>& tables, const Location& place) {
  const std::lock_guard lock(mutex_);
  tables_ = tables;
  if (place == code_place_) return;
  code_place_ = place;
  wants_code_ = place.image.value < tables->images.size();
  code_.reset();
  changed_.notify_all();
}

FactsLookup LiveNames::names() const {
  auto held = std::make_shared<std::map<ImageId, Facts>>();
  const std::lock_guard lock(mutex_);
  for (const auto& [image, names] : images_) {
    if (names.facts) held->emplace(image, names.facts);
  }
  return [held = std::move(held)](ImageId image) -> const ImageFacts* {
    const auto found = held->find(image);
    return found == held->end() ? nullptr : found->second.get();
  };
}

FactsLookup LiveNames::code() const {
  const std::lock_guard lock(mutex_);
  return [facts = code_, at = code_place_.image](ImageId image) {
    return image == at ? facts.get() : nullptr;
  };
}

bool LiveNames::is_reading_code() const {
  const std::lock_guard lock(mutex_);
  return wants_code_;
}

bool LiveNames::wait(uint64_t timeout_ms) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::milliseconds(timeout_ms), [&] {
    if (is_busy_ || wants_code_) return false;
    return std::all_of(images_.begin(), images_.end(), [](const auto& one) {
      return one.second.wanted.size() == one.second.places.size() ||
             one.second.not_before_ns > monotonic_ns();
    });
  });
}

/// What is to be looked up next; false: nothing, until `wait_until_ns` at least.
bool LiveNames::take(Job& job, uint64_t& wait_until_ns) {
  if (!tables_) return false;
  if (wants_code_) {
    job = {code_place_.image, {code_place_.offset}, true};
    return true;
  }
  const uint64_t now = monotonic_ns();
  for (const auto& [image, names] : images_) {
    if (names.wanted.size() == names.places.size()) continue;
    if (names.not_before_ns > now) {
      wait_until_ns = std::min(wait_until_ns, names.not_before_ns);
      continue;
    }
    job = {image, names.wanted, false};
    return true;
  }
  return false;
}

LiveNames::Facts LiveNames::read(const Profile& tables, const Job& job) {
  const Image& image = tables.images[job.image.value];
  if (image.kind == ImageKind::jit) {
    return std::make_shared<const ImageFacts>(
        make_code_object_facts(tables.machine.architecture, tables.strings.text(image.path),
                               image.size_bytes == 0 ? UINT32_MAX : image.size_bytes));
  }
  SnapshotOptions options;
  options.use_debuginfod = false;  // nobody waits for a server here
  options.names_only = !job.with_code;
  options.with_source = false;
  options.kernel_symbols = kernel_symbols_;
  Facts found = std::make_shared<const ImageFacts>();
  const FactsSink keep = [&](ImageId, const ImageFacts& facts) -> Result<void> {
    found = std::make_shared<const ImageFacts>(facts);
    return {};
  };
  Ledger ignored;
  const Result<void> made =
      make_facts(tables, {{job.image, job.places}}, {}, options, keep, {}, ignored);
  return made ? found : std::make_shared<const ImageFacts>();
}

void LiveNames::finish(const Job& job, Facts facts, uint64_t took_ns) {
  if (job.with_code) {
    if (code_place_ != Location{job.image, job.places.front()}) return;  // another one by now
    code_ = std::move(facts);
    wants_code_ = false;
    return;
  }
  Names& names = images_[job.image];
  names.facts = std::move(facts);
  names.places = job.places;
  names.rest_factor = std::clamp(2 * names.rest_factor, kFirstRestFactor, kRestFactor);
  names.not_before_ns = monotonic_ns() + std::min(took_ns * names.rest_factor, kLongestRestNs);
}

void LiveNames::run() {
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 10);
  std::promise<Result<KernelSymbols>> kernel;
  {
    const std::lock_guard lock(mutex_);
    kernel_symbols_ = kernel.get_future().share();
  }
  bool has_kernel = false;
  std::unique_lock lock(mutex_);
  while (!is_over_) {
    Job job;
    uint64_t until_ns = UINT64_MAX;
    if (!take(job, until_ns)) {
      is_busy_ = false;
      changed_.notify_all();
      if (until_ns == UINT64_MAX) {
        changed_.wait(lock);
      } else {
        const uint64_t now = monotonic_ns();
        changed_.wait_for(lock, std::chrono::nanoseconds(until_ns > now ? until_ns - now : 0));
      }
      continue;
    }
    is_busy_ = true;
    const std::shared_ptr<const Profile> tables = tables_;
    lock.unlock();
    const ImageKind kind = tables->images[job.image.value].kind;
    if (!has_kernel && (kind == ImageKind::kernel || kind == ImageKind::module)) {
      kernel.set_value(read_kernel_symbols());
      has_kernel = true;
    }
    const uint64_t start_ns = monotonic_ns();
    Facts facts = read(*tables, job);
    const uint64_t took_ns = monotonic_ns() - start_ns;
    lock.lock();
    finish(job, std::move(facts), took_ns);
  }
}

}  // namespace culprit
