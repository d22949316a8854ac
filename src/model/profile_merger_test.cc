#include "model/profile_merger.h"

#include <map>

#include "model/random_profile.h"

namespace culprit {
namespace {

/// What a profile says, without its ids: each row's key in words, and its totals. The reference:
/// it knows nothing of merging but that rows of one key add up.
class Said {
 public:
  using Totals = std::vector<double>;

  explicit Said(const Projection& projection = {}) : projection_(projection) {}

  void add(const Profile& profile) {
    profile_ = &profile;
    for (const HistogramRow& row : flatten_histograms(profile.histograms)) add("histograms", row);
    visit_flat_counts(
        [&]<class Row>(std::string_view kind, const std::vector<Row>& rows) {
          const bool keeps_slices = projection_.time_slices && projection_.runs;
          if (std::is_same_v<Row, SliceCount> && !keeps_slices) return;
          for (const Row& row : rows) add(kind, row);
        },
        profile);
  }

  friend bool operator==(const Said& a, const Said& b) { return a.said_ == b.said_; }
  [[nodiscard]] size_t size() const { return said_.size(); }
  [[nodiscard]] std::vector<double> sums_of(const std::string& kind) const {
    std::vector<double> sums;
    for (const auto& [key, totals] : said_) {
      if (key.rfind(kind + ":", 0) != 0) continue;
      sums.resize(std::max(sums.size(), totals.size()));
      for (size_t i = 0; i < totals.size(); ++i) sums[i] += totals[i];
    }
    return sums;
  }

 private:
  std::string describe(StringId id) const {
    return id.is_all() ? "all" : profile_->strings.text(id);
  }
  std::string describe(ImageId id) const {
    if (id.is_all()) return "all";
    const Image& image = profile_->images[id.value];
    const std::string path = profile_->strings.text(image.path);
    if (image.kind == ImageKind::jit) return path + " " + image.content_hash;
    if (!image.build_id.empty()) return image.build_id;
    const bool is_kernels = image.kind == ImageKind::kernel || image.kind == ImageKind::module ||
                            image.kind == ImageKind::vdso;
    return fields_of(path, image.inode, image.size_bytes, image.mtime_ns,
                     is_kernels ? profile_->machine.kernel_release : "");
  }
  template <class Tag>
  std::string describe(Id<Tag> id) const {
    if (!names_row(id)) return id.is_all() ? "all" : "no access";
    std::string text;
    visit_tables(
        [&]<class IdType>(ProfileTable<IdType> table, const auto& rows) {
          if constexpr (std::is_same_v<IdType, Id<Tag>>) {
            text = std::string(table.name) + describe_row(rows[id.value]);
          }
        },
        *profile_);
    return text;
  }
  std::string describe(const std::string& text) const { return text; }
  template <class Tag>
  std::string describe(Address<Tag> at) const {
    return std::to_string(at.value);
  }
  template <class T>
    requires std::is_arithmetic_v<T>
  std::string describe(T number) const {
    return std::to_string(number);
  }
  template <class T>
    requires std::is_enum_v<T>
  std::string describe(T value) const {
    return std::to_string(static_cast<int>(value));
  }
  template <class T>
  std::string describe(const std::optional<T>& value) const {
    return value ? describe(*value) : "none";
  }
  template <class... T>
  std::string fields_of(const T&... fields) const {
    return ((describe(fields) + ",") + ...);
  }

