// The small build (-DCULPRIT_SMALL=ON) records and counts, by templates, too; what reads symbols
// and code needs LLVM and elfutils, and so another machine. This file stands in for those parts.

#include "cli/commands.h"
#include "cli/complete_profile.h"
#include "cli/counted_tree.h"
#include "cli/offer_page.h"
#include "cli/reading_data.h"
#include "cli/region_requests.h"
#include "cli/simulated_kernels.h"
#include "cli/simulating.h"
#include "cli/terminal.h"
#include "cli/unwinding.h"
#include "scan/weighed.h"
#include "simulate/objects/allocators.h"
#include "store/profile_file.h"

namespace culprit {

namespace {

int refuse(const char* command) {
  return fail(Error{std::string("this small build has no `culprit ") + command +
                    "`: take the profile to a machine with the whole of culprit"});
}

}  // namespace

Result<objects::OwnAllocator> objects::parse_allocator(std::string_view /*text*/) {
  return Error{"this small build has no software PMU"};
}

Result<scan::Use> scan::parse_use(const std::string& /*text*/) {
  return Error{"this small build has no scans"};
}

Result<void> offer_page(const std::string& /*file*/) {
  return {};
}

int run(const TopCommand&) {
  return refuse("top");
}
int run(const TopInstructionsCommand&) {
  return refuse("top-instructions");
}
int run(const ReportCommand&) {
  return refuse("report");
}
int run(const AnnotateCommand&) {
  return refuse("annotate");
}
int run(const WhyCommand&) {
  return refuse("why");
}
int run(const LocalityCommand&) {
  return refuse("locality");
}
int run(const DiffCommand&) {
  return refuse("diff");
}
int run(const VarianceCommand&) {
  return refuse("variance");
}
int run(const RegionsCommand&) {
  return refuse("regions");
}
int run(const DataCommand&) {
  return refuse("data");
}
int run(const ServeCommand&) {
  return refuse("serve");
}
int run(const ExportCommand&) {
  return refuse("export");
}
int run(const ImportCommand&) {
  return refuse("import");
}
int run(const CalibrateCommand&) {
  return refuse("calibrate");
}
Result<SimulatedKernels> SimulatedKernels::open(const std::string&, const std::string&,
                                                RunControl&) {
  return Error{"this small build has no software PMU: --engine pmu"};
}
CacheSizes SimulatedKernels::sizes() const {
  return {};
}
Result<std::map<std::string, double>> SimulatedKernels::count(const KernelRun&) const {
  return Error{"this small build has no software PMU"};
}
int run(const ScanCommand&) {
  return refuse("scan");
}
int run(const SymbolizeCommand&) {
  return refuse("symbolize");
}

/// Keeps what the recording knows already (kernel symbols, JIT code): no other machine can.
Result<SymbolizeOutcome> complete_profile(const std::string& path, const std::map<ImageId, Fd>&,
                                          const KnownFacts& known, const SnapshotOptions&,
                                          bool quiet) {
  ASSIGN_OR_RETURN(ProfileWriter writer, ProfileWriter::open(path));
  for (const auto& [image, facts] : known) RETURN_IF_ERROR(writer.write_facts(image, facts));
  RETURN_IF_ERROR(writer.close());
  if (!quiet) {
    print_message(
        "this small build reads no symbols; where the whole of culprit and the binaries are:\n"
        "culprit symbolize --symbols DIR " +
        path);
  }
  return SymbolizeOutcome{};
}

bool can_print_trees() {
  return false;
}

Result<std::string> print_counted_tree(const Profile&, const StatCommand&) {
  return Error{"this small build prints no trees"};
}

bool has_simulation() {
  return false;
}

Result<std::vector<RegionFunction>> find_region_functions(const std::vector<std::string>&,
                                                          const std::string&) {
  return Error{"this small build reads no symbols: --region needs the whole of culprit"};
}

std::optional<Capability> describe_machine_model() {
  return std::nullopt;
}

Result<SimulateOptions> choose_simulation(const RecordCommand&) {
  return Error{
      "this small build has no software PMU: run --engine simulate where the whole of "
      "culprit and QEMU's user mode are"};
}

Result<Recording> run_simulation(const RecordCommand& command, RunControl&, const SaveProfile&,
                                 std::string*, const RunExpectation&) {
  return choose_simulation(command).error();
}

RecordCommand choose_windows(RecordCommand command, double) {
  return command;
}

Slowdown expect_slowdown_of(const RecordCommand&, bool) {
  return {};
}

Result<SecondRun> prepare_second_run(const RecordCommand&) {
  return Error{
      "this small build has no software PMU: run --engine timer+simulate where the whole of "
      "culprit and QEMU's user mode are"};
}

Result<void> run_second(SecondRun&, const RecordCommand&, const RecordOptions&, Recording&,
                        std::string*) {
  return {};
}

void NativeSamples::add(const Profile&) {}

MakeUnwindStack find_unwinder() {
  return {};
}

ReadDataSymbols find_data_reader(const SnapshotOptions& /*options*/) {
  return {};
}

}  // namespace culprit
