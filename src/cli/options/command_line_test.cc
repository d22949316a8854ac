#include "cli/options/command_line.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

namespace culprit {
namespace {

template <class T>
T parse(const std::vector<std::string>& arguments) {
  const Command command = parse_command_line(arguments);
  const T* parsed = std::get_if<T>(&command);
  EXPECT_NE(parsed, nullptr);
  return parsed == nullptr ? T{} : *parsed;
}

using Words = std::vector<std::string>;

TEST(CommandLine, TakesEverythingAfterTheProgramAsItsOwn) {
  EXPECT_EQ(parse<RecordCommand>({"record", "-g", "ls", "-l", "--", "-F", "x"}).record.command,
            (Words{"ls", "-l", "--", "-F", "x"}));
  EXPECT_EQ(parse<RecordCommand>({"record", "-g", "--", "ls", "--", "-l"}).record.command,
            (Words{"ls", "--", "-l"}));
}

TEST(CommandLine, RecordsAndReportsAProgramAlone) {
  const auto command = parse<RecordCommand>({"./a.out", "--by", "x"});
  EXPECT_EQ(command.record.command, (Words{"./a.out", "--by", "x"}));
  EXPECT_TRUE(command.report_after);
}

TEST(CommandLine, ReadsDurations) {
  const auto duration_ns = [](const std::string& text) {
    return parse<RecordCommand>({"record", "--duration", text, "-a"}).record.duration_ns;
  };
  EXPECT_EQ(duration_ns("10"), 10'000'000'000u);
  EXPECT_EQ(duration_ns("1.5s"), 1'500'000'000u);
  EXPECT_EQ(duration_ns("250ms"), 250'000'000u);
  EXPECT_EQ(duration_ns("2min"), 120'000'000'000u);
}

TEST(CommandLine, ReadsListsOfCpus) {
  EXPECT_EQ(parse<RecordCommand>({"record", "-C", "0,2-4", "-a"}).record.cpus,
            (std::vector<int>{0, 2, 3, 4}));
}

TEST(CommandLine, AFileOrAStretchOfTime) {
  EXPECT_TRUE(parse<ReportCommand>({"report", "--since", "2h"}).epochs.is_chosen);
  for (const Words& words : {Words{"report", "a.culprit", "--since", "2h"},
                             Words{"annotate", "main", "-i", "a.culprit", "--db", "db"},
                             Words{"why", "a.culprit", "--since", "2h"},
                             Words{"export", "--to", "csv", "a.culprit", "--since", "2h"}}) {
    const auto usage = parse<Usage>(words);
    EXPECT_NE(usage.text.find("give a file, or a stretch of time"), std::string::npos) << words[0];
  }
}

TEST(CommandLine, KeepsTheOrderOfLevels) {
  EXPECT_EQ(parse<ReportCommand>({"report", "--by", "module,function", "--by", "line"})
                .question.report.by,
            (std::vector<RowLevel>{RowLevel::module, RowLevel::function, RowLevel::line}));
}

TEST(CommandLine, LimitsRowsForPeopleOnly) {
  EXPECT_EQ(parse<ReportCommand>({"report"}).question.report.limit, 30u);
  EXPECT_EQ(parse<ReportCommand>({"report", "--format", "json"}).question.report.limit, 0u);
  EXPECT_EQ(
      parse<ReportCommand>({"report", "--format", "json", "--limit", "3"}).question.report.limit,
      3u);
}

TEST(CommandLine, SwitchesOffWhatIsOnByDefault) {
  const auto command = parse<RecordCommand>({"record", "--no-source", "--no-symbols", "ls"});
  EXPECT_FALSE(command.snapshot.with_source);
  EXPECT_FALSE(command.symbolize);
  EXPECT_TRUE(command.snapshot.use_debuginfod);
}

TEST(CommandLine, RefusesWhatItDoesNotKnowWithStatusTwo) {
  for (const Words& words :
       {Words{"report", "--colour"}, Words{"record", "-F", "nan", "ls"}, Words{"record"},
        Words{"export", "--to", "gif"}, Words{"no-such-program-anywhere"}, Words{}}) {
    EXPECT_EQ(parse<Usage>(words).status, 2);
  }
}

TEST(CommandLine, RefusesOptionsThatTheEngineCannotFollow) {
  const auto sampling = parse<Usage>({"record", "--engine", "simulate", "-F", "99", "ls"});
  EXPECT_EQ(sampling.status, 2);
  EXPECT_NE(sampling.text.find("--freq is for sampling"), std::string::npos);
  const auto simulation = parse<Usage>({"record", "--engine", "timer", "--objects", "site", "ls"});
  EXPECT_EQ(simulation.status, 2);
  EXPECT_NE(simulation.text.find("--objects is for --engine simulate"), std::string::npos);
  const auto process = parse<Usage>({"record", "--locality", "all", "-p", "1"});
  EXPECT_EQ(process.status, 2);
  EXPECT_NE(process.text.find("--locality implies --engine timer+simulate, which runs a whole "
                              "program twice, by time and simulated: not with --pid"),
            std::string::npos);
}

TEST(CommandLine, OptionsOfTheSoftwarePmuImplyIt) {
  const auto locality = parse<RecordCommand>({"record", "--locality", "all", "ls"});
  EXPECT_EQ(locality.record.engine, EngineChoice::timer_and_simulate);
  EXPECT_TRUE(locality.simulate.objects);
  const auto alone =
      parse<RecordCommand>({"record", "--locality", "all", "--objects", "none", "ls"});
  EXPECT_FALSE(alone.simulate.objects);
  const auto chosen = parse<RecordCommand>({"record", "--engine", "simulate", "--skip", "5", "ls"});
  EXPECT_EQ(chosen.record.engine, EngineChoice::simulate);
  EXPECT_FALSE(chosen.simulate.objects);
  EXPECT_EQ(parse<RecordCommand>({"record", "ls"}).record.engine, EngineChoice::automatic);
}

TEST(CommandLine, WindowsMayBeChosenWhereTheyTellAllThatIsAskedFor) {
  const auto may = [](Words words) {
    words.insert(words.begin(), {"record", "--engine", "timer+simulate"});
    words.emplace_back("ls");
    return parse<RecordCommand>(words).windows_by_time;
  };
  EXPECT_TRUE(may({}));
  EXPECT_TRUE(may({"--machine", "zen4"}));
  for (const Words& words :
       {Words{"--windows", "all"}, Words{"--windows", "5%"}, Words{"--budget", "9s"},
        Words{"--machine", "none"}, Words{"--sets", "1/4"}, Words{"--locality", "all"},
        Words{"--objects", "site"}, Words{"--deterministic"}, Words{"--regions"}}) {
    EXPECT_FALSE(may(words)) << words.front();
  }
  EXPECT_FALSE(parse<RecordCommand>({"record", "--engine", "simulate", "ls"}).windows_by_time);
}

TEST(CommandLine, RefusesOptionsThatThereAreNot) {
  const auto text = [](const Words& words) {
    const Usage usage = parse<Usage>(words);
    EXPECT_EQ(usage.status, 2);
    return usage.text;
  };
  EXPECT_NE(
      text({"record", "--enginee=timer", "./a.out"}).find("'--enginee' (did you mean --engine"),
      std::string::npos);
  EXPECT_NE(text({"stat", "-Z", "./a.out"}).find("there is no option '-Z'"), std::string::npos);
  EXPECT_EQ(parse<RecordCommand>({"record", "--", "-Z"}).record.command, (Words{"-Z"}));
}

TEST(CommandLine, NumbersAreWholeAndFit) {
  for (const char* const text : {"-5", "1e6", "18446744073709551616", "x"}) {
    EXPECT_NE(parse<Usage>({"report", "--limit", text}).text.find("is not a whole number"),
              std::string::npos)
        << text;
  }
  EXPECT_EQ(parse<Usage>({"record", "--engine", "simulate", "--skip", "-5", "ls"}).status, 2);
}

TEST(CommandLine, MistakesSayWhatIsTakenInstead) {
  const std::pair<Words, const char*> mistakes[] = {
      {{"report", "--width", "5"}, "--width: 5 is too small; it takes 60 to 1000"},
      {{"report", "--width", "7e7"}, "--width: 7e7 is too large; it takes 60 to 1000"},
      {{"report", "--width", "70.5"}, "--width: 70.5 is not a whole number; it takes 60 to 1000"},
      {{"report", "--min-percent", "nan"},
       "--min-percent: 'nan' is not a number; it takes 0 to 100"},
      {{"stat", "--repeat", "x", "ls"}, "--repeat: 'x' is not a number; it takes 1 to 100000"},
      {{"serve", "--port", "x"}, "--port: 'x' is not a number; it takes 0 to 65535"},
      {{"report", "--limit", "1", "--limit", "2"}, "--limit takes one value, not 2"},
      {{"why", "a", "b", "c"}, "--input takes 2 values at most, not 3"},
      {{"report", "--width"}, "--width lacks its value: --width N"},
      {{"report", "--never", "--off-cpu"}, "--off-cpu and --never: one or the other"},
      {{"record", "--budget", "5x", "ls"}, "--budget: '5x' is not a duration (try 10s"},
      {{"daemon", "--epoch", "x"}, "--epoch: 'x' is no length of time"},
      {{"diff", "a", "b", "--fail-above", "x"}, "--fail-above: 'x' is no percentage"},
      {{"record", "--duration", "5x", "ls"}, "--duration: '5x' is not a duration (try 10s"},
  };
  for (const auto& [words, text] : mistakes) {
    const Usage usage = parse<Usage>(words);
    EXPECT_EQ(usage.status, 2);
    EXPECT_NE(usage.text.find(text), std::string::npos) << usage.text;
  }
}

TEST(CommandLine, OfSeveralConditionsAllMustHold) {
  const auto command =
      parse<ReportCommand>({"report", "--where", "comm=cc*,label=a", "--where", "cgroup=/build"});
  std::vector<std::string> held;
  for (const ContextFilter& filter : command.epochs.filters) held.push_back(format_filter(filter));
  EXPECT_EQ(held, (std::vector<std::string>{"comm=cc*", "label=a", "cgroup=/build"}));
}

TEST(CommandLine, ABudgetIsRefusedByItsOwnName) {
  const auto refused = parse<Usage>(
      {"record", "--engine", "simulate", "--budget", "10s", "--locality", "all", "ls"});
  EXPECT_NE(refused.text.find("--budget and --locality: what becomes of lines"), std::string::npos);
  const auto both = parse<Usage>({"record", "--engine", "simulate", "--budget", "10s", "--windows",
                                  "5%", "--locality", "all", "ls"});
  EXPECT_NE(both.text.find("--windows and --locality: what becomes of lines"), std::string::npos);
}

TEST(CommandLine, EventsTakesAPatternOrEventLists) {
  const auto lists = parse<EventsCommand>({"events", "--cpu", "icx", "L1*", "--format", "json"});
  EXPECT_EQ(lists.cpu, "icx");
  EXPECT_EQ(lists.pattern, "L1*");
  EXPECT_EQ(lists.format, Format::json);
  const auto encoded = parse<EventsCommand>({"events", "-e", "{a,b}:u", "-e", "cpu/event=1/"});
  EXPECT_EQ(encoded.events, (Words{"{a,b}:u", "cpu/event=1/"}));
  EXPECT_TRUE(encoded.pattern.empty());
}

TEST(CommandLine, SuggestsTheNearestCommand) {
  EXPECT_NE(parse<Usage>({"repotr"}).text.find("did you mean report?"), std::string::npos);
}

TEST(CommandLine, WordsOfPerfAreNotProgramsToRun) {
  // `perf --list-cmds`, Linux 6.1, without annotate, record, report, stat, top, version and help.
  for (const char* const word :
       {"archive", "bench",  "buildid-cache", "buildid-list", "c2c",      "config",
        "evlist",  "ftrace", "inject",        "iostat",       "kallsyms", "kmem",
        "kvm",     "kwork",  "list",          "lock",         "mem",      "probe",
        "sched",   "script", "test",          "timechart",    "trace"}) {
    const auto usage = parse<Usage>({word, "FILE"});
    EXPECT_EQ(usage.status, 2);
    EXPECT_NE(usage.text.find(std::string("culprit -- ") + word + " FILE"), std::string::npos);
  }
  EXPECT_NE(parse<Usage>({"compare", "A", "B"}).text.find("culprit diff"), std::string::npos);
  for (const char* const word : {"scan", "monitor", "variance"}) {
    EXPECT_EQ(parse<Usage>({word}).status, 2) << word;
  }
}

TEST(CommandLine, TopTakesTheSystemOrWhatIsNamed) {
  const auto all = parse<TopCommand>({"top"});
  EXPECT_TRUE(all.recording.record.system_wide);
  EXPECT_TRUE(all.takes_what_it_may);
  EXPECT_EQ(all.window_ns, 10'000'000'000u);
  const auto one = parse<TopCommand>({"top", "-p", "17", "-b", "-n", "3", "--by", "function"});
  EXPECT_EQ(one.recording.record.pids, std::vector<pid_t>{17});
  EXPECT_FALSE(one.takes_what_it_may);
  EXPECT_TRUE(one.by_function);
  EXPECT_EQ(one.iterations, 3u);
  const auto program = parse<TopCommand>({"top", "-w", "0", "--", "./a.out", "-x"});
  EXPECT_EQ(program.recording.record.command, (std::vector<std::string>{"./a.out", "-x"}));
  EXPECT_EQ(program.window_ns, 0u);
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"top", "-n", "3"}, {"top", "-w", "61s"}, {"top", "-d", "10ms"}}) {
    EXPECT_EQ(parse<Usage>(wrong).status, 2);
  }
}

TEST(CommandLine, DashesMakeAnyWordAProgram) {
  const auto command = parse<RecordCommand>({"--", "script", "--", "FILE"});
  EXPECT_EQ(command.record.command, (Words{"script", "--", "FILE"}));
  EXPECT_TRUE(command.report_after);
  EXPECT_EQ(parse<RecordCommand>({"./script"}).record.command, (Words{"./script"}));
  EXPECT_EQ(parse<RecordCommand>({"record", "script"}).record.command, (Words{"script"}));
  EXPECT_EQ(parse<Usage>({"--"}).status, 2);
}

TEST(CommandLine, HelpAndVersionAreCommands) {
  EXPECT_EQ(parse<Usage>({"help"}).status, 0);
  EXPECT_EQ(parse<Usage>({"help"}).text, parse<Usage>({"--help"}).text);
  EXPECT_EQ(parse<Usage>({"help", "record"}).text, parse<Usage>({"record", "--help"}).text);
  EXPECT_NE(parse<Usage>({"help", "recrod"}).text.find("did you mean record?"), std::string::npos);
  EXPECT_EQ(parse<Usage>({"help", "recrod"}).status, 2);
  EXPECT_EQ(parse<Usage>({"version"}).text, parse<Usage>({"--version"}).text);
}

TEST(CommandLine, UnexpectedArgumentsAreNamedInOrder) {
  EXPECT_NE(parse<Usage>({"report", "one", "two", "three"}).text.find("two three"),
            std::string::npos);
  EXPECT_NE(parse<Usage>({"doctor", "one"}).text.find("this argument was not expected: one"),
            std::string::npos);
}

TEST(CommandLine, SetsAreAPowerOfTwo) {
  for (const char* const text :
       {"1/3", "1/0", "1/-4", "2/4", "16", "1/4,0", "1/4,x", "1/8589934592"})
    EXPECT_NE(parse<Usage>({"record", "--engine", "simulate", "--sets", text, "/no/such/program"})
                  .text.find("--sets"),
              std::string::npos)
        << text;
}

TEST(CommandLine, WindowsAreAShareOfTheRun) {
  for (const char* const text :
       {"", "5", "0%", "51%", "nan%", "5%,0", "5%,x", "5%,1,0", "5%,1,2,3", "some", "all,1"}) {
    EXPECT_NE(
        parse<Usage>({"record", "--engine", "simulate", "--windows", text, "/no/such/program"})
            .text.find("--windows"),
        std::string::npos)
        << text;
  }
  const auto share = [](const char* text) {
    return parse<RecordCommand>({"record", "--engine", "simulate", "--windows", text, "true"})
        .simulate.windows.per_million;
  };
  EXPECT_EQ(share("all"), 0U);
  EXPECT_EQ(share("auto"), 50'000U);
  EXPECT_EQ(share("0.5%,7"), 5000U);
}

TEST(CommandLine, WhatIsWrongIsToldByItsOptionsName) {
  const auto wrong = [](std::vector<std::string> words, const std::string& option) {
    const std::string text = parse<Usage>(words).text;
    EXPECT_TRUE(text.starts_with("culprit: " + option + ": ")) << text;
  };
  for (const auto& [option, text] : std::vector<std::pair<std::string, std::string>>{
           {"--windows", "5"},
           {"--sets", "1/3"},
           {"--objects", "all"},
           {"--range", "x="},
           {"--allocator", "f:0"},
           {"--call-graph", "lbr"},
           {"--locality", "l9"},
           {"--budget", "soon"},
       }) {
    wrong({"record", "--engine", "simulate", option, text, "true"}, option);
  }
  wrong({"record", "--compare", "no-command"}, "--compare");
  wrong({"report", "--by", "colour"}, "--by");
  wrong({"report", "--columns", "hca,executions"}, "--columns");
  wrong({"report", "--where", "colour=red"}, "--where");
  wrong({"daemon", "--rate", "often"}, "--rate");
  wrong({"scan", "best", "--use", "matmul"}, "--use");
}

TEST(CommandLine, WordsInBracketsAreNames) {
  const auto both = parse<DataCommand>({"data", "[heap]", "run.culprit"});
  EXPECT_EQ(both.question.object, "[heap]");
  EXPECT_EQ(both.file, "run.culprit");
  EXPECT_EQ(parse<DataCommand>({"data", "[heap]"}).question.object, "[heap]");
  EXPECT_EQ(parse<DataCommand>({"data", "run.culprit"}).file, "run.culprit");
  EXPECT_EQ(parse<LocalityCommand>({"locality", "[kernel]", "x/y"}).question.part, "[kernel]");
}

std::string help_of(const std::vector<std::string>& words) {
  std::vector<std::string> arguments = words;
  arguments.emplace_back("--help");
  return parse<Usage>(arguments).text;
}

/// The names below "Subcommands:".
std::vector<std::string> subcommands_of(const std::string& help) {
  std::vector<std::string> names;
  std::istringstream lines(help.substr(std::min(help.size(), help.find("Subcommands:"))));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line) && line.starts_with("  ")) {
    if (line[2] != ' ') names.push_back(line.substr(2, line.find(' ', 2) - 2));
  }
  return names;
}

TEST(CommandLine, EveryHelpHasExamplesWithin80Columns) {
  std::vector<std::vector<std::string>> commands;
  for (const std::string& name : subcommands_of(help_of({}))) commands.push_back({name});
  EXPECT_GE(commands.size(), 20u);
  for (const std::string& action : subcommands_of(help_of({"scan"}))) {
    commands.push_back({"scan", action});
  }
  EXPECT_GE(commands.size(), 35u);
  for (const std::vector<std::string>& words : commands) {
    EXPECT_NE(help_of(words).find("\nExamples:\n  culprit "), std::string::npos) << words.back();
  }
  commands.emplace_back();
  for (const std::vector<std::string>& words : commands) {
    const std::string help = help_of(words);
    std::istringstream lines(help);
    for (std::string line; std::getline(lines, line);) {
      const bool is_command = line.starts_with("  ") && line.rfind("  ") == 0;
      EXPECT_TRUE(line.size() <= 80 || is_command) << line;
    }
  }
}

TEST(CommandLine, HelpIsNoError) {
  for (const char* command : {"record", "report", "annotate", "export", "symbolize", "doctor"}) {
    const auto usage = parse<Usage>({command, "--help"});
    EXPECT_EQ(usage.status, 0);
    EXPECT_NE(usage.text.find("Usage: culprit " + std::string(command)), std::string::npos);
  }
  EXPECT_EQ(parse<Usage>({"--version"}).text, "culprit 0.1.0\n");
}

}  // namespace
}  // namespace culprit
