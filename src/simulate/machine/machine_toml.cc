// Machine files. Each section reads its known keys with what is allowed for each; the first
// mistake is kept, and a key that nobody read is one, too.

#include <stdexcept>

// Malformed files make toml++ 3.3 fail assertions of its own ("[[[" does). They become
// exceptions, as its other errors are; in builds without assertions they would be assumptions.
[[noreturn]] static inline void assertion_of_toml_failed() {
  throw std::logic_error("malformed");
}
#undef NDEBUG
#define TOML_ASSERT(condition) ((condition) ? static_cast<void>(0) : assertion_of_toml_failed())

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <utility>
#include <vector>

#include <toml++/toml.h>

#include "base/text.h"
#include "simulate/machine/machine.h"

namespace culprit::simulate {
namespace {

/// Where a value stands: "zen4.toml, line 12".
std::string place(const std::string& file, const toml::source_region& region) {
  return fmt::format("{}, line {}", printable(file), region.begin.line);
}

struct Mistakes {
  std::string file;
  std::optional<Error> first;

  void add(const toml::node& node, const std::string& what) {
    if (!first) first = Error{place(file, node.source()) + ": " + what};
  }
};

class Section {
 public:
  /// `table` null: the file does not have it, all keys keep their defaults.
  Section(Mistakes& mistakes, const toml::table* table, std::string path)
      : mistakes_(mistakes), table_(table), path_(std::move(path)) {}

  Section section(const std::string& key) {
    const toml::node* node = take(key);
    const toml::table* table = node == nullptr ? nullptr : node->as_table();
    if (node != nullptr && table == nullptr) mistakes_.add(*node, name(key) + " is a section");
    return {mistakes_, table, name(key)};
  }

  template <class T>
  void integer(const std::string& key, T& value, uint64_t least, uint64_t most, uint64_t unit = 1) {
    const toml::node* node = take(key);
    if (node == nullptr) return;
    const toml::value<int64_t>* number = node->as_integer();
    if (number == nullptr || number->get() < 0 || static_cast<uint64_t>(number->get()) < least ||
        static_cast<uint64_t>(number->get()) > most) {
      mistakes_.add(*node,
                    fmt::format("{} is a whole number from {} to {}", name(key), least, most));
      return;
    }
    value = static_cast<T>(static_cast<uint64_t>(number->get()) * unit);
  }

  void number(const std::string& key, double& value, double least, double most) {
    const toml::node* node = take(key);
    if (node == nullptr) return;
    const std::optional<double> read = node->value<double>();
    if (!read || !(*read >= least && *read <= most)) {
      mistakes_.add(*node, fmt::format("{} is a number from {} to {}", name(key), least, most));
      return;
    }
    value = *read;
  }

  void boolean(const std::string& key, bool& value) {
    const toml::node* node = take(key);
    if (node == nullptr) return;
    const toml::value<bool>* read = node->as_boolean();
    if (read == nullptr) {
      mistakes_.add(*node, name(key) + " is true or false");
      return;
    }
    value = read->get();
  }

  void text(const std::string& key, std::string& value) {
    const toml::node* node = take(key);
    if (node == nullptr) return;
    const toml::value<std::string>* read = node->as_string();
    if (read == nullptr) {
      mistakes_.add(*node, name(key) + " is a text in quotes");
      return;
    }
    value = read->get();
  }

  template <class T>
  void choice(const std::string& key, T& value,
              const std::vector<std::pair<std::string, T>>& choices) {
    const toml::node* node = take(key);
    if (node == nullptr) return;
    const std::optional<std::string> word = node->value<std::string>();
    std::vector<std::string> words;
    for (const auto& [allowed, meaning] : choices) {
      if (word == allowed) {
        value = meaning;
        return;
      }
      words.push_back('"' + allowed + '"');
    }
    mistakes_.add(*node, fmt::format("{} is one of {}", name(key), fmt::join(words, ", ")));
  }

  /// After all keys were read: any other is a mistake.
  void end() {
    if (table_ == nullptr) return;
    for (const auto& [key, node] : *table_) {
      const std::string word(key.str());
      if (std::find(known_.begin(), known_.end(), word) != known_.end()) continue;
      mistakes_.add(node, fmt::format("there is no key {} here; there are {}",
                                      printable(name(word)), fmt::join(known_, ", ")));
    }
  }

 private:
  [[nodiscard]] std::string name(const std::string& key) const {
    return path_.empty() ? key : path_ + "." + key;
  }
  const toml::node* take(const std::string& key) {
    known_.push_back(key);
    return table_ == nullptr ? nullptr : table_->get(key);
  }

