// A profile.proto of every call path: its value of each event, and of each sampled event
// how many samples that were. Who did it stands in labels.

#include <algorithm>
#include <limits>
#include <map>

#include "attribute/code_index.h"
#include "exports/call_paths.h"
#include "exports/exports.h"
#include "exports/gzip.h"
#include "exports/pprof_fields.h"
#include "exports/pprof_tables.h"
#include "model/counts.h"
#include "model/event_names.h"
#include <protozero/pbf_builder.hpp>

namespace culprit {

using namespace pprof;

namespace {

int64_t to_signed(uint64_t value) {
  return static_cast<int64_t>(std::min<uint64_t>(value, std::numeric_limits<int64_t>::max()));
}

/// pprof knows these words and shows "1.15s", "212kB".
const char* unit_word(Unit unit) {
  switch (unit) {
    case Unit::ns:
      return "nanoseconds";
    case Unit::bytes:
      return "bytes";
    case Unit::cycles:
      return "cycles";
    case Unit::events:
      break;
  }
  return "count";
}

class PprofWriter {
 public:
  PprofWriter(const Profile& profile, const FactsLookup& facts)
      : profile_(profile),
        code_(profile, facts),
        tables_(code_),
        scaler_(profile),
        names_(distinct_event_names(profile)),
        message_(bytes_) {}

  std::string write() {
    write_types();
    name_main_program();
    for_each_call_path(profile_, [this](const CallPath& path) { write_sample(path); });
    write_times();
    write_comments();
    tables_.write(bytes_);
    return std::move(bytes_);
  }

 private:
  [[nodiscard]] bool sampled(size_t event) const {
    return profile_.events[event].provenance == Provenance::sampled;
  }

  void write_type(ProfileField field, const std::string& name, const char* unit) {
    protozero::pbf_builder<ValueTypeField> type(message_, field);
    type.add_int64(ValueTypeField::type, tables_.string(name));
    type.add_int64(ValueTypeField::unit, tables_.string(unit));
  }

  void write_types() {
    const auto is_sampled = [](const Event& one) { return one.provenance == Provenance::sampled; };
    const bool several =
        std::count_if(profile_.events.begin(), profile_.events.end(), is_sampled) > 1;
    for (size_t event = 0; event < profile_.events.size(); ++event) {
      if (sampled(event)) {
        write_type(ProfileField::sample_type, several ? names_[event] + "_samples" : "samples",
                   "count");
      }
      write_type(ProfileField::sample_type, names_[event], unit_word(profile_.events[event].unit));
    }
    if (!names_.empty()) {
      message_.add_int64(ProfileField::default_sample_type, tables_.string(names_[0]));
    }
  }

  /// pprof takes the first mapping for the main program: the program with most samples.
  void name_main_program() {
    std::map<ImageId, uint64_t> samples;
    for (const Histogram& histogram : profile_.histograms) {
      const Image* image = code_.image(histogram.image);
      if (image == nullptr || image->kind != ImageKind::program) continue;
      for_each_count(profile_, histogram, [&](const Location& at, size_t, const Sum& sum) {
        samples[at.image] += sum.samples;
      });
    }
    const auto most = std::max_element(samples.begin(), samples.end(),
                                       [](auto& a, auto& b) { return a.second < b.second; });
    if (most != samples.end()) tables_.mapping(most->first);
  }

  void write_sample(const CallPath& path) {
    std::vector<uint64_t> frames;
    for (const Location& at : path.frames) frames.push_back(tables_.location(at));
    std::vector<int64_t> values;
    for (size_t event = 0; event < path.sums.size(); ++event) {
      const Sum& sum = path.sums[event];
      if (sampled(event)) values.push_back(to_signed(sum.samples));
      values.push_back(to_signed(scaler_.next(event, sum.value)));
    }
    protozero::pbf_builder<SampleField> sample(message_, ProfileField::sample);
    sample.add_packed_uint64(SampleField::location_id, frames.begin(), frames.end());
    sample.add_packed_int64(SampleField::value, values.begin(), values.end());
    write_labels(sample, path.context);
  }

  void write_labels(protozero::pbf_builder<SampleField>& sample, ContextId context) {
    const auto text = [&](const char* key, StringId value) {
      if (profile_.strings.text(value).empty()) return;
      protozero::pbf_builder<LabelField> label(sample, SampleField::label);
      label.add_int64(LabelField::key, tables_.string(key));
      label.add_int64(LabelField::text, tables_.string(profile_.strings.text(value)));
    };
    const auto number = [&](const char* key, uint32_t value) {
      if (value == 0) return;  // folded: several
      protozero::pbf_builder<LabelField> label(sample, SampleField::label);
      label.add_int64(LabelField::key, tables_.string(key));
      label.add_int64(LabelField::number, value);
    };
    const Who who = find_who(profile_, context);
    if (who.process != nullptr) {
      text("process", who.process->name);
      number("pid", who.process->pid);
    }
    if (who.thread != nullptr) {
      text("comm", who.thread->name);
      number("tid", who.thread->tid);
    }
    const Context* row = find_row(profile_.contexts, context);
    if (row == nullptr) return;
    text("cgroup", row->cgroup);
    text("label", row->label);
  }

  /// Several runs: from the first, and as long as all of them took, as pprof merges.
  void write_times() {
    int64_t start_ns = 0;
    uint64_t duration_ns = 0;
    for (const Run& run : profile_.runs) {
      if (run.start_ns > 0)
        start_ns = start_ns == 0 ? run.start_ns : std::min(start_ns, run.start_ns);
      if (run.duration_ns > 0) duration_ns += static_cast<uint64_t>(run.duration_ns);
    }
    message_.add_int64(ProfileField::time_nanos, start_ns);
    message_.add_int64(ProfileField::duration_nanos, to_signed(duration_ns));
    for (size_t event = 0; event < profile_.events.size(); ++event) {
      if (!sampled(event) || profile_.events[event].period == 0) continue;
      write_type(ProfileField::period_type, names_[event], unit_word(profile_.events[event].unit));
      message_.add_int64(ProfileField::period, to_signed(profile_.events[event].period));
      return;
    }
  }

  void write_comments() {
    std::vector<std::string> comments;
    for (const Run& run : profile_.runs) {
      comments.push_back("command: " + profile_.strings.text(run.command));
    }
    for (const std::string& entry : describe_ledger(profile_.ledger)) {
      comments.push_back("ledger: " + entry);
    }
    std::vector<int64_t> rows;
    for (const std::string& comment : comments) rows.push_back(tables_.string(comment));
    message_.add_packed_int64(ProfileField::comment, rows.begin(), rows.end());
  }

  const Profile& profile_;
  CodeIndex code_;
  PprofTables tables_;
  Scaler scaler_;
  std::vector<std::string> names_;
  std::string bytes_;
  protozero::pbf_builder<ProfileField> message_;
};

}  // namespace

Result<std::string> export_pprof(const Profile& profile, const FactsLookup& facts) {
  // The comment tells `culprit export` that a file is its own when it is to replace one.
  return gzip(PprofWriter(profile, facts).write(), "culprit export --to pprof");
}

}  // namespace culprit
