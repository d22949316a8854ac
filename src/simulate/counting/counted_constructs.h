#pragma once

// CountedConstructs: the OpenMP constructs of the process, for all threads. It knows the functions
// of the runtimes and the bodies of constructs that are functions, by where they begin; an engine
// says when one is entered, and a thread's call stack when it has returned.
//
//     main calls GOMP_parallel(f, data)      a path "parallel, f" below the thread's own
//     two threads enter f                    both are in it
//     GOMP_parallel returns                  its thread is where it was before
//
// In a call of the runtime a thread waits, whatever the runtime does there: what is counted in a
// construct is the program's own code.
//
// A path is a construct below the constructs around it, a row in the counts file. Nothing has to be
// inside the program, so statically linked programs and other architectures have them, too.

#include <deque>
#include <mutex>
#include <optional>
#include <tsl/robin_map.h>
#include <vector>

#include "base/hash.h"
#include "simulate/counting/known_mappings.h"
#include "simulate/counting/region.h"
#include "simulate/counting/registers.h"
#include "simulate/counting/thread_constructs.h"

namespace culprit::counting {

/// A function at which constructs begin or end. Lives to the end.
struct ConstructEdge {
  /// Of a runtime; Step::none: the body of constructs, or with CULPRIT_KIND_FUNCTION one itself.
  openmp::RuntimeCall call{};
  uint64_t address = 0;
};

class CountedConstructs {
 public:
  CountedConstructs(CountsWriter& writer, std::string_view architecture);

  /// Calls of functions at these places are constructs, too. To be said before any code is seen.
  void add_functions(RegionPlaces places) { functions_.push_back(std::move(places)); }

  /// A piece of a file whose code is about to run.
  void see_code(const FoundMapping& found);
  /// The function that begins there: of a runtime, or (Step::none) as ConstructEdge says.
  void add_edge(uint64_t address, const openmp::RuntimeCall& call);

  /// What begins at the address; nullptr: nothing of ours.
  const ConstructEdge* find_edge(uint64_t address);

  /// Who enters an edge.
  struct Entry {
    uint64_t return_address = 0;  // 0: not known
    size_t height = 0;            // calls under way, with this one
    RegisterFile registers = nullptr;
    uint64_t base = 0;  // the program's addresses are shifted by so much in this process
  };
  /// What becomes of a thread's counts; the thread adds them up.
  struct Changes {
    std::vector<uint32_t> begun;   // paths that are executed once more
    std::vector<uint32_t> pieces;  // paths of which a piece is taken
    std::vector<uint32_t> placed;  // paths that have got a site or an end: its mapping is not known
    void clear() {
      begun.clear();
      pieces.clear();
      placed.clear();
    }
  };
  void enter(ThreadConstructs& thread, const ConstructEdge& edge, const Entry& entry,
             Changes& changes);
  /// `height` calls are under way now, and no more.
  void leave(ThreadConstructs& thread, size_t height, RegisterFile registers, Changes& changes);

  // Around a fork.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  struct Team {
    uint64_t body = 0;
    uint64_t data = 0;
    uint32_t path = 0;
    uint32_t loop = 0;  // path of a loop that its members begin with; 0: none
    const ThreadConstructs* primary = nullptr;
  };
  struct Construct {
    uint16_t kind = 0;
    uint16_t detail = 0;
    uint64_t site = 0;
    bool is_outlined = false;
  };
  using Frame = ThreadConstructs::Frame;

  uint32_t find_path(uint32_t parent, const Construct& construct, Changes& changes);
  uint64_t find_site(const ThreadConstructs& thread, const Entry& entry);
  [[nodiscard]] uint64_t argument(const Entry& entry, uint8_t number) const;
  static uint32_t read_ident_flags(uint64_t ident, uint64_t base);
  void put_edge(uint64_t address, const openmp::RuntimeCall& call);
  void note_body(uint64_t address);
  void set_end(uint32_t path, uint64_t address, Changes& changes);
  void enter_body(ThreadConstructs& thread, const ConstructEdge& edge, const Entry& entry,
                  Changes& changes);
  void enter_function(ThreadConstructs& thread, const ConstructEdge& edge, const Entry& entry,
                      Changes& changes);
  void enter_runtime(ThreadConstructs& thread, const openmp::RuntimeCall& call, const Entry& entry,
                     Changes& changes);
  void begin_team(ThreadConstructs& thread, const openmp::RuntimeCall& call, const Entry& entry,
                  Changes& changes);
  void begin_wait(ThreadConstructs& thread, const openmp::RuntimeCall& call, const Entry& entry,
                  uint64_t site, Changes& changes);
  void return_from(ThreadConstructs& thread, const Frame& call, uint64_t result, Changes& changes);
  void end_team(const ThreadConstructs& thread, uint32_t path);

  std::mutex mutex_;
  CountsWriter& writer_;
  CallConvention convention_;
  std::vector<RegionPlaces> functions_;
  std::deque<ConstructEdge> edges_;
  tsl::robin_map<uint64_t, const ConstructEdge*, SpreadHash> edge_at_;
  tsl::robin_map<uint64_t, std::vector<uint32_t>, SpreadHash> paths_at_;  // by site
  tsl::robin_map<uint64_t, uint32_t, SpreadHash> tasks_;                  // paths, by body
  std::vector<Team> teams_;                                               // that have not ended
};

}  // namespace culprit::counting
