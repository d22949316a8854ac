#include "scan/answer.h"

#include <gtest/gtest.h>

#include "scan/axis.h"
#include "scan/print_answer.h"

namespace culprit::scan {
namespace {

TEST(Patterns, IncludeAndExclude) {
  EXPECT_TRUE(is_wanted("gcc12_O2", {}));
  EXPECT_TRUE(is_wanted("gcc12_O2", {"gcc*"}));
  EXPECT_FALSE(is_wanted("clang", {"gcc*", "icc*"}));
  EXPECT_FALSE(is_wanted("gcc12_fast", {"gcc*", "!*fast*"}));
  EXPECT_TRUE(is_wanted("gcc12_O2", {"!*fast*"}));
}

/// Two setups over three sizes: 6 8 -, and a build that fails.
struct Example {
  Profile profile;
  std::vector<Cell> cells;
  std::vector<std::optional<CellCosts>> costs;
  std::vector<Preset> presets;

  Example() {
    Event event;
    event.name = profile.strings.intern("instructions");
    profile.events.push_back(event);
    add("gcc <O2>", "10", 6);
    add("gcc <O2>", "2", 8);
    add("clang", "2", 4);
    add("clang", "10", 0);
    cells.back().details[std::string(kStatusLabel)] = "build failed";
    cells.back().details[std::string(kMessageLabel)] = "no such file\nmore";
    costs.back().reset();
  }
  void add(const char* setup, const char* size, double instructions) {
    Cell cell;
    cell.name = {"vecadd", setup, {{"DIM", size}}};
    cell.details[std::string(kStatusLabel)] = kMeasured;
    cells.push_back(cell);
    CellCosts cost;
    cost.totals = {{instructions, 0}};
    costs.push_back(cost);
  }
  Answer ask(const Question& question) {
    const Quantities quantities(profile, cells, presets);
    const Result<Answer> got = answer(question, quantities, cells, costs);
    EXPECT_TRUE(got) << got.error().message;
    return got ? *got : Answer();
  }
};

TEST(Answer, GoesOverTheParameterBySetup) {
  const Answer got = Example().ask({});
  EXPECT_EQ(got.over, "DIM");
  EXPECT_EQ(got.by, "setup");
  ASSERT_EQ(got.panels.size(), 1u);
  EXPECT_EQ(got.panels[0].xs, (std::vector<std::string>{"2", "10"}));  // as numbers, not as words
  EXPECT_EQ(print_table_text(got, {}),
            "=instructions\n\n"
            " DIM       2            10\n"
            " gcc <O2>  8             6\n"
            " clang     4  build failed\n"
            "\n"
            "Failed  vecadd clang 10: build failed: no such file\n");
}

TEST(Answer, DividesByABase) {
  Question question;
  question.base = "gcc <O2>";
  const Answer got = Example().ask(question);
  EXPECT_EQ(got.panels[0].series[1].marks[0].value, (Estimate{0.5, 0}));
  EXPECT_EQ(got.panels[0].series[0].marks[1].value, (Estimate{1, 0}));
  EXPECT_FALSE(got.panels[0].series[1].marks[1].value);
}

TEST(Answer, IsHeldAgainstThePeakOfItsMachine) {
  Example example;
  Question question;
  question.with_peak = true;
  question.expression = "rate";
  example.presets.push_back({"rate", "instructions", "work of a cycle", "", "peak_flops"});
  const auto ask = [&] {
    const Quantities quantities(example.profile, example.cells, example.presets);
    return answer(question, quantities, example.cells, example.costs);
  };
  EXPECT_FALSE(ask());  // no machine was modelled
  for (Cell& cell : example.cells) cell.details[std::string(kPeakFlopsLabel)] = "16";
  const Result<Answer> got = ask();
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->share_of_peak, 0.5);  // 8 of 16
  const Series& line = got->panels[0].series.back();
  EXPECT_EQ(line.name, "peak: peak_flops");
  EXPECT_TRUE(line.is_expected);
  for (const Mark& mark : line.marks) EXPECT_EQ(mark.value, (Estimate{16, 0}));
  EXPECT_NE(print_table_text(*got, {}).find("Peak    the best is 50.0 % of 16,"),
            std::string::npos);
  question.base = "clang";
  EXPECT_FALSE(ask());  // a ratio has none
}

TEST(Answer, SaysWhichDimensionsThereAre) {
  Example example;
  const Quantities quantities(example.profile, example.cells, example.presets);
  Question question;
  question.over = "SIZE";
  const auto got = answer(question, quantities, example.cells, example.costs);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().message,
            "the cells have no dimension 'SIZE': they have program, setup, DIM");
}

