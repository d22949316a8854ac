#pragma once

// DataObjects: what data objects a process has and where they are, as it is told of them.
//
//     objects.add_image({"/bin/a.out", 1, ...}, elf);          // its variables and sections
//     objects.map({begin, end}, "", {4, 7});                   // an mmap, called from site 4 in 7
//     const auto number = objects.allocate(0x5010, 24, {9});   // a block, allocated from site 9
//     objects.shadow().find(0x5018) == number
//     objects.free(0x5010);
//
// What lies over what: ranges of the user over blocks and variables (the smaller one over the one
// around it), those over sections and mappings. Blocks of one place of allocation are one object:
// it is known by the sites of the calls that led there, the innermost first.
//
// One thread at a time, but for shadow(), which may be looked at meanwhile.

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tsl/robin_map.h>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "simulate/objects/elf_objects.h"
#include "simulate/objects/frame_source.h"
#include "simulate/objects/ranges.h"
#include "simulate/objects/shadow_memory.h"

namespace culprit::objects {

enum class Kind : uint8_t {
  unknown,
  variable,   // `name`, at `place` of the file of `mapping`
  section,    // what no variable is known of
  block,      // of the heap: allocated by the calls of `path`
  allocator,  // memory of the heap that is in no block; while an allocator runs: for `path`
  stack,      // of any thread, where it is not known whose frame it is
  mapping,    // `name`: of which file; "": of none, mapped by the calls of `path`
  range,      // `name`, given by the user; `parent`: what it lies in, if that is known
  other,      // all objects that an instruction accesses beyond its most
  frame,      // the stack of the function that begins at `place` of the file of `mapping`: all of
              // it, or if there is a name this variable and where it is declared (frame_source.h)
  thread_variable,  // `name`, at `place` of the program (base/thread_local_place.h): of each thread
};
inline constexpr Kind kLastKind = Kind::thread_variable;

struct Object {
  Kind kind = Kind::unknown;
  std::string name{};
  uint32_t mapping = 0;     // of the counts file
  uint64_t place = 0;       // variable, section, frame: offset in the file; range: address
                            // block of its own: which one its site has allocated, from 1 on
  uint64_t address = 0;     // of a variable, or a range; in a frame: from its end on (wraps)
  uint64_t size_bytes = 0;  // of the largest block, and of all else as a whole
  uint64_t total_bytes = 0;
  uint64_t blocks = 0;  // that there ever were
  std::vector<uint32_t> path{};
  ObjectNumber parent = kNothing;
  ObjectNumber site = kNothing;  // of a block of its own: the object that it would be of
  uint64_t allocated = 0;        // by a site: blocks, also those of their own
  bool is_folded = false;        // a block of its own is none any more: others are larger
  uint32_t row = 0;              // in the counts file; 0: nothing of it was counted yet
};

/// The frame of a function: variables in it that are known, and all else.
struct FrameLayout {
  struct Variable {
    int64_t begin = 0;  // from the frame's end on
    int64_t end = 0;
    ObjectNumber object = kNothing;
  };
  ObjectNumber rest = kNothing;
  std::vector<Variable> variables{};  // ascending

  [[nodiscard]] ObjectNumber find(int64_t offset) const;
};
using ReadFrame =
    std::function<std::vector<FrameVariable>(const std::string& path, uint64_t function)>;

/// What tells blocks of the heap apart: the place that allocates them; that and their size; or the
/// largest ones are objects of their own.
enum class Grouping : uint8_t { site, size, instance };
std::string_view word_of(Grouping grouping);
/// Of what is no such word: by site.
Grouping grouping_of(std::string_view word);

struct ImagePlace {
  std::string_view path;
  uint32_t mapping = 0;  // its number in the counts file
  uint64_t start = 0;    // of a mapped piece of the file that has code in it
  uint64_t end = 0;
  uint64_t file_offset = 0;  // of `start`
};

struct Span {
  uint64_t begin = 0;
  uint64_t end = 0;
};

class DataObjects {
 public:
  static constexpr size_t kLongestPath = 8;
  /// Further places of allocation are told apart by their innermost call only.
  static constexpr size_t kMostPlaces = 1 << 18;
  /// One innermost call has so many paths: further ones are told apart by their four innermost
  /// calls, then three.
  static constexpr uint32_t kManyPaths = 64;