  // What the projection drops, as profile_merger.h has it.
  void project(auto&) const {}
  void project(HistogramRow& row) const {
    if (!projection_.objects) row.object = {};
  }
  void project(SampledAccess& accesses) const {
    if (!projection_.objects) accesses.object = {};
  }
  void project(Process& process) const {
    if (!projection_.runs) process.run = {};
    if (projection_.processes == Projection::Processes::by_pid) process.parent_pid = 0;
    if (projection_.processes == Projection::Processes::by_name)
      process.pid = process.parent_pid = 0;
  }
  void project(Thread& thread) const {
    const bool by_pid = projection_.processes == Projection::Processes::by_pid;
    if (by_pid || projection_.processes == Projection::Processes::by_name)
      thread.tid = thread.ordinal = 0;
  }
  void project(Context& context) const {
    if (!projection_.runs) context.run = {};
    const bool no_processes = projection_.processes == Projection::Processes::none;
    if (no_processes) context.process = {};
    if (no_processes || !projection_.threads) context.thread = {};
    if (!projection_.cgroups) context.cgroup = {};
    if (!projection_.labels) context.label = {};
    if (!projection_.regions) context.region = {};
  }

  template <class Row>
  std::string describe_row(Row row) const {
    project(row);
    std::string text = "(";
    visit_fields(
        [&]<class R>(const R& role, const auto& field) {
          if constexpr (KeyRole<R>) text += std::string(role.name) + "=" + describe(field) + " ";
        },
        row);
    return text + ")";
  }

  template <class Row>
  void add(std::string_view kind, const Row& row) {
    Totals& totals = said_[std::string(kind) + ":" + describe_row(row)];
    size_t at = 0;
    const auto add_to = [&](double amount) {
      totals.resize(std::max(totals.size(), at + 1));
      totals[at++] += amount;
    };
    visit_fields(
        [&]<class R>(const R&, const auto& field) {
          if constexpr (!KeyRole<R>) add_to(static_cast<double>(field));
        },
        row);
    if (!has_totals<Row>()) add_to(1);  // how many there are
  }

