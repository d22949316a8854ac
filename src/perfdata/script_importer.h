#pragma once

// ScriptImporter: the text of `perf script` → a Profile, for recordings that perf alone can
// read (traces, old and odd files). Lines become the records that they were printed
// from, and go the way of all records:
//
//   ScriptLines ─ lines ─→ records, samples with their frames ─→ RecordImporter
//                                     └─ names of functions ─→ ScriptPlaces
//
//   perf script --header --no-inline --show-mmap-events --show-task-events
//
// gives exact places. Without mappings the places are those that perf named.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "perfdata/record_importer.h"
#include "perfdata/script_header.h"
#include "perfdata/script_line.h"
#include "perfdata/script_lines.h"
#include "perfdata/script_places.h"
#include "perfdata/script_tasks.h"

namespace culprit {

/// Whether this is the beginning of a text that can be imported.
bool is_script_text(std::string_view beginning);

class ScriptImporter {
 public:
  /// `total_bytes`: of the text, 0 if unknown. What is given must outlive the importer.
  ScriptImporter(ScriptLines& lines, uint64_t total_bytes, const ImportTools& tools,
                 const ImportSink& sink, const ImportProgress& progress);

  Result<Imported> run();

 private:
  /// A sample whose callchain is still coming. Its frames are views into `text`.
  struct Pending {
    RecordOrigin origin;
    size_t event = 0;
    ScriptSample sample;
    std::string text;                               // lines of the callchain
    std::vector<std::pair<size_t, size_t>> frames;  // offset and length in `text`
    std::string branches;
  };

  Result<void> read_all();
  Result<void> take(std::string_view line);
  bool take_of_chain(std::string_view line);
  Result<void> take_record(const ScriptHead& head);
  Result<void> take_sample(const ScriptHead& head);
  Result<void> finish_sample();
  Result<void> learn_name(const ScriptHead& head);
  Result<size_t> find_event(const ScriptSample& sample);

  void add_chain(SampleRecord& record);
  void add_branches(SampleRecord& record);
  uint64_t find_run_address(const ScriptFrame& frame, Mode mode) const;
  void describe_losses();

  ScriptLines& lines_;
  uint64_t total_bytes_;
  const ImportProgress& progress_;
  Attributes attributes_;
  RecordImporter importer_;
  ScriptPlaces places_;
  ScriptTasks tasks_;
  RecordedFacts facts_;
  DescribedEvents described_;
  std::map<std::string, size_t, std::less<>> events_;
  Pending pending_;
  bool has_pending_ = false;
  bool is_stopped_ = false;
  uint64_t lines_read_ = 0;
  uint64_t damaged_ = 0;
  uint64_t without_period_ = 0;
  uint64_t without_address_ = 0;
  uint64_t unread_branches_ = 0;
  uint64_t inlined_alone_ = 0;
};

}  // namespace culprit