TEST(Plots, EscapeNamesAndLeaveHoles) {
  const Answer got = Example().ask({});
  const std::string svg = print_plot_svg(got, {});
  EXPECT_NE(svg.find("gcc &lt;O2&gt;"), std::string::npos);
  EXPECT_EQ(svg.find("<O2>"), std::string::npos);
  EXPECT_EQ(svg, print_plot_svg(got, {}));
  const std::string vega = print_plot_vega(got, {});
  size_t points = 0;
  for (size_t at = 0; (at = vega.find("\"value\":", at)) != std::string::npos; ++at) ++points;
  EXPECT_EQ(points, 3u);
  EXPECT_NE(print_plot_gnuplot(got, {}).find("plot $data_0_0"), std::string::npos);
  EXPECT_NE(print_answer_csv(got).find("\n,clang,10,,,build failed\n"), std::string::npos);
}

TEST(Axis, HasRoundTicks) {
  const Axis axis = Axis::of_numbers({3, 41}, false, true, 5);
  std::string ticks;
  for (const Tick& tick : axis.ticks()) ticks += tick.text + " ";
  EXPECT_EQ(ticks, "0 10 20 30 40 50 ");
  EXPECT_DOUBLE_EQ(axis.place(25), 0.5);
  const Axis powers = Axis::of_numbers({4, 64}, true, false, 8);
  EXPECT_TRUE(powers.is_logarithmic());
  EXPECT_DOUBLE_EQ(powers.place(16), 0.5);
  EXPECT_FALSE(Axis::of_numbers({0, 64}, true, false, 8).is_logarithmic());
  EXPECT_EQ(Axis::of_numbers({5, 5}, false, false, 4).place(5), 0);  // no range: no division by 0
}

TEST(Costs, AreWrittenWithTheDigitsThatAreKnown) {
  EXPECT_EQ(format_cost({41, 0}), "41");
  EXPECT_EQ(format_cost({40.9999999999999, 0}), "41");
  EXPECT_EQ(format_cost({0.3125, 0}), "0.3125");
  EXPECT_EQ(format_cost({13.456, 0.2}), "13.5");
  EXPECT_EQ(format_cost({-0.0, 0}), "0");
  EXPECT_EQ(format_cost({3.35e9, 0}), "3.35 G");
}

/// Curves with these values at 1, 2, 3.
Answer make_answer(const std::vector<std::pair<std::string, std::vector<double>>>& curves) {
  Answer answer;
  answer.title = "instructions";
  answer.over = "DIM";
  answer.by = "setup";
  Panel panel{"", {"1", "2", "3"}, {}};
  for (const auto& [name, values] : curves) {
    Series series{name, {}, false};
    for (size_t i = 0; i < values.size(); ++i) {
      Mark mark;
      mark.x = panel.xs[i];
      mark.number = static_cast<double>(i + 1);
      mark.value = Estimate{values[i], 0};
      series.marks.push_back(mark);
    }
    panel.series.push_back(std::move(series));
  }
  answer.panels.push_back(std::move(panel));
  return answer;
}

TEST(PlotText, PutsCurvesThatMeetSideBySide) {
  TextStyle style;
  style.width = 60;
  const std::string text =
      print_plot_text(make_answer({{"one", {1, 5, 9}}, {"two", {3, 5, 7}}}), {}, style);
  // They meet at 2, and nowhere else.
  EXPECT_NE(text.find(" ab"), std::string::npos) << text;
  EXPECT_EQ(text.find("ab"), text.rfind("ab"));
  EXPECT_NE(text.find("a one   b two"), std::string::npos) << text;
}

TEST(PlotText, GivesEqualCurvesOneLetter) {
  TextStyle style;
  style.width = 60;
  const std::string text = print_plot_text(
      make_answer({{"one", {1, 5, 9}}, {"same", {1, 5, 9}}, {"two", {2, 3, 4}}}), {}, style);
  EXPECT_NE(text.find("a one, same   b two"), std::string::npos) << text;
}

TEST(PlotText, SaysWhereTwelveCurvesNeedMoreRoom) {
  std::vector<std::pair<std::string, std::vector<double>>> curves;
  for (int i = 0; i < 14; ++i) curves.push_back({"s" + std::to_string(i), {5, 5, 6.0 + i}});
  TextStyle style;
  style.width = 60;
  const std::string text = print_plot_text(make_answer(curves), {}, style);
  // Seven columns at the most, the last of which says that there are more.
  EXPECT_NE(text.find(" abcdef+\n"), std::string::npos) << text;
  EXPECT_NE(text.find("more curves than there is room for"), std::string::npos);
}

}  // namespace
}  // namespace culprit::scan
