#pragma once

// import_perf_data(): a perf.data file → Profile. What perf script printed of one is read,
// too (script_importer.h), and what perf stat printed for programs (stat_text.h).
//
//   PerfDataFile ─ records ─→ TimeOrder ─┬─ FORK COMM EXIT ─→ ProcessTable
//                                        ├─ MMAP KSYMBOL ───→ AddressSpaces, RecordedKernel
//                                        └─ SAMPLE ─────────→ ProfileBuilder
//
// Memory grows with distinct locations, not with samples: the sink gets what has been added
// up whenever much has come together. What the file cannot tell is in the ledger.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "follow/data_symbols.h"
#include "model/image_facts.h"
#include "model/profile.h"
#include "records/user_stack.h"

namespace culprit {

/// The file of an image that was at `path` where it ran; nullopt: it cannot be had.
using OpenImage = std::function<std::optional<Fd>(const Image& image, const std::string& path)>;

/// What it takes to walk copied user stacks, and to name data. Empty functions: they are left
/// alone.
struct ImportTools {
  std::function<UnwindStack(const std::string& architecture, OpenMappedFile open)> make_unwinder;
  OpenImage open_image;
  ReadDataSymbols read_data = {};
};

struct ImportOptions {
  std::string path;  // "-": standard input
  ImportTools tools = {};
};

/// Called with all tables and the counts that are new.
using ImportSink = std::function<Result<void>(const Profile&)>;
/// Bytes done, and of how many (0: a pipe). False: stop here.
using ImportProgress = std::function<bool(uint64_t done_bytes, uint64_t total_bytes)>;

struct Imported {
  Profile profile;  // tables complete; counts since the last sink call
  std::vector<std::pair<ImageId, ImageFacts>> facts;  // what the file itself knows: BPF programs
  uint64_t samples = 0;
  uint64_t lost = 0;
  bool is_stopped = false;           // by the progress function
  std::vector<std::string> remarks;  // for the terminal: what is wrong with the file
};

/// An error if it is neither a perf.data file nor perf script's text, or damaged before anything of
/// use came.
Result<Imported> import_perf_data(const ImportOptions& options, const ImportSink& sink,
                                  const ImportProgress& progress);

}  // namespace culprit
