// Merging whole profiles: every id of the other profile is translated into one of ours,
// table by table in the order in which tables refer to each other; then the counts are
// appended and brought into canonical order.

#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "base/result.h"
#include "model/merge.h"

namespace culprit {

namespace {

/// Our id for each row of one of the other profile's tables.
template <class IdType>
class Translation {
 public:
  void push_back(IdType ours) { ours_.push_back(ours); }
  std::vector<IdType> take() && { return std::move(ours_); }
  IdType operator()(IdType theirs) const {
    if (theirs.is_all()) return theirs;
    CHECK(theirs.value < ours_.size());
    return ours_[theirs.value];
  }

 private:
  std::vector<IdType> ours_;
};

/// A total order on what makes events equal.
auto key_of(const Event& e) {
  return std::tuple(e.name, e.unit, e.provenance, e.engine, e.encoding, e.period, e.scale);
}
Context key_of(const Context& c) {
  return c;
}
StackNode key_of(const StackNode& n) {
  return n;
}
DataObject key_of(const DataObject& o) {
  return o;
}
Region key_of(const Region& r) {
  return r;
}

/// Adds `row` to `table` unless `index` knows an equal one.
template <class IdType, class Row, class Index>
IdType intern(std::vector<Row>& table, Index& index, const Row& row) {
  const auto [at, is_new] = index.try_emplace(key_of(row), IdType(table.size()));
  if (is_new) table.push_back(row);
  return at->second;
}

template <class IdType, class Row>
auto index_of(const std::vector<Row>& table) {
  std::map<std::remove_cvref_t<decltype(key_of(table[0]))>, IdType> index;
  for (size_t i = 0; i < table.size(); ++i) index.try_emplace(key_of(table[i]), IdType(i));
  return index;
}

/// What makes code the same code in two recordings. The kernel's own code has no file:
/// without a build-id its release stands for it.
std::string identity(const Image& image, const std::string& path, const Machine& machine) {
  const std::string end(1, '\0');
  if (image.kind == ImageKind::jit) return "jit" + end + path + end + image.content_hash;
  if (!image.build_id.empty()) return "build-id" + end + image.build_id;
  std::string key = "file" + end + path + end + std::to_string(image.inode) + end +
                    std::to_string(image.size_bytes) + end + std::to_string(image.mtime_ns);
  const bool is_kernels = image.kind == ImageKind::kernel || image.kind == ImageKind::module ||
                          image.kind == ImageKind::vdso;
  if (is_kernels) key += end + machine.kernel_release;
  return key;
}

class Merger {
 public:
  Merger(Profile& into, const Profile& other) : into_(into), other_(other) {}

  std::vector<ImageId> merge() {
    merge_machine();
    merge_strings();
    merge_runs();
    merge_contexts();
    merge_events();
    merge_images();
    merge_stacks();
    merge_objects();
    merge_regions();
    append_counts();
    into_.ledger.merge(other_.ledger);
    merge_counts(into_);
    return std::move(image_).take();
  }

 private:
  Location translate(const Location& theirs) const { return {image_(theirs.image), theirs.offset}; }

  Cell translate(Cell cell) const {
    cell.event = event_(cell.event);
    return cell;
  }

  void merge_machine() {
    if (into_.runs.empty()) {
      into_.machine = other_.machine;
      into_.environment = other_.environment;
      return;
    }
    if (!(into_.machine == other_.machine)) {
      into_.ledger.note("profiles of different machines were merged");
    }
    for (const auto& [key, value] : other_.environment) {
      const auto [at, is_new] = into_.environment.try_emplace(key, value);
      if (!is_new && at->second != value) {
        into_.ledger.note("profiles with different '" + key + "' were merged");
      }
    }
  }

  void merge_strings() {
    for (size_t i = 0; i < other_.strings.size(); ++i) {
      string_.push_back(into_.strings.intern(other_.strings.text(StringId(i))));
    }
  }

  void merge_runs() {
    for (Run run : other_.runs) {
      run.host = string_(run.host);
      run.command = string_(run.command);
      std::map<StringId, StringId> labels;
      for (const auto& [name, value] : run.labels) labels.emplace(string_(name), string_(value));
      run.labels = std::move(labels);
      run_.push_back(RunId(into_.runs.size()));
      into_.runs.push_back(std::move(run));
    }
    for (Process process : other_.processes) {
      process.run = run_(process.run);
      process.name = string_(process.name);
      process_.push_back(ProcessId(into_.processes.size()));
      into_.processes.push_back(process);
    }
    for (Thread thread : other_.threads) {
      thread.process = process_(thread.process);
      thread.name = string_(thread.name);
      thread_.push_back(ThreadId(into_.threads.size()));
      into_.threads.push_back(thread);
    }
  }

  void merge_contexts() {
    auto index = index_of<ContextId>(into_.contexts);
    for (Context context : other_.contexts) {
      context.run = run_(context.run);
      context.process = process_(context.process);
      context.thread = thread_(context.thread);
      context.cgroup = string_(context.cgroup);
      context.label = string_(context.label);
      context_.push_back(intern<ContextId>(into_.contexts, index, context));
    }
  }

