#include "base/file_lines.h"
#include "cli/options/command_options.h"
#include "cli/options/option_words.h"

namespace culprit {
namespace {

constexpr Word<LocalityBy> kBy[] = {
    {"module", LocalityBy::module},       {"function", LocalityBy::function},
    {"statement", LocalityBy::statement}, {"line", LocalityBy::line},
    {"column", LocalityBy::column},       {"instruction", LocalityBy::instruction}};
constexpr Word<CacheLevel> kCacheLevels[] = {{"l1", CacheLevel::l1d},
                                             {"l2", CacheLevel::l2},
                                             {"l3", CacheLevel::l3},
                                             {"l1i", CacheLevel::l1i}};

/// One word alone is a part, unless it looks like a file.
bool is_profile(const std::string& word) {
  if (word.ends_with(".culprit") || names_profile(word)) return true;
  return word.find('/') != std::string::npos && !parse_file_lines(word) &&
         word.find("operator/") == std::string::npos;
}

/// Two words, each an option of its own: of an option with several, CLI11 takes a word in brackets,
/// as "[heap]", for a list.
struct Words {
  std::string first;
  std::string second;
};

std::shared_ptr<Words> add_words(CLI::App* app, const std::string& name, const std::string& about) {
  auto words = std::make_shared<Words>();
  app->add_option(name, words->first, about)->type_name("");
  app->add_option("FILE", words->second, "the profile [profile.culprit]")->type_name("");
  return words;
}

/// [PART] [FILE], each of which may be missing. "" unless the file is named twice.
std::string take_words(const Words& words, bool has_input, std::string& part, std::string& file) {
  if (!words.second.empty()) {
    if (has_input) return "the profile is named twice: as a word and by --input";
    part = words.first;
    file = words.second;
  } else if (!words.first.empty()) {
    (is_profile(words.first) && !has_input ? file : part) = words.first;
  }
  return "";
}

}  // namespace

CLI::App* add_locality(CLI::App& root, LocalityCommand* command, std::string* error) {
  CLI::App* app = root.add_subcommand(
      "locality", "what became of the cache lines that each statement brought in");
  const auto words = add_words(
      app, "PART",
      "a function (a name or a pattern), FILE:LINE or FILE:FIRST-LAST: with who reuses and "
      "who evicts its lines");
  std::string* const file = &command->file;
  CLI::Option* input =
      app->add_option("-i,--input", *file, "the profile [profile.culprit]")->type_name("FILE");
  CLI::Option* by = add_word(app, "--by", &command->question.by, kBy,
                             "how finely code is told apart; statement: with all of its lines; "
                             "column: the accesses of a line, by debug information [statement; of "
                             "FILE:LINE column]");
  add_word(app, "--level", &command->question.level, kCacheLevels,
           "whose spatial and temporal use, and edges, text shows [l1]");
  CLI::Option* limit =
      app->add_option("--limit", command->question.limit, "rows to print; 0: all [20]")
          ->type_name("N");
  add_presentation(app, &command->format, &command->width);
  app->footer(
      "\nExamples:\n"
      "  culprit record --locality all ./a.out && culprit locality\n"
      "  culprit locality smvp                       a function, its lines and edges\n"
      "  culprit locality quake.c:512 run.culprit    a line, with its statement's others\n"
      "  culprit locality --by function --level l2\n"
      "  culprit locality --format json --limit 0    for programs");
  app->callback([command, words, input, by, limit, error] {
    *error = take_words(*words, input->count() > 0, command->question.part, command->file);
    const bool is_line = parse_file_lines(command->question.part).has_value();
    if (is_line && by->count() == 0) command->question.by = LocalityBy::column;
    // Programs want everything; people want a page.
    if (command->format != Format::text && limit->count() == 0) command->question.limit = 0;
  });
  return app;
}

CLI::App* add_data(CLI::App& root, DataCommand* command, std::string* error) {
  CLI::App* app = root.add_subcommand(
      "data", "which data the program waits for, and what became of their lines");
  const auto words =
      add_words(app, "OBJECT",
                "a data object (a name, a pattern, or where it is allocated): its statements, "
                "fields and edges");
  CLI::Option* input = app->add_option("-i,--input", command->file, "the profile [profile.culprit]")
                           ->type_name("FILE");
  add_word(app, "--level", &command->question.level, kCacheLevels,
           "whose spatial and temporal use, and edges, text shows [l1]");
  CLI::Option* limit =
      app->add_option("--limit", command->question.limit, "rows to print; 0: all [20]")
          ->type_name("N");
  add_presentation(app, &command->format, &command->width);
  app->footer(
      "\nExamples:\n"
      "  culprit record --locality all ./a.out && culprit data\n"
      "  culprit data matrix                 its statements, fields, who evicts it\n"
      "  culprit data quake.c:431            what is allocated there\n"
      "  culprit record --data -e page-faults ./a.out && culprit data      of samples\n"
      "  culprit data --format json run.culprit");
  app->callback([command, words, input, limit, error] {
    *error = take_words(*words, input->count() > 0, command->question.object, command->file);
    if (command->format != Format::text && limit->count() == 0) command->question.limit = 0;
  });
  return app;
}

}  // namespace culprit