  Mistakes& mistakes_;
  const toml::table* table_;
  std::string path_;
  std::vector<std::string> known_;
};

constexpr uint64_t kMostCycles = 10000;

void read_cache(Section section, CacheGeometry& cache) {
  section.integer("size_kib", cache.size_bytes, 0, 4 << 20, 1024);
  section.integer("ways", cache.ways, 1, 64);
  section.choice<Replacement>(
      "replacement", cache.replacement,
      {{"lru", Replacement::lru}, {"plru", Replacement::plru}, {"random", Replacement::random}});
  section.choice<Inclusion>("inclusion", cache.inclusion,
                            {{"non-inclusive", Inclusion::non_inclusive},
                             {"inclusive", Inclusion::inclusive},
                             {"victim", Inclusion::victim}});
  section.integer("latency_cycles", cache.latency_cycles, 0, kMostCycles);
  section.end();
}

void read_tlb_level(Section section, TlbGeometry& tlb) {
  section.integer("entries", tlb.entries, 0, 1 << 20);
  section.integer("ways", tlb.ways, 1, 1 << 20);
  section.end();
}

void read_tlb(Section section, TlbSettings& tlb) {
  read_tlb_level(section.section("instruction"), tlb.instruction);
  read_tlb_level(section.section("data"), tlb.data);
  read_tlb_level(section.section("second"), tlb.second);
  section.integer("second_latency_cycles", tlb.second_latency_cycles, 0, kMostCycles);
  section.integer("walk_level_cycles", tlb.walk_level_cycles, 0, kMostCycles);
  section.integer("walk_last_cycles", tlb.walk_last_cycles, 0, kMostCycles);
  section.end();
}

void read_prefetch(Section section, PrefetchSettings& prefetch) {
  section.boolean("stream", prefetch.stream);
  section.integer("stream_lines", prefetch.stream_lines, 1, 16);
  section.boolean("stride", prefetch.stride);
  section.integer("stride_steps", prefetch.stride_steps, 1, 16);
  section.integer("code_lines", prefetch.code_lines, 0, 16);
  section.end();
}

void read_branch(Section section, BranchSettings& branch) {
  section.integer("bimodal_entries", branch.bimodal_entries, 1, 1 << 24);
  section.integer("tagged_tables", branch.tagged_tables, 0, 16);
  section.integer("tagged_entries", branch.tagged_entries, 2, 1 << 20);
  section.integer("shortest_history", branch.shortest_history, 1, 1000);
  section.integer("longest_history", branch.longest_history, 1, 1000);
  section.integer("target_entries", branch.target_entries, 1, 1 << 24);
  section.integer("target_ways", branch.target_ways, 1, 64);
  section.integer("indirect_entries", branch.indirect_entries, 2, 1 << 20);
  section.integer("return_stack", branch.return_stack, 1, 1 << 16);
  section.end();
}

void read_core(Section section, CoreSettings& core) {
  section.integer("dispatch_width", core.dispatch_width, 1, 16);
  section.integer("reorder_buffer", core.reorder_buffer, 1, 4096);
  section.integer("scheduler", core.scheduler, 1, 4096);
  section.integer("load_queue", core.load_queue, 1, 4096);
  section.integer("store_queue", core.store_queue, 1, 4096);
  section.integer("miss_buffers", core.miss_buffers, 1, 1024);
  section.integer("fetch_queue", core.fetch_queue, 0, 4096);
  section.integer("ports", core.ports, 1, 64);
  section.integer("mispredict_cycles", core.mispredict_cycles, 0, kMostCycles);
  section.integer("redirect_cycles", core.redirect_cycles, 0, kMostCycles);
  section.integer("call_cycles", core.call_cycles, 0, kMostCycles);
  section.integer("threads", core.threads, 1, 8);
  section.end();
}

void read_memory(Section section, MemorySettings& memory) {
  section.integer("latency_cycles", memory.latency_cycles, 0, kMostCycles);
  section.number("bytes_per_cycle", memory.bytes_per_cycle, 0.01, 10000);
  section.number("shared_bytes_per_cycle", memory.shared_bytes_per_cycle, 0.01, 10000);
  section.integer("other_core_clean_cycles", memory.other_core_clean_cycles, 0, kMostCycles);
  section.integer("other_core_modified_cycles", memory.other_core_modified_cycles, 0, kMostCycles);
  section.end();
}

/// Machine files are ASCII: some other characters make toml++ 3.3 do what is undefined.
Result<void> check_text(std::string_view text, const std::string& name) {
  size_t line = 1;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x7e || (byte < 0x20 && c != '\n' && c != '\r' && c != '\t')) {
      return Error{
          fmt::format("{}, line {}: a character that is not ASCII text", printable(name), line)};
    }
    if (c == '\n') ++line;
  }
  return {};
}

/// The one place where toml++ can throw.
Result<toml::table> parse_toml(std::string_view text, const std::string& name) {
  try {
    return toml::parse(text, std::string_view(name));
  } catch (const toml::parse_error& error) {
    return Error{
        fmt::format("{}: {}", place(name, error.source()), printable(error.description()))};
  } catch (const std::logic_error&) {
    return Error{printable(name) + ": this is no TOML file"};
  }
}

}  // namespace

Result<Machine> parse_machine(std::string_view text, const std::string& name) {
  RETURN_IF_ERROR(check_text(text, name));
  ASSIGN_OR_RETURN(const toml::table table, parse_toml(text, name));
  Mistakes mistakes{name, std::nullopt};
  Machine machine;
  std::string source;  // of the figures, for people
  Section file(mistakes, &table, "");
  file.text("name", machine.name);
  file.text("llvm_cpu", machine.llvm_cpu);
  file.text("source", source);
  file.integer("line_bytes", machine.line_bytes, 16, 128);
  read_cache(file.section("l1i"), machine.l1i);
  read_cache(file.section("l1d"), machine.l1d);
  read_cache(file.section("l2"), machine.l2);
  read_cache(file.section("l3"), machine.l3);
  read_tlb(file.section("tlb"), machine.tlb);
  read_prefetch(file.section("prefetch"), machine.prefetch);
  read_branch(file.section("branch"), machine.branch);
  read_core(file.section("core"), machine.core);
  read_memory(file.section("memory"), machine.memory);
  file.end();
  if (mistakes.first) return *mistakes.first;
  if (Result<void> checked = check_machine(machine); !checked) {
    return Error{printable(name) + ": " + checked.error().message};
  }
  return machine;
}

}  // namespace culprit::simulate
