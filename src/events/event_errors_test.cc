// What people mistype, and what they are told.

#include <gtest/gtest.h>

#include "events/event_request.h"
#include "events/test_sysfs.h"

namespace culprit {
namespace {

class EventErrors : public ::testing::Test {
 protected:
  /// All of `words` are in what is said about `spec`.
  void says(const std::string& spec, const std::vector<std::string>& words) const {
    const auto groups = parse_events(std::span(&spec, 1), server_);
    ASSERT_FALSE(groups) << spec;
    for (const std::string& word : words) {
      EXPECT_NE(groups.error().message.find(word), std::string::npos)
          << spec << ": " << groups.error().message << "\nlacks: " << word;
    }
  }
  PmuCatalog server_ = MadeSysfs::server();
};

TEST_F(EventErrors, UnknownEventsNameTheNearest) {
  says("cycels", {"event 'cycels': there is no such event", "did you mean cycles"});
  says("instuctions:u", {"did you mean instructions"});
  says("L1-dcache-lod-misses", {"L1-dcache-load-misses"});
  says("energy-pgk", {"energy-pkg"});
  says("sched:sched_swich", {"as a tracepoint:"});
  says("zzzzzzzzzzzzzzz", {"`culprit events` lists"});
}

TEST_F(EventErrors, UnknownPmusNameTheNearest) {
  says("cpus/event=1/", {"no PMU 'cpus'", "it has breakpoint, cpu, power", "did you mean cpu?"});
  says("uncore_imc_7/event=1/", {"no PMU 'uncore_imc_7'", "did you mean uncore_imc_0?"});
  says("uncore_cha_*/event=1/", {"no PMU"});
}

TEST_F(EventErrors, UnknownTermsNameTheNearest) {
  says("cpu/evnt=1/", {"PMU cpu has no term or event 'evnt'", "did you mean 'event'?"});
  says("cpu/event=1,umsk=2/", {"'umsk'", "did you mean 'umask'?"});
  says("cpu/mem-load/", {"did you mean 'mem-loads'?"});
  says("cpu/event=1,call-graph=dwarf/", {"'call-graph' is an option of the command"});
  says("cycles/event=1/", {"'event' is a term of PMU events"});
  says("cpu/cycles-t/", {"cycles-t stands for 'event=0x3c,in_tx=1', whose 'in_tx' is no format"});
}

TEST_F(EventErrors, ValuesMustFitTheirField) {
  says("cpu/umask=0x100/", {"umask=0x100 is too large: the field of PMU cpu holds 0xff"});
  says("cpu/inv=2/", {"inv=0x2 is too large", "holds 0x1"});
  says("cpu/event=0x1g/", {"event=0x1g is not a number"});
  says("cpu/event=-1/", {"event=-1 is not a number"});
  says("cpu/config=0x10000000000000000/", {"is not a number"});
  says("cpu/event=1,period=0/", {"period=0 takes no samples"});
  says("cpu/event=1,period=2,freq=3/", {"exclude each other"});
  says("cpu/event=1,name/", {"'name' wants a value"});
}

TEST_F(EventErrors, EventsThatWantAValueSaySo) {
  MadeSysfs made;
  made.add_pmu("hv_24x7", 9);
  made.add_format("hv_24x7", "domain", "config:0-3");
  made.add_format("hv_24x7", "core", "config:16-31");
  made.add_event("hv_24x7", "reads", "domain=0x2,core=?");
  const PmuCatalog catalog = made.read();
  const std::string without = "hv_24x7/reads/";
  const auto wrong = parse_events(std::span(&without, 1), catalog);
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("reads wants core=VALUE"), std::string::npos);
  const std::string with = "hv_24x7/reads,core=5/";
  const auto right = parse_events(std::span(&with, 1), catalog);
  ASSERT_TRUE(right) << right.error().message;
  EXPECT_EQ((*right)[0].members[0].config, 0x50002u);
}

TEST_F(EventErrors, ModifiersThatDoNotExist) {
  says("cycles:x", {"there is no modifier 'x'", "modifiers are u k h"});
  says("cycles:uu", {"modifier 'u' is given twice"});
  says("cycles:pppp", {"ppp is the most precise level"});
  says("cycles:pP", {"P asks for the highest"});
  says("{cycles:pp,instructions}:pp", {"ppp is the most precise level"});
  says("cycles:", {"modifiers are missing after the colon"});
  says("cycles:u:k", {"'k' cannot follow the modifiers"});
  says("{cycles,instructions:D}", {"D and e are for the whole group"});
}

TEST_F(EventErrors, GroupsAreOnOnePmu) {
  says("{cycles,power/energy-pkg/}", {"a group counts on one PMU", "mixes cpu and power"});
}

TEST_F(EventErrors, ControlCharactersAreNotPrinted) {
  const std::string spec = "cyc\033[31mles";
  const auto groups = parse_events(std::span(&spec, 1), server_);
  ASSERT_FALSE(groups);
  EXPECT_EQ(groups.error().message.find('\033'), std::string::npos);
}

}  // namespace
}  // namespace culprit