  void merge_events() {
    auto index = index_of<EventId>(into_.events);
    for (Event event : other_.events) {
      event.name = string_(event.name);
      event.engine = string_(event.engine);
      event.encoding = string_(event.encoding);
      event_.push_back(intern<EventId>(into_.events, index, event));
    }
  }

  void merge_images() {
    std::map<std::string, ImageId> index;
    for (size_t i = 0; i < into_.images.size(); ++i) {
      const Image& image = into_.images[i];
      index.try_emplace(identity(image, into_.strings.text(image.path), into_.machine), ImageId(i));
    }
    for (Image image : other_.images) {
      const std::string key = identity(image, other_.strings.text(image.path), other_.machine);
      const auto [at, is_new] = index.try_emplace(key, ImageId(into_.images.size()));
      if (is_new) {
        image.path = string_(image.path);
        into_.images.push_back(std::move(image));
      }
      image_.push_back(at->second);
    }
  }

  void merge_stacks() {
    auto index = index_of<StackId>(into_.stacks);
    for (const StackNode& node : other_.stacks) {
      const StackNode ours{stack_(node.parent), translate(node.location)};
      stack_.push_back(intern<StackId>(into_.stacks, index, ours));
    }
  }

  void merge_objects() {
    auto index = index_of<ObjectId>(into_.objects);
    for (DataObject object : other_.objects) {
      object.name = string_(object.name);
      object.type = string_(object.type);
      object.parent = object_(object.parent);
      object.site = translate(object.site);
      object_.push_back(intern<ObjectId>(into_.objects, index, object));
    }
    for (ObjectRange range : other_.object_ranges) {
      range.object = object_(range.object);
      range.context = context_(range.context);
      into_.object_ranges.push_back(range);
    }
  }

  void merge_regions() {
    auto index = index_of<RegionId>(into_.regions);
    for (Region region : other_.regions) {
      region.name = string_(region.name);
      region.kind = string_(region.kind);
      region.file = string_(region.file);
      region.parent = region_(region.parent);
      region_.push_back(intern<RegionId>(into_.regions, index, region));
    }
  }

  void append_counts() {
    for (Histogram histogram : other_.histograms) {
      histogram.context = context_(histogram.context);
      histogram.image = image_(histogram.image);
      for (EventColumn& column : histogram.columns) column.event = event_(column.event);
      into_.histograms.push_back(std::move(histogram));
    }
    for (const StackCount& row : other_.stack_counts) {
      into_.stack_counts.push_back({context_(row.context), stack_(row.stack), translate(row.cell)});
    }
    for (BranchCount row : other_.branch_counts) {
      row.context = context_(row.context);
      row.from = translate(row.from);
      row.to = translate(row.to);
      into_.branch_counts.push_back(row);
    }
    for (FallThrough row : other_.fall_throughs) {
      row.context = context_(row.context);
      row.image = image_(row.image);
      into_.fall_throughs.push_back(row);
    }
    for (MemorySample row : other_.memory_samples) {
      row.context = context_(row.context);
      row.event = event_(row.event);
      row.location = translate(row.location);
      row.object = object_(row.object);
      into_.memory_samples.push_back(row);
    }
    for (Count row : other_.counts) {
      row.context = context_(row.context);
      row.event = event_(row.event);
      into_.counts.push_back(row);
    }
    append_locality();
    for (RegionValue row : other_.region_values) {
      row.context = context_(row.context);
      row.region = region_(row.region);
      row.part = string_(row.part);
      row.event = event_(row.event);
      into_.region_values.push_back(row);
    }
  }

  void append_locality() {
    for (Access row : other_.accesses) {
      row.context = context_(row.context);
      row.location = translate(row.location);
      row.object = object_(row.object);
      into_.accesses.push_back(row);
    }
    for (Tenure row : other_.tenures) {
      row.context = context_(row.context);
      row.location = translate(row.location);
      row.object = object_(row.object);
      into_.tenures.push_back(row);
    }
    for (Edge row : other_.edges) {
      row.from_context = context_(row.from_context);
      row.to_context = context_(row.to_context);
      row.from = translate(row.from);
      row.to = translate(row.to);
      row.object = object_(row.object);
      into_.edges.push_back(row);
    }
  }

  Profile& into_;
  const Profile& other_;
  Translation<StringId> string_;
  Translation<RunId> run_;
  Translation<ProcessId> process_;
  Translation<ThreadId> thread_;
  Translation<ContextId> context_;
  Translation<EventId> event_;
  Translation<ImageId> image_;
  Translation<StackId> stack_;
  Translation<ObjectId> object_;
  Translation<RegionId> region_;
};

}  // namespace

std::vector<ImageId> merge_profiles(Profile& into, const Profile& other) {
  if (&into == &other) {
    Profile copy = other;  // `into` changes while it is read
    return Merger(into, copy).merge();
  }
  return Merger(into, other).merge();
}

}  // namespace culprit