  /// So many blocks are objects of their own at a time, by Grouping::instance: the largest that
  /// there were. A larger one takes the place of the smallest; what was counted there stays what
  /// it was, for the reader to fold into the site's.
  static constexpr size_t kMostInstances = 10'000;
  static constexpr size_t kMostEverInstances = 100'000;

  explicit DataObjects(std::vector<Range> ranges = {}, Grouping grouping = Grouping::site);

  [[nodiscard]] const ShadowMemory& shadow() const { return shadow_; }
  [[nodiscard]] Object& object(ObjectNumber number) { return objects_[number]; }
  [[nodiscard]] ObjectNumber other() const { return kOther; }
  static constexpr ObjectNumber kAllocator = 1;
  static constexpr ObjectNumber kStack = 2;
  /// Parts of memory that threads have marked for themselves: thread_ranges() has them, and
  /// beneath() what they are for other threads.
  static constexpr ObjectNumber kThreadRange = 3;
  /// Whether whose it is depends on the thread that accesses it.
  static constexpr bool is_by_thread(ObjectNumber number) { return number - 1 < 3; }
  /// What kAllocator is called while an allocator works for the calls of `path`.
  ObjectNumber allocator_for(std::span<const uint32_t> path);

  /// A file whose code runs. The same again is no news.
  void add_image(const ImagePlace& place, const ElfObjects& elf);
  [[nodiscard]] bool knows_image(const ImagePlace& place) const;
  /// The allocator whose function begins at the address.
  [[nodiscard]] std::optional<Allocator> find_allocator(uint64_t address) const;
  [[nodiscard]] bool knows_allocators() const { return !allocators_.empty(); }

  /// `file`: "" if there is none. `path`: of the call that maps.
  void map(Span where, std::string_view file, std::span<const uint32_t> path);
  /// Memory that an allocator gets for its blocks.
  void map_for_allocator(Span where);
  void unmap(Span where);

  /// A thread has this thread pointer, or will have it when it begins.
  void add_thread(uint64_t thread_pointer);

  /// The address is of a thread's stack: the memory that was mapped with it, or `otherwise`. What
  /// the stack is.
  Span note_stack(uint64_t address, Span otherwise);
  /// The frame of the function with code at the address; all of it is kStack if none is known
  /// there. It stays where it is.
  const FrameLayout& find_frame(uint64_t address);
  /// Asked for the variables of a function in a file. It must live to the end.
  void set_frame_reader(ReadFrame reader) { read_frame_ = std::move(reader); }

  /// A block is there: the object that it is of.
  /// `range`: of find_range_of_call(), which it is of then.
  ObjectNumber allocate(uint64_t address, uint64_t size_bytes, std::span<const uint32_t> path,
                        ObjectNumber range = kNothing);
  /// The range of blocks that what calls at the address allocates; kNothing: there is none.
  [[nodiscard]] ObjectNumber find_range_of_call(uint64_t address) const;
  [[nodiscard]] bool has_ranges_of_calls() const { return !ranges_of_calls_.empty(); }
  /// Blocks that had a larger one take their place since the last call.
  std::vector<ObjectNumber> take_folded() { return std::exchange(folded_, {}); }
  /// Of blocks of their own: allocations that are under their site.
  [[nodiscard]] uint64_t not_apart() const { return not_apart_; }
  /// It is no more, though its memory is the object's until it is another's. Whether there was one.
  bool free(uint64_t address);

  /// The program names a part of its memory. The same name again is another part of the same
  /// object. Further parts than kMostMarks are not told apart: false.
  bool mark(std::string_view name, Span where);
  /// The same, for what this thread does there alone.
  bool mark_for_thread(std::string_view name, Span where, uint32_t thread);
  struct ThreadRange {
    Span where;
    uint32_t thread = 0;
    ObjectNumber object = kNothing;
  };
  /// Ascends whenever there are others.
  [[nodiscard]] uint32_t thread_ranges_version() const {
    return thread_ranges_version_.load(std::memory_order_acquire);
  }
  /// In the order in which they were marked.
  [[nodiscard]] const std::vector<ThreadRange>& thread_ranges() const { return thread_ranges_; }
  /// What lies beneath ranges of threads, once there was one.
  [[nodiscard]] const ShadowMemory& beneath() const { return *beneath_; }
  static constexpr size_t kMostMarks = 4096;

  /// Where the variable, the range or the block of the object begins that has the address.
  std::optional<uint64_t> find_begin(ObjectNumber number, uint64_t address);