  Projection projection_;
  const Profile* profile_ = nullptr;
  std::map<std::string, Totals> said_;
};

Profile random_profile(uint32_t seed, int size = 2) {
  RandomProfile random(seed);
  for (int i = 0; i < size; ++i) random.grow();
  return random.profile();
}

Profile merge(const std::vector<const Profile*>& profiles, const Projection& projection = {}) {
  ProfileMerger merger(projection);
  for (const Profile* one : profiles) merger.add(*one);
  return merger.take();
}

Said say(const Profile& profile) {
  Said said;
  said.add(profile);
  return said;
}

/// Everything kept, each thing dropped alone, and everything dropped; for each way with processes.
std::vector<Projection> some_projections() {
  using Processes = Projection::Processes;
  std::vector<Projection> some;
  for (const Processes processes :
       {Processes::each, Processes::by_pid, Processes::by_name, Processes::none}) {
    for (const unsigned dropped : {0u, 1u, 2u, 4u, 8u, 16u, 32u, 64u, 127u}) {
      const auto keeps = [dropped](unsigned bit) { return (dropped >> bit & 1) == 0; };
      some.push_back(
          {keeps(0), processes, keeps(1), keeps(2), keeps(3), keeps(4), keeps(5), keeps(6)});
    }
  }
  return some;
}

TEST(ProfileMerger, SaysWhatItsProfilesSayUnderEveryProjection) {
  const Profile a = random_profile(1);
  const Profile b = random_profile(2, 1);
  const Said of_a = say(a);
  const Said of_b = say(b);
  for (const Projection& projection : some_projections()) {
    Said want(projection);
    want.add(a);
    want.add(b);
    const Said got = say(merge({&a, &b}, projection));
    ASSERT_TRUE(got == want);
    // Nothing is lost or made: the sums over all rows are those of the two profiles.
    for (const char* kind : {"histograms", "branch_counts", "tenures", "region_values"}) {
      const std::vector<double> sums = got.sums_of(kind);
      const std::vector<double> in_a = of_a.sums_of(kind);
      const std::vector<double> in_b = of_b.sums_of(kind);
      ASSERT_EQ(sums.size(), in_a.size()) << kind;
      for (size_t i = 0; i < sums.size(); ++i) EXPECT_EQ(sums[i], in_a[i] + in_b[i]) << kind;
    }
  }
}

TEST(ProfileMerger, DropsWhatWasNotKept) {
  const Profile a = random_profile(3, 5);
  const Projection least{false, Projection::Processes::none, false, false, false, false, false,
                         false};
  const Profile merged = merge({&a, &a}, least);
  EXPECT_TRUE(merged.processes.empty());
  EXPECT_TRUE(merged.threads.empty());
  EXPECT_TRUE(merged.object_ranges.empty());
  EXPECT_EQ(merged.runs.size(), 10u);
  for (const Context& context : merged.contexts) {
    EXPECT_TRUE(context == (Context{{}, {}, {}, context.mode, {}, {}, {}}));
  }
}

TEST(ProfileMerger, FoldsProcessesAndThreadsByName) {
  Profile profile;
  const StringId mill = profile.strings.intern("mill");
  const StringId sort = profile.strings.intern("sort");
  profile.runs.emplace_back();
  profile.processes = {{RunId(0u), 7, 1, mill}, {RunId(0u), 8, 1, mill}, {RunId(0u), 9, 7, sort}};
  profile.threads = {{ProcessId(0u), 7, mill}, {ProcessId(1u), 8, mill}, {ProcessId(1u), 10, sort}};
  const Profile merged =
      merge({&profile, &profile}, {.runs = false, .processes = Projection::Processes::by_name});
  ASSERT_EQ(merged.processes.size(), 2u);
  EXPECT_EQ(merged.processes[0].pid, 0u);
  EXPECT_EQ(merged.strings.text(merged.processes[0].name), "mill");
  EXPECT_EQ(merged.strings.text(merged.processes[1].name), "sort");
  EXPECT_EQ(merged.threads.size(), 2u);  // of mill: mill and sort
}

TEST(ProfileMerger, OrderAndGroupingDoNotMatter) {
  const Profile a = random_profile(4);
  const Profile b = random_profile(5);
  const Profile c = random_profile(6);
  const Said want = say(merge({&a, &b, &c}));
  const Profile ab = merge({&a, &b});
  const Profile bc = merge({&b, &c});
  EXPECT_TRUE(say(merge({&c, &b, &a})) == want);
  EXPECT_TRUE(say(merge({&b, &c, &a})) == want);
  EXPECT_TRUE(say(merge({&ab, &c})) == want);
  EXPECT_TRUE(say(merge({&a, &bc})) == want);
}

TEST(ProfileMerger, GivesBackASingleProfileAndItsTables) {
  Profile one = random_profile(7);
  const Profile merged = merge({&one});
  EXPECT_EQ(merged.machine, one.machine);
  EXPECT_EQ(merged.environment, one.environment);
  EXPECT_EQ(merged.ledger, one.ledger);
  EXPECT_EQ(merged.runs.size(), one.runs.size());
  EXPECT_EQ(merged.processes.size(), one.processes.size());
  EXPECT_EQ(merged.object_ranges.size(), one.object_ranges.size());
  Profile again = merged;
  merge_counts(again);
  expect_equal(again, merged);  // canonical already
}

TEST(ProfileMerger, KeepsTheIdsOfTheProfileItStartsWith) {
  const Profile start = random_profile(8);
  const Profile other = random_profile(9);
  ProfileMerger merger(start);
  merger.add(other);
  const Profile merged = merger.take();
  visit_tables(
      [](const auto& table, const auto& before, const auto& after) {
        ASSERT_LE(before.size(), after.size()) << table.name;
        EXPECT_TRUE(std::equal(before.begin(), before.end(), after.begin())) << table.name;
      },
      start, merged);
  EXPECT_TRUE(say(merged) == say(merge({&start, &other})));
}

/// Many profiles whose processes differ come to the rows of one.
TEST(ProfileMerger, FoldsManyProfilesToTheSizeOfOne) {
  const Profile one = random_profile(10);
  const Projection projection{.runs = false, .processes = Projection::Processes::by_name};
  ProfileMerger merger(projection);
  for (int i = 0; i < 50; ++i) merger.add(one);
  const Profile merged = merger.take();
  const Said alone = say(merge({&one}, projection));
  EXPECT_EQ(say(merged).size(), alone.size());
  EXPECT_EQ(say(merged).sums_of("stack_counts")[1], 50 * alone.sums_of("stack_counts")[1]);
  EXPECT_EQ(merged.strings.size(), merge({&one}, projection).strings.size());
}

TEST(ProfileMerger, WithItselfDoublesEveryCount) {
  Profile profile;
  profile.runs.emplace_back();
  profile.contexts.emplace_back();
  profile.events = {{{}, Unit::ns, Provenance::sampled, {}, {}, 1000, 1}};
  profile.images.emplace_back();
  profile.histograms = {
      {ContextId(0u), ImageId(0u), {FileOffset(5)}, {{EventId(0u), {2}, {20}, {}}}}};
  const Profile merged = merge({&profile, &profile});
  EXPECT_EQ(merged.runs.size(), 2u);
  EXPECT_EQ(merged.contexts.size(), 1u);
  ASSERT_EQ(merged.histograms.size(), 1u);
  EXPECT_EQ(merged.histograms[0].columns[0].samples, std::vector<uint64_t>{4});
  EXPECT_EQ(merged.histograms[0].columns[0].value, std::vector<uint64_t>{40});
}

Profile with_image(const Image& image, const std::string& path) {
  Profile profile;
  profile.runs.emplace_back();
  profile.images.push_back(image);
  profile.images[0].path = profile.strings.intern(path);
  return profile;
}

size_t images_after_merging(const Profile& a, const Profile& b) {
  ProfileMerger merger;
  merger.add(a);
  merger.add(b);
  return merger.take().images.size();
}

TEST(ProfileMerger, ImagesAreTheSameByIdentityNotByName) {
  Image image;
  image.kind = ImageKind::library;
  image.inode = 5;
  EXPECT_EQ(images_after_merging(with_image(image, "/a"), with_image(image, "/a")), 1u);
  EXPECT_EQ(images_after_merging(with_image(image, "/a"), with_image(image, "/b")), 2u);
  Image newer = image;
  newer.mtime_ns = 1;
  EXPECT_EQ(images_after_merging(with_image(image, "/a"), with_image(newer, "/a")), 2u);
  image.build_id = newer.build_id = "ab12";
  EXPECT_EQ(images_after_merging(with_image(image, "/a"), with_image(newer, "/moved")), 1u);
  newer.build_id = "ab13";
  EXPECT_EQ(images_after_merging(with_image(image, "/a"), with_image(newer, "/a")), 2u);
}

TEST(ProfileMerger, JitCodeIsTheSameByContent) {
  Image code;
  code.kind = ImageKind::jit;
  code.content_hash = "1";
  Image other = code;
  other.born_ns = 99;
  EXPECT_EQ(images_after_merging(with_image(code, "[jit] f"), with_image(other, "[jit] f")), 1u);
  other.content_hash = "2";
  EXPECT_EQ(images_after_merging(with_image(code, "[jit] f"), with_image(other, "[jit] f")), 2u);
}

TEST(ProfileMerger, KernelsWithoutBuildIdAreToldApartByRelease) {
  Image kernel;
  kernel.kind = ImageKind::kernel;
  Profile a = with_image(kernel, "[kernel]");
  Profile b = a;
  EXPECT_EQ(images_after_merging(a, b), 1u);
  b.machine.kernel_release = "6.2";
  EXPECT_EQ(images_after_merging(a, b), 2u);
}

TEST(ProfileMerger, SaysWhenMachinesDiffer) {
  Profile a = with_image({}, "/a");
  Profile b = a;
  b.machine.cpu_model = "other";
  ProfileMerger merger;
  merger.add(a);
  merger.add(b);
  const Profile both = merger.take();
  ASSERT_EQ(both.ledger.notes().size(), 1u);
  EXPECT_EQ(both.ledger.notes()[0], "profiles of different machines were merged");
}

}  // namespace
}  // namespace culprit
