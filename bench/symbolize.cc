// Symbolizes addresses as llvm-symbolizer does (function, inline stack, lines), in one
// batch, and says how long each part took.
//
//   symbolize_bench BINARY [DEBUG_FILE [ALT_FILE]] < addresses > answers

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "binary/debug_info.h"
#include "binary/demangle.h"
#include "binary/inflated_elf.h"
#include "binary/symbols.h"

using namespace culprit;

namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Opened {
  MappedFile bytes;
  ElfFile elf;
};

Result<Opened> open_elf(const char* path) {
  ASSIGN_OR_RETURN(const Fd fd, open_readable(path));
  ASSIGN_OR_RETURN(MappedFile bytes, MappedFile::map(fd.get(), path));
  ASSIGN_OR_RETURN(ElfFile elf, ElfFile::open(bytes.bytes()));
  return Opened{std::move(bytes), std::move(elf)};
}

/// One answer in llvm-symbolizer's format: innermost frame first, then an empty line.
void print_answer(LinkAddress address, const std::string& function, const DebugFacts& facts,
                  const RangeFacts* range, const std::vector<std::string>& names) {
  uint32_t file = 0;
  uint32_t line = 0;
  uint32_t column = 0;
  std::vector<const DebugInline*> calls;
  if (range != nullptr) {
    const auto after =
        std::upper_bound(range->lines.begin(), range->lines.end(), address,
                         [](LinkAddress a, const DebugLine& l) { return a < l.address; });
    if (after != range->lines.begin()) {
      file = (after - 1)->file;
      line = (after - 1)->line;
      column = (after - 1)->column;
    }
    for (const DebugInline& call : range->inlines) {
      if (call.begin > address) break;
      if (address < call.end) calls.push_back(&call);
    }
    std::sort(calls.begin(), calls.end(),
              [](const DebugInline* a, const DebugInline* b) { return a->depth > b->depth; });
  }
  for (const DebugInline* call : calls) {
    std::printf("%s\n%s:%u:%u\n", names[call->name].c_str(), facts.strings[file].c_str(), line,
                column);
    file = call->call_file;
    line = call->call_line;
    column = 0;
  }
  std::printf("%s\n%s:%u:%u\n\n", function.c_str(), facts.strings[file].c_str(), line, column);
}

Result<void> run(int argc, char** argv) {
  const double start = seconds();
  ASSIGN_OR_RETURN(Opened image, open_elf(argv[1]));
  std::optional<Opened> debug;
  std::optional<Opened> alt;
  if (argc > 2) {
    ASSIGN_OR_RETURN(debug, open_elf(argv[2]));
  }
  if (argc > 3) {
    ASSIGN_OR_RETURN(alt, open_elf(argv[3]));
  }
  const ElfFile& dwarf = debug ? debug->elf : image.elf;
  const Symbols symbols = Symbols::read(image.elf, &dwarf);
  const double have_symbols = seconds();

  std::vector<LinkAddress> addresses;
  for (uint64_t value = 0; std::scanf("%" SCNx64, &value) == 1;) addresses.emplace_back(value);
  std::vector<LinkAddress> sorted = addresses;
  std::sort(sorted.begin(), sorted.end());
  std::vector<AddressRange> wanted;
  for (const LinkAddress a : sorted)
    if (const Symbol* s = symbols.find(a);
        s != nullptr && (wanted.empty() || wanted.back().begin != s->begin))
      wanted.push_back({s->begin, s->end});
  const double have_wanted = seconds();

  std::vector<DebugInfo> readers;
  const uint32_t threads = 2;
  std::optional<InflatedElf> inflated = InflatedElf::plan(dwarf);
  std::optional<ElfFile> inflated_elf;
  if (inflated) {
    std::thread helper([&] {
      for (size_t job = 1; job < inflated->job_count(); ++job) inflated->run(job);
    });
    if (inflated->job_count() > 0) inflated->run(0);
    helper.join();
    ASSIGN_OR_RETURN(inflated_elf, ElfFile::open(inflated->bytes()));
  }
  const double have_inflated = seconds();
  for (uint32_t i = 0; i < threads; ++i) {
    ASSIGN_OR_RETURN(DebugInfo reader,
                     DebugInfo::open(image.elf, inflated_elf ? *inflated_elf : dwarf,
                                     alt ? &alt->elf : nullptr, argc > 2 ? argv[2] : argv[1]));
    readers.push_back(std::move(reader));
  }
  const double opened = seconds();
  std::vector<DebugFacts> parts(threads);
  std::vector<std::thread> running;
  for (uint32_t i = 0; i < threads; ++i)
    running.emplace_back([&, i] { parts[i] = readers[i].read(wanted, {i, threads}); });
  for (std::thread& t : running) t.join();
  const double read = seconds();
  const DebugFacts facts = merge_debug_facts(std::move(parts));
  std::vector<std::string> names;
  for (const std::string& text : facts.strings) names.push_back(demangle(text));
  const double merged = seconds();

  std::string name;
  const Symbol* last = nullptr;
  for (const LinkAddress a : addresses) {
    const Symbol* symbol = symbols.find(a);
    const RangeFacts* range = nullptr;
    if (symbol == nullptr) {
      name = "??";
    } else {
      const auto at =
          std::lower_bound(wanted.begin(), wanted.end(), symbol->begin,
                           [](const AddressRange& r, LinkAddress b) { return r.begin < b; });
      range = &facts.ranges[static_cast<size_t>(at - wanted.begin())];
    }
    if (symbol != nullptr && symbol != last) name = demangle(symbol->name);
    last = symbol;
    print_answer(a, name, facts, range, names);
  }
  std::fprintf(stderr,
               "%zu addresses in %zu functions: %.2f s "
               "(symbols %.2f, addresses %.2f, inflate %.2f, open %.2f, read %.2f, demangle %.2f, "
               "print %.2f)\n",
               addresses.size(), wanted.size(), seconds() - start, have_symbols - start,
               have_wanted - have_symbols, have_inflated - have_wanted, opened - have_inflated,
               read - opened, merged - read, seconds() - merged);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: symbolize_bench BINARY [DEBUG_FILE [ALT_FILE]] < addresses\n");
    return 2;
  }
  const Result<void> done = run(argc, argv);
  if (!done) std::fprintf(stderr, "symbolize_bench: %s\n", done.error().message.c_str());
  return done ? 0 : 1;
}