  /// Ranges that are somewhere by now.
  [[nodiscard]] const std::vector<ObjectNumber>& found_ranges() const { return found_ranges_; }

 private:
  static constexpr ObjectNumber kOther = 4;

  struct Image {
    std::string path;
    uint32_t mapping = 0;
    ElfObjects elf;     // loads and functions of it
    uint64_t bias = 0;  // what addresses in the file are short of those in the process
    Span extent{UINT64_MAX, 0};
    std::vector<std::pair<Span, ObjectNumber>> parts;  // sections, then variables
  };
  struct Block {
    uint64_t size_bytes = 0;
    ObjectNumber object = kNothing;
  };
  /// Blocks at least as large are found by their order, smaller ones by looking at each place.
  static constexpr uint64_t kLargeBlock = 512;
  std::optional<uint64_t> find_block(ObjectNumber number, uint64_t address) const;

  struct ActiveRange {
    Span where;
    ObjectNumber object = kNothing;
    bool is_marked = false;  // by the program: until the block that it is in is freed
  };

  ObjectNumber add(Object object);
  [[nodiscard]] size_t longest_path(std::span<const uint32_t> path) const;
  ObjectNumber place_of_allocation(Kind kind, std::string_view name, std::span<const uint32_t> path,
                                   uint64_t size_bytes);
  FrameLayout make_frame(const Image& image, uint64_t function);
  ObjectNumber find_instance(ObjectNumber site, uint64_t size_bytes);
  [[nodiscard]] uint64_t end_with_header(uint64_t address, uint64_t size_bytes) const;
  void paint(Span where, ObjectNumber object, ObjectNumber spare = ShadowMemory::kMostObjects);
  void paint_images(Span where);
  void add_thread_block(const ImagePlace& place, const ElfThreadBlock& block);
  [[nodiscard]] std::optional<uint64_t> find_begin_of_thread(ObjectNumber number,
                                                             uint64_t address) const;
  void paint_thread_variables(uint64_t thread_pointer, Span where);
  void activate(const Range& range, Span where);
  ObjectNumber find_marked(std::string_view name, Span where);
  void copy_beneath(Span where);
  void uncover(Span where);
  void find_ranges_of_calls(const ImagePlace& place);
  void forget_marks(Span where);
  void find_ranges(const ImagePlace& place, const ElfObjects& elf, uint64_t bias);

  std::vector<Range> ranges_;
  Grouping grouping_;
  ShadowMemory shadow_;
  std::vector<Object> objects_;
  std::vector<Image> images_;
  std::vector<std::pair<Span, ObjectNumber>> thread_variables_;  // from the thread pointer on
  std::set<uint64_t> thread_pointers_;
  std::map<std::pair<uint64_t, uint64_t>, size_t> known_images_;  // by place: which, or none
  tsl::robin_map<uint64_t, Allocator, SpreadHash> allocators_;    // by address
  tsl::robin_map<std::string, ObjectNumber> places_;              // of allocation
  tsl::robin_map<uint32_t, uint32_t> paths_of_site_;              // by the innermost call
  tsl::robin_map<uint64_t, Block, SpreadHash> blocks_;            // alive, by address
  std::map<uint64_t, uint64_t> large_blocks_;                     // alive, begin to end
  std::array<uint64_t, 16> found_blocks_{};                       // begins, by number of object
  std::map<uint64_t, uint64_t> mapped_;                           // begin to end, by mmap
  std::map<uint64_t, FrameLayout> frames_;                        // by beginning of function
  FrameLayout no_frame_{kStack, {}};
  ReadFrame read_frame_;
  std::set<std::pair<uint64_t, uint32_t>> instances_;  // by size and ~number
  size_t ever_instances_ = 0;
  std::vector<ObjectNumber> folded_;
  uint64_t not_apart_ = 0;
  std::vector<ActiveRange> active_ranges_;
  tsl::robin_map<std::string, ObjectNumber> marked_;  // by name
  std::vector<ThreadRange> thread_ranges_;
  std::atomic<uint32_t> thread_ranges_version_{0};
  std::unique_ptr<ShadowMemory> beneath_;
  std::vector<std::pair<Span, ObjectNumber>> ranges_of_calls_;  // by code
  std::map<size_t, ObjectNumber> range_objects_;                // of these, by number of range
  std::vector<ObjectNumber> found_ranges_;
  std::set<size_t> named_ranges_;  // of which a file had a variable, by number of range
};

}  // namespace culprit::objects
