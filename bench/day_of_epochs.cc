// Makes a database as a day of `culprit daemon` leaves it, for bench/epochs.py: epochs of ten
// minutes that end now, each with counts in the files that are named.
//
//   day_of_epochs DATABASE EPOCHS ENTRIES FILE...
//
// Places are drawn by Zipf's law (the k-th of a file's places has 1/k of the counts of the first),
// a different part of them in each epoch, so that an epoch has about ENTRIES distinct ones. The
// random numbers are the same in every run.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "binary/elf_file.h"
#include "epochs/epoch_database.h"
#include "model/builder.h"
#include "store/profile_file.h"

using namespace culprit;

namespace {

constexpr uint64_t kEpochSeconds = 600;
constexpr uint64_t kPeriodNs = 1'001'003;
constexpr uint32_t kCommands = 20;

struct File {
  std::string path;
  std::string build_id;
  FileOffset begin;
  uint64_t bytes = 0;  // of code
};

[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(1);
}

File read_code(const std::string& path) {
  const Result<std::string> bytes = read_file(path);
  if (!bytes) fail(bytes.error().message);
  const Result<ElfFile> elf = ElfFile::open(std::as_bytes(std::span(*bytes)));
  if (!elf) fail(elf.error().message);
  for (const ElfSegment& segment : elf->segments()) {
    if (segment.executable) return {path, elf->build_id(), segment.begin, segment.size_bytes};
  }
  fail(path + ": no code");
}

Profile make_epoch(const std::vector<File>& files, uint32_t number, size_t entries,
                   int64_t start_s) {
  std::mt19937_64 random(number);
  ProfileBuilder builder;
  Profile& profile = builder.profile();
  profile.machine.architecture = "x86_64";
  profile.machine.cpus_online = 2;
  Run run;
  run.command = builder.intern("the whole system, always on");
  run.start_ns = start_s * 1'000'000'000;
  run.duration_ns = kEpochSeconds * 1'000'000'000;
  builder.begin_run(run);
  Event event;
  event.name = event.encoding = builder.intern("cpu-clock");
  event.unit = Unit::ns;
  event.provenance = Provenance::sampled;
  event.engine = builder.intern("timer");
  event.period = kPeriodNs;
  profile.events.push_back(event);
  std::vector<ContextId> contexts;
  for (uint32_t i = 0; i < kCommands; ++i) {
    profile.processes.push_back(
        {builder.run_id(), 0, 0, builder.intern("command" + std::to_string(i))});
    Context context;
    context.run = builder.run_id();
    context.process = ProcessId(i);
    context.mode = Mode::user;
    contexts.push_back(builder.intern_context(context));
  }
  for (const File& file : files) {
    Image image;
    image.kind = ImageKind::library;
    image.path = builder.intern(file.path);
    image.build_id = file.build_id;
    profile.images.push_back(image);
  }
  std::uniform_real_distribution<double> uniform(0, 1);
  for (size_t i = 0; i < entries; ++i) {
    const uint32_t at = static_cast<uint32_t>(random() % files.size());
    const File& file = files[at];
    // The k-th place of most counts: k is e to a uniform number.
    const auto places = static_cast<double>(file.bytes / 4);
    const auto k = static_cast<uint64_t>(std::exp(uniform(random) * std::log(places)));
    // Hot places lie anywhere: a fixed permutation of them.
    const uint64_t place = k * 0x9e3779b97f4a7c15u % static_cast<uint64_t>(places);
    const auto samples = 1 + static_cast<uint64_t>(1000.0 / static_cast<double>(k));
    builder.add(contexts[(at + k) % kCommands],
                {ImageId(at), FileOffset(file.begin.value + 4 * place)}, EventId(0u), samples,
                samples * kPeriodNs);
  }
  builder.take_counts();
  return std::move(profile);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) fail("day_of_epochs DATABASE EPOCHS ENTRIES FILE...");
  const auto epochs = static_cast<uint32_t>(std::atoi(argv[2]));
  const auto entries = static_cast<size_t>(std::atol(argv[3]));
  std::vector<File> files;
  for (int i = 4; i < argc; ++i) files.push_back(read_code(argv[i]));
  Result<EpochDatabase> database = EpochDatabase::claim(argv[1]);
  if (!database) fail(database.error().message);
  const int64_t end_s = std::time(nullptr);
  for (uint32_t i = 0; i < epochs; ++i) {
    const int64_t start_s = end_s - static_cast<int64_t>((epochs - i) * kEpochSeconds);
    const std::string path = database->path_of_next(start_s);
    const Profile profile = make_epoch(files, i, entries, start_s);
    Result<ProfileWriter> writer = ProfileWriter::create(path, Survives::process);
    if (!writer) fail(writer.error().message);
    if (const Result<void> closed = writer->close(profile); !closed) fail(closed.error().message);
    const Result<std::string> finished = database->finish(path, kEpochSeconds);
    if (!finished) fail(finished.error().message);
  }
  return 0;
}
