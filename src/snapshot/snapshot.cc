#include "snapshot/snapshot.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <iterator>
#include <mutex>
#include <optional>
#include <thread>

#include "snapshot/debuginfod.h"
#include "snapshot/image_facts_maker.h"

namespace culprit {
namespace {

/// Makes facts on several threads and hands them out in the order of demand, whatever
/// thread was faster: the result is the same on every machine.
class OrderedWork {
 public:
  OrderedWork(ImageFactsMaker& maker, const std::vector<ImageDemand>& demand,
              const std::map<ImageId, Fd>& held)
      : maker_(maker), demand_(demand), held_(held), results_(demand.size()) {}
  OrderedWork(const OrderedWork&) = delete;
  OrderedWork& operator=(const OrderedWork&) = delete;
  ~OrderedWork() {
    stop();
    for (std::thread& thread : threads_) thread.join();
  }

  void start(unsigned threads) {
    threads_count_ = threads;
    for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
  }

  /// Waits a moment for the facts of demand `index`; whether they are ready.
  bool wait(size_t index) {
    constexpr std::chrono::milliseconds kMoment(100);
    std::unique_lock lock(mutex_);
    return ready_.wait_for(lock, kMoment, [&] { return results_[index].is_done; });
  }
  /// The facts of demand `index`, which are ready.
  std::optional<MadeFacts> take(size_t index) {
    const std::lock_guard lock(mutex_);
    return std::move(results_[index].made);
  }

 private:
  struct Slot {
    bool is_done = false;
    std::optional<MadeFacts> made;
  };

  void stop() {
    maker_.stop();
    const std::lock_guard lock(mutex_);
    next_ = demand_.size();
  }

  void run() {
    while (true) {
      size_t index = 0;
      {
        const std::lock_guard lock(mutex_);
        if (next_ >= demand_.size()) return;
        index = next_++;
      }
      const auto held = held_.find(demand_[index].image);
      auto made = maker_.make(demand_[index], held == held_.end() ? -1 : held->second.get(),
                              threads_count_);
      const std::lock_guard lock(mutex_);
      results_[index] = {true, std::move(made)};
      ready_.notify_all();
    }
  }

  ImageFactsMaker& maker_;
  const std::vector<ImageDemand>& demand_;
  const std::map<ImageId, Fd>& held_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::vector<Slot> results_;  // guarded by mutex_, as is next_
  size_t next_ = 0;
  unsigned threads_count_ = 1;
  std::vector<std::thread> threads_;
};

template <class One>
void sort_and_thin(std::vector<One>& all) {
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
}

/// Both ascend.
template <class One>
void merge_into(std::vector<One>& all, const std::vector<One>& more) {
  std::vector<One> both;
  std::set_union(all.begin(), all.end(), more.begin(), more.end(), std::back_inserter(both));
  all = std::move(both);
}

/// Where data objects of which anything was counted come from, by image.
std::vector<WantedData> find_wanted_data(const Profile& profile) {
  std::vector<WantedData> wanted(profile.images.size());
  std::vector<bool> is_seen(profile.stacks.size());
  for (const DataObject& object : profile.objects) {
    if (object.site.image.value < wanted.size()) {
      WantedData& here = wanted[object.site.image.value];
      const std::string& name = profile.strings.text(object.name);
      if (object.kind == ObjectKind::global) here.variables.push_back(object.site.offset);
      if (object.kind == ObjectKind::stack && !name.empty()) {
        here.stack_variables.push_back({object.site.offset, name});
      }
    }
    if (object.kind != ObjectKind::heap) continue;
    for (StackId at = object.calls; at.value < profile.stacks.size() && !is_seen[at.value];
         at = profile.stacks[at.value].parent) {
      is_seen[at.value] = true;
      const Location& call = profile.stacks[at.value].location;
      if (call.image.value < wanted.size()) {
        wanted[call.image.value].allocations.push_back(call.offset);
      }
    }
  }
  for (WantedData& here : wanted) {
    sort_and_thin(here.variables);
    sort_and_thin(here.stack_variables);
    sort_and_thin(here.allocations);
  }
  return wanted;
}

}  // namespace

std::vector<ImageDemand> collect_demand(const Profile& profile) {
  std::vector<std::vector<FileOffset>> by_image(profile.images.size());
  const auto want = [&](ImageId image, FileOffset offset) {
    if (image.value < by_image.size()) by_image[image.value].push_back(offset);
  };
  for (const Histogram& histogram : profile.histograms)
    for (const FileOffset offset : histogram.offsets) want(histogram.image, offset);
  for (const StackNode& node : profile.stacks) want(node.location.image, node.location.offset);
  for (const BranchCount& branch : profile.branch_counts) {
    want(branch.from.image, branch.from.offset);
    want(branch.to.image, branch.to.offset);
  }
  for (const DataObject& object : profile.objects) {
    if (object.kind == ObjectKind::stack) want(object.site.image, object.site.offset);
  }
  for (const Region& region : profile.regions) {
    want(region.site.image, region.site.offset);
    want(region.end.image, region.end.offset);
  }

  std::vector<WantedData> data = find_wanted_data(profile);
  std::vector<ImageDemand> demand;
  for (size_t i = 0; i < by_image.size(); ++i) {
    if (by_image[i].empty()) continue;
    sort_and_thin(by_image[i]);
    demand.push_back({ImageId(i), std::move(by_image[i]), std::move(data[i])});
  }
  return demand;
}

void merge_demand(const std::vector<ImageDemand>& more, std::vector<ImageDemand>& demand) {
  for (const ImageDemand& its : more) {
    const auto at =
        std::lower_bound(demand.begin(), demand.end(), its.image,
                         [](const ImageDemand& one, ImageId image) { return one.image < image; });
    if (at == demand.end() || at->image != its.image) {
      demand.insert(at, its);
      continue;
    }
    merge_into(at->offsets, its.offsets);
    merge_into(at->data.variables, its.data.variables);
    merge_into(at->data.stack_variables, its.data.stack_variables);
    merge_into(at->data.allocations, its.data.allocations);
  }
}

Result<void> make_facts(const Profile& profile, const std::vector<ImageDemand>& demand,
                        const std::map<ImageId, Fd>& held, const SnapshotOptions& options,
                        const FactsSink& sink, const SnapshotProgress& progress, Ledger& ledger) {
  for (const ImageDemand& d : demand) CHECK(d.image.value < profile.images.size());
  ImageFactsMaker maker(profile, options);
  OrderedWork work(maker, demand, held);
  work.start(std::clamp(std::thread::hardware_concurrency(), 1u, 2u));
  for (size_t i = 0; i < demand.size(); ++i) {
    do {
      if (progress && !progress(i, demand.size())) return {};
    } while (!work.wait(i));
    const std::optional<MadeFacts> made = work.take(i);
    if (!made) continue;
    if (made->is_replaced) ledger.add(ledger::kImagesReplaced);
    if (made->sources_refused > 0) ledger.add(ledger::kSourcesRefused, made->sources_refused);
    if (made->facts.functions.empty()) ledger.add(ledger::kImagesWithoutFacts);
    RETURN_IF_ERROR(sink(demand[i].image, made->facts));
  }
  if (options.use_debuginfod && has_given_up_debuginfod()) {
    ledger.note(
        "the servers of DEBUGINFOD_URLS were waited for 30 s in all and are not asked any more: "
        "`culprit symbolize FILE` tries again");
  }
  if (progress) progress(demand.size(), demand.size());
  return {};
}

}  // namespace culprit
