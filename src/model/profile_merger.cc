// Every id of the other profile is translated into one of ours, table by table in the order in
// which tables refer to each other; then its counts are added to ours.

#include "model/profile_merger.h"

#include <algorithm>

#include "base/result.h"

namespace culprit {

namespace {

/// Our id for each row of the other profile's tables.
class IdTranslation {
 public:
  IdTranslation(const StringTable& theirs, StringTable& ours)
      : their_strings_(theirs), our_strings_(ours), strings_(theirs.size()) {}

  /// Rows are translated in their order.
  template <class IdType>
  void push_back(IdType ours) {
    ids_[table_index<IdType>()].push_back(ours.value);
  }

  template <class IdType>
  IdType operator()(IdType theirs) const {
    if (!names_row(theirs)) return theirs;
    const std::vector<uint32_t>& ours = ids_[table_index<IdType>()];
    CHECK(theirs.value < ours.size());
    return IdType(ours[theirs.value]);
  }

  /// Only strings that are used are interned: there are many of what a projection drops.
  StringId operator()(StringId theirs) {
    if (theirs.is_all()) return theirs;
    CHECK(theirs.value < strings_.size());
    StringId& ours = strings_[theirs.value];
    if (ours.is_all()) ours = our_strings_.intern(their_strings_.text(theirs));
    return ours;
  }

  [[nodiscard]] std::vector<ImageId> images() const {
    std::vector<ImageId> images;
    for (const uint32_t id : ids_[table_index<ImageId>()]) images.emplace_back(id);
    return images;
  }

