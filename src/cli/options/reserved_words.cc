#include "cli/options/reserved_words.h"

namespace culprit {
namespace {

struct ReservedWord {
  std::string_view word;
  std::string_view instead;
};

// `perf --list-cmds` of Linux 6.1 and later, without those that are ours; then words that later
// versions of Culprit have use for. An old script must not change its meaning with an update.
constexpr ReservedWord kReservedWords[] = {
    {"amd", ""},
    {"archive", "a profile has its symbols and travels alone"},
    {"arm", ""},
    {"bench", ""},
    {"buildid-cache", ""},
    {"buildid-list", "culprit report --by module"},
    {"c2c", "culprit record --data"},
    {"check", "culprit doctor"},
    {"config", ""},
    {"convert", "culprit import, culprit export"},
    {"evlist", "culprit report FILE"},
    {"ftrace", ""},
    {"inject", ""},
    {"iostat", ""},
    {"kallsyms", ""},
    {"kmem", ""},
    {"kvm", ""},
    {"kwork", ""},
    {"list", "culprit events"},
    {"lock", ""},
    {"mem", "culprit record --data"},
    {"probe", ""},
    {"sched", ""},
    {"script", "culprit export"},
    {"test", "culprit doctor"},
    {"timechart", ""},
    {"trace", ""},
    {"compare", "culprit diff OLD NEW"},
    {"edges", ""},
    {"flamegraph", "culprit export --to collapsed"},
    {"history", ""},
    {"html", ""},
    {"merge", ""},
    {"monitor", ""},
    {"objects", ""},
    {"stalls", ""},
    {"tree", "culprit report --tree"},
    {"watch", ""},
};

}  // namespace

std::optional<std::string_view> find_reserved_word(std::string_view word) {
  for (const ReservedWord& reserved : kReservedWords)
    if (reserved.word == word) return reserved.instead;
  return std::nullopt;
}

}  // namespace culprit