 private:
  const StringTable& their_strings_;
  StringTable& our_strings_;
  std::vector<StringId> strings_;
  std::array<std::vector<uint32_t>, count_tables()> ids_;
};

/// Adds `row` to `table` unless `index` knows an equal one.
template <class Row, class Index>
auto intern(std::vector<Row>& table, Index& index, const Row& row) {
  using IdType = typename Index::mapped_type;
  const auto [at, is_new] = index.try_emplace(row, IdType(table.size()));
  if (is_new) table.push_back(row);
  return at->second;
}

template <class Row, class Index>
void index_all(const std::vector<Row>& table, Index& index) {
  using IdType = typename Index::mapped_type;
  for (size_t i = 0; i < table.size(); ++i) index.try_emplace(table[i], IdType(i));
}

/// What makes code the same code in two recordings. The kernel's own code has no file:
/// without a build-id its release stands for it.
std::string identity(const Image& image, std::string_view path, const Machine& machine) {
  const std::string end(1, '\0');
  const std::string name(path);
  if (image.kind == ImageKind::jit) return "jit" + end + name + end + image.content_hash;
  if (!image.build_id.empty()) return "build-id" + end + image.build_id;
  std::string key = "file" + end + name + end + std::to_string(image.inode) + end +
                    std::to_string(image.size_bytes) + end + std::to_string(image.mtime_ns);
  const bool is_kernels = image.kind == ImageKind::kernel || image.kind == ImageKind::module ||
                          image.kind == ImageKind::vdso;
  if (is_kernels) key += end + machine.kernel_release;
  return key;
}

/// Fewer rows than this are not worth uniting before the end.
constexpr size_t kFewRows = size_t{1} << 14;

}  // namespace

ProfileMerger::ProfileMerger(Profile start, const Projection& projection)
    : projection_(projection), profile_(std::move(start)) {
  index_all(profile_.contexts, contexts_);
  index_all(profile_.events, events_);
  index_all(profile_.stacks, stacks_);
  index_all(profile_.objects, objects_);
  index_all(profile_.regions, regions_);
  for (size_t i = 0; i < profile_.images.size(); ++i) {
    const Image& image = profile_.images[i];
    images_.try_emplace(identity(image, profile_.strings.text(image.path), profile_.machine),
                        ImageId(i));
  }
  for (Histogram& one : profile_.histograms) cells_.add(std::move(one), profile_.events);
  profile_.histograms.clear();
}

void ProfileMerger::project(Process& process) const {
  if (!projection_.runs) process.run = {};
  if (projection_.processes == Projection::Processes::each) return;
  process.parent_pid = 0;
  if (projection_.processes == Projection::Processes::by_name) process.pid = 0;
}

void ProfileMerger::project(Thread& thread) const {
  if (projection_.processes != Projection::Processes::each) thread.tid = thread.ordinal = 0;
}

void ProfileMerger::project(Context& context) const {
  if (!projection_.runs) context.run = {};
  if (projection_.processes == Projection::Processes::none) {
    context.process = {};
    context.thread = {};
  }
  if (!projection_.threads) context.thread = {};
  if (!projection_.cgroups) context.cgroup = {};
  if (!projection_.labels) context.label = {};
  if (!projection_.regions) context.region = {};
}

void ProfileMerger::add_machine(const Profile& other) {
  if (profile_.runs.empty()) {
    profile_.machine = other.machine;
    profile_.environment = other.environment;
    return;
  }
  if (!(profile_.machine == other.machine)) {
    profile_.ledger.note("profiles of different machines were merged");
  }
  for (const auto& [key, value] : other.environment) {
    const auto [at, is_new] = profile_.environment.try_emplace(key, value);
    if (!is_new && at->second != value) {
      profile_.ledger.note("profiles with different '" + key + "' were merged");
    }
  }
}

ImageId ProfileMerger::intern_image(const Image& image, std::string_view path,
                                    const Machine& machine) {
  const auto [at, is_new] =
      images_.try_emplace(identity(image, path, machine), ImageId(profile_.images.size()));
  if (is_new) {
    profile_.images.push_back(image);
    profile_.images.back().path = profile_.strings.intern(path);
  }
  return at->second;
}

std::vector<ImageId> ProfileMerger::add(const Profile& other) {
  CHECK(&other != &profile_);
  add_machine(other);
  IdTranslation translate(other.strings, profile_.strings);
  const auto translated = [&]<class Row>(Row row) {
    translate_ids(row, translate);
    return row;
  };
  using Processes = Projection::Processes;
  const auto add_row_to = [&]<class Row>(std::vector<Row>& table, const Row& row) {
    table.push_back(row);
    return table.size() - 1;
  };

  for (const Run& theirs : other.runs) {
    Run run = translated(theirs);
    run.labels.clear();
    for (const auto& [name, value] : theirs.labels) {
      run.labels.emplace(translate(name), translate(value));
    }
    translate.push_back(RunId(add_row_to(profile_.runs, run)));
  }
  for (const Process& theirs : other.processes) {
    if (projection_.processes == Processes::none) {
      translate.push_back(ProcessId());
      continue;
    }
    Process process = translated(theirs);
    project(process);
    translate.push_back(projection_.processes == Processes::each
                            ? ProcessId(add_row_to(profile_.processes, process))
                            : intern(profile_.processes, processes_, process));
  }
  for (const Thread& theirs : other.threads) {
    if (projection_.processes == Processes::none || !projection_.threads) {
      translate.push_back(ThreadId());
      continue;
    }
    Thread thread = translated(theirs);
    project(thread);
    translate.push_back(projection_.processes == Processes::each
                            ? ThreadId(add_row_to(profile_.threads, thread))
                            : intern(profile_.threads, threads_, thread));
  }
  for (const Image& image : other.images) {
    translate.push_back(intern_image(image, other.strings.text(image.path), other.machine));
  }
  for (const Region& region : other.regions) {
    translate.push_back(intern(profile_.regions, regions_, translated(region)));
  }
  for (Context context : other.contexts) {
    project(context);
    translate.push_back(intern(profile_.contexts, contexts_, translated(context)));
  }
  for (const Event& event : other.events) {
    translate.push_back(intern(profile_.events, events_, translated(event)));
  }
  for (const StackNode& node : other.stacks) {
    translate.push_back(intern(profile_.stacks, stacks_, translated(node)));
  }
  for (const DataObject& object : other.objects) {
    const size_t known = profile_.objects.size();
    const DataObject theirs = translated(object);
    const ObjectId id = intern(profile_.objects, objects_, theirs);
    if (id.value < known) add_row(profile_.objects[id.value], theirs, profile_.events);
    translate.push_back(id);
  }
  if (projection_.processes == Processes::each) {
    for (const ObjectRange& range : other.object_ranges) {
      profile_.object_ranges.push_back(translated(range));
    }
  }
  add_counts(other, translate);
  profile_.ledger.merge(other.ledger);
  return translate.images();
}

void ProfileMerger::add_counts(const Profile& other, auto& translate) {
  for (Histogram histogram : other.histograms) {
    histogram.context = translate(histogram.context);
    histogram.image = translate(histogram.image);
    if (!projection_.objects) histogram.objects.clear();
    for (ObjectId& object : histogram.objects) object = translate(object);
    for (EventColumn& column : histogram.columns) column.event = translate(column.event);
    std::sort(histogram.columns.begin(), histogram.columns.end(),
              [](const auto& a, const auto& b) { return a.event < b.event; });
    cells_.add(std::move(histogram), profile_.events);
  }
  size_t kind = 0;
  visit_flat_counts(
      [&]<class Row>(std::string_view, const std::vector<Row>& theirs, std::vector<Row>& ours) {
        size_t& united = united_[kind++];
        const bool keeps_slices = projection_.time_slices && projection_.runs;
        if (std::is_same_v<Row, SliceCount> && !keeps_slices) return;
        for (const Row& row : theirs) {
          ours.push_back(row);
          translate_ids(ours.back(), translate);
          if constexpr (std::is_same_v<Row, SampledAccess>) {
            if (!projection_.objects) ours.back().object = {};
          }
        }
        // Rows are merged when as many came as there were, so that each is moved a few times only.
        if (ours.size() < 2 * united + kFewRows) return;
        merge_rows(ours, profile_.events);
        united = ours.size();
      },
      other, profile_);
}

Profile ProfileMerger::take() {
  profile_.histograms = cells_.take(profile_.events);
  visit_flat_counts([&](std::string_view, auto& rows) { merge_rows(rows, profile_.events); },
                    profile_);
  return std::move(profile_);
}

}  // namespace culprit
