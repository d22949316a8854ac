#include "simulate/counting/counted_constructs.h"

#include <algorithm>
#include <sys/uio.h>
#include <unistd.h>

#include "base/file.h"
#include "simulate/objects/elf_objects.h"

namespace culprit::counting {

using openmp::RuntimeCall;
using openmp::Step;
using What = ThreadConstructs::Frame::What;

CountedConstructs::CountedConstructs(CountsWriter& writer, std::string_view architecture)
    : writer_(writer), convention_(call_convention(architecture)) {
  writer_.header().has_regions = 1;
}

void CountedConstructs::see_code(const FoundMapping& found) {
  const counts_file::MappedRange& mapping = found.mapping;
  for (const RegionPlaces& function : functions_) {
    if (function.path != found.path) continue;
    for (const uint64_t offset : function.offsets) {
      if (offset < mapping.file_offset) continue;
      const uint64_t address = mapping.start + (offset - mapping.file_offset);
      if (address < mapping.end) add_edge(address, {.kind = CULPRIT_KIND_FUNCTION});
    }
  }
  const Result<Fd> fd = open_readable(found.path);
  if (!fd) return;
  const Result<MappedFile> file = MappedFile::map(fd->get(), found.path);
  if (!file) return;
  const Result<objects::ElfObjects> elf = objects::parse_elf_objects(file->bytes());
  if (!elf) return;
  const auto bias = elf->find_bias(mapping.start, mapping.end, mapping.file_offset);
  if (!bias) return;
  for (const objects::ElfConstructEdge& one : elf->construct_edges) {
    const uint64_t address = one.address + *bias;
    if (address >= mapping.start && address < mapping.end) add_edge(address, one.call);
  }
}

void CountedConstructs::put_edge(uint64_t address, const RuntimeCall& call) {
  edges_.push_back({call, address});
  edge_at_[address] = &edges_.back();
}

void CountedConstructs::add_edge(uint64_t address, const RuntimeCall& call) {
  const std::lock_guard lock(mutex_);
  put_edge(address, call);
}

const ConstructEdge* CountedConstructs::find_edge(uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto found = edge_at_.find(address);
  return found == edge_at_.end() ? nullptr : found->second;
}

/// A construct inside itself, below whatever, is the same path: recursion does not grow.
uint32_t CountedConstructs::find_path(uint32_t parent, const Construct& construct,
                                      Changes& changes) {
  std::vector<uint32_t>& known = paths_at_[construct.site];
  for (const uint32_t path : known) {
    const counts_file::RegionPath& row = writer_.region_path(path);
    if (row.kind != construct.kind || row.detail != construct.detail) continue;
    for (uint32_t around = parent; around != 0; around = writer_.region_path(around).parent) {
      if (around == path) return path;
    }
    if (row.parent == parent) return path;
  }
  const uint32_t path = writer_.add_region_path({.parent = parent,
                                                 .mapping = 0,
                                                 .end_mapping = 0,
                                                 .kind = construct.kind,
                                                 .detail = construct.detail,
                                                 .site = construct.site,
                                                 .end = 0});
  if (path == 0) {
    ++writer_.header().lost_region_paths;
  } else {
    known.push_back(path);
    changes.placed.push_back(path);
  }
  return path;
}

void CountedConstructs::set_end(uint32_t path, uint64_t address, Changes& changes) {
  if (path == 0 || address == 0) return;
  counts_file::RegionPath& row = writer_.region_path(path);
  if (row.end != 0) return;
  row.end = address;
  changes.placed.push_back(path);
}

uint64_t CountedConstructs::argument(const Entry& entry, uint8_t number) const {
  if (entry.registers == nullptr || number >= convention_.arguments.size()) return 0;
  return entry.registers[convention_.arguments[number]];
}

/// What LLVM's compilers tell of the construct at a call: the second word of ident_t. 0 where it
/// cannot be read.
uint32_t CountedConstructs::read_ident_flags(uint64_t ident, uint64_t base) {
  uint32_t flags = 0;
  if (ident == 0) return 0;
  iovec to{&flags, sizeof flags};
  iovec from{reinterpret_cast<void*>(ident + base + sizeof flags), sizeof flags};
  const ssize_t got = ::process_vm_readv(::getpid(), &to, 1, &from, 1, 0);
  return got == sizeof flags ? flags : 0;
}

void CountedConstructs::note_body(uint64_t address) {
  if (address != 0 && !edge_at_.contains(address)) put_edge(address, {});
}

void CountedConstructs::enter(ThreadConstructs& thread, const ConstructEdge& edge,
                              const Entry& entry, Changes& changes) {
  const std::lock_guard lock(mutex_);
  if (edge.call.step == Step::none) {
    enter_body(thread, edge, entry, changes);
    if (edge.call.kind == CULPRIT_KIND_FUNCTION) enter_function(thread, edge, entry, changes);
  } else if (!thread.is_in_runtime()) {
    enter_runtime(thread, edge.call, entry, changes);
  }
}

/// Several teams may have the same body: the team that the runtime hands the same data is meant,
/// else the last one that began.
void CountedConstructs::enter_body(ThreadConstructs& thread, const ConstructEdge& edge,
                                   const Entry& entry, Changes& changes) {
  const auto is_of = [&](const Team& team) { return team.body == edge.address; };
  auto team = std::find_if(teams_.rbegin(), teams_.rend(), [&](const Team& one) {
    return is_of(one) && one.data != 0 && one.data == argument(entry, 0);
  });
  if (team == teams_.rend()) team = std::find_if(teams_.rbegin(), teams_.rend(), is_of);
  const auto begin = [&](What what, uint16_t kind, uint32_t path) {
    thread.push({.what = what, .place = {path, false}, .kind = kind, .height = entry.height});
    changes.begun.push_back(path);
  };
  if (team != teams_.rend()) {
    begin(What::function, CULPRIT_KIND_PARALLEL, team->path);
    if (team->loop != 0) begin(What::body, CULPRIT_KIND_LOOP, team->loop);
  } else if (const auto task = tasks_.find(edge.address); task != tasks_.end()) {
    begin(What::function, CULPRIT_KIND_TASK, task->second);
  }
}

/// A jump to where the function begins, in a call of it that is under way, is a loop and no call.
void CountedConstructs::enter_function(ThreadConstructs& thread, const ConstructEdge& edge,
                                       const Entry& entry, Changes& changes) {
  if (thread.is_in_runtime()) return;
  const uint32_t path = find_path(
      thread.path(), {CULPRIT_KIND_FUNCTION, CULPRIT_DETAIL_NONE, edge.address, true}, changes);
  const bool is_under_way = std::ranges::any_of(thread.frames(), [&](const Frame& frame) {
    return frame.kind == CULPRIT_KIND_FUNCTION && frame.height == entry.height &&
           frame.place.path == path;
  });
  if (path == 0 || is_under_way) return;
  thread.push({.what = What::function,
               .place = {path, false},
               .kind = CULPRIT_KIND_FUNCTION,
               .height = entry.height});
  changes.begun.push_back(path);
}

void CountedConstructs::begin_team(ThreadConstructs& thread, const RuntimeCall& call,
                                   const Entry& entry, Changes& changes) {
  const uint64_t body = argument(entry, call.body);
  const bool is_known = body != 0;
  const uint64_t site = is_known ? body : entry.return_address == 0 ? 0 : entry.return_address - 1;
  const uint32_t path = find_path(thread.path(), {call.kind, call.detail, site, is_known}, changes);
  if (is_known) note_body(body);
  // Only libgomp hands the data over next to the function.
  Team team{body, call.body == 0 ? argument(entry, 1) : 0, path, 0, &thread};
  if (call.loop != CULPRIT_DETAIL_NONE) {
    team.loop = find_path(path, {CULPRIT_KIND_LOOP, call.loop, site, is_known}, changes);
  }
  teams_.push_back(team);
  thread.single = {};
  thread.push({.what = What::call,
               .place = {path, true},
               .kind = call.kind,
               .call = call,
               .height = entry.height,
               .opens = path});
}

void CountedConstructs::end_team(const ThreadConstructs& thread, uint32_t path) {
  const auto team = std::find_if(teams_.rbegin(), teams_.rend(), [&](const Team& one) {
    return one.primary == &thread && one.path == path;
  });
  if (team != teams_.rend()) teams_.erase(std::prev(team.base()));
}

/// A barrier that ends a construct is its waiting, where that is known: of libgomp after a single,
/// of LLVM's runtime by what the compiler says of the barrier.
void CountedConstructs::begin_wait(ThreadConstructs& thread, const RuntimeCall& call,
                                   const Entry& entry, uint64_t site, Changes& changes) {
  constexpr uint32_t kImplicitBarrier = 0x40;  // KMP_IDENT_BARRIER_IMPL
  const auto wait_at_end_of = [&](uint32_t path) {
    thread.push({.what = What::call,
                 .place = {path, true},
                 .kind = call.kind,
                 .call = call,
                 .height = entry.height});
  };
  const bool is_barrier = call.kind == CULPRIT_KIND_BARRIER;
  const Frame* const body = thread.function();
  const bool is_jump = body != nullptr && body->height == entry.height;
  const size_t caller = is_jump ? entry.height : entry.height - 1;
  if (is_barrier && thread.single.path != 0 && thread.single.height == caller) {
    const uint32_t path = thread.single.path;
    thread.single = {};
    thread.end(CULPRIT_KIND_SINGLE);
    set_end(path, site, changes);
    return wait_at_end_of(path);
  }
  const bool is_llvm = call.body == RuntimeCall::kNone && is_barrier && thread.last_work != 0;
  if (is_llvm && (read_ident_flags(argument(entry, 0), entry.base) & kImplicitBarrier) != 0) {
    return wait_at_end_of(thread.last_work);
  }
  const uint32_t path = find_path(thread.path(), {call.kind, call.detail, site, false}, changes);
  changes.begun.push_back(path);
  thread.push({.what = What::call,
               .place = {path, false},
               .kind = call.kind,
               .call = call,
               .height = entry.height});
}

/// A function that is the body of a construct may jump to the runtime as its last act: then the
/// call returns to the runtime, which is no place in the program.
uint64_t CountedConstructs::find_site(const ThreadConstructs& thread, const Entry& entry) {
  const Frame* const body = thread.function();
  if (body != nullptr && body->height == entry.height) {
    return writer_.region_path(body->place.path).site;
  }
  return entry.return_address == 0 ? 0 : entry.return_address - 1;
}

void CountedConstructs::enter_runtime(ThreadConstructs& thread, const RuntimeCall& call,
                                      const Entry& entry, Changes& changes) {
  const uint64_t site = find_site(thread, entry);
  const size_t caller = entry.height == 0 ? 0 : entry.height - 1;
  const auto find = [&](uint16_t kind, uint16_t detail) {
    return find_path(thread.path(), {kind, detail, site, false}, changes);
  };
  Frame frame{.what = What::call,
              .place = {thread.path(), thread.path() != 0},
              .kind = call.kind,
              .call = call,
              .height = entry.height};
  switch (call.step) {
    case Step::runs_team:
    case Step::starts_team:
      return begin_team(thread, call, entry, changes);
    case Step::waits:
      return begin_wait(thread, call, entry, site, changes);
    case Step::ends_team:
    case Step::ends_serial:
      if (const auto team = thread.end(call.kind)) {
        frame.place = {team->place.path, true};
        frame.opens = team->place.path;
      }
      break;
    case Step::begins_work: {
      thread.single = {};
      Construct construct{call.kind, call.detail, site, false};
      if (call.schedule != RuntimeCall::kNone) {
        const auto schedule =
            openmp::find_schedule(static_cast<uint32_t>(argument(entry, call.schedule)));
        construct.detail = schedule.detail;
        if (schedule.distributes) construct.kind = CULPRIT_KIND_DISTRIBUTE;
      }
      const uint32_t path = find_path(thread.path(), construct, changes);
      changes.begun.push_back(path);
      thread.push(
          {.what = What::body, .place = {path, false}, .kind = call.kind, .height = caller});
      frame.place = {path, true};
      break;
    }
    case Step::takes_piece: {
      const bool is_inside = !thread.frames().empty() && thread.frames().back().kind == call.kind &&
                             thread.frames().back().what == What::body;
      if (!is_inside && call.kind == CULPRIT_KIND_SECTIONS) {  // GOMP_parallel_sections' first
        const uint32_t path = find(call.kind, call.detail);
        changes.begun.push_back(path);
        thread.push(
            {.what = What::body, .place = {path, false}, .kind = call.kind, .height = caller});
        frame.place = {path, true};
      }
      break;
    }
    case Step::takes_last:
    case Step::works:
    case Step::none:
      break;
    case Step::ends_work:
    case Step::ends_copy:
    case Step::leaves:
      if (const auto ended = thread.end(call.kind)) {
        const uint32_t path = ended->place.path;
        set_end(path, site, changes);
        frame.place = {path, true};
        if (call.step == Step::ends_work) thread.last_work = path;
      }
      break;
    case Step::begins_serial:
    case Step::begins_single:
    case Step::begins_copy:
    case Step::begins_if:
    case Step::enters:
    case Step::locks:
    case Step::locks_if: {
      thread.single = {};
      frame.opens = find(call.kind, call.detail);
      frame.place = {frame.opens, true};
      frame.lock = argument(entry, 0);
      break;
    }
    case Step::unlocks:
      if (const auto held = thread.release(argument(entry, 0))) {
        set_end(held->place.path, site, changes);
        frame.place = {held->place.path, true};
      }
      break;
    case Step::creates_task:
    case Step::runs_task_loop: {
      const uint64_t body = argument(entry, call.body);
      if (body == 0) break;
      const uint32_t path = find_path(thread.path(), {call.kind, call.detail, body, true}, changes);
      note_body(body);
      tasks_[body] = path;
      changes.pieces.push_back(path);
      frame.place = {path, true};
      break;
    }
  }
  thread.push(frame);
}

void CountedConstructs::leave(ThreadConstructs& thread, size_t height, RegisterFile registers,
                              Changes& changes) {
  const std::lock_guard lock(mutex_);
  const uint64_t result = registers == nullptr ? 0 : registers[convention_.result];
  while (const auto over = thread.take_over(height)) {
    if (over->what != What::call) continue;
    // What was left by a jump has returned nothing.
    if (height + 1 == over->height) return_from(thread, *over, result, changes);
    if (over->call.step == Step::runs_team) end_team(thread, over->opens);
  }
}

/// `call` has returned to its caller, which goes on.
void CountedConstructs::return_from(ThreadConstructs& thread, const Frame& call, uint64_t result,
                                    Changes& changes) {
  const size_t caller = call.height - 1;
  const auto begin = [&](What what = What::body) {
    thread.push({.what = what,
                 .place = {call.opens, false},
                 .kind = call.kind,
                 .height = what == What::lock ? 0 : caller,
                 .lock = call.lock});
    changes.begun.push_back(call.opens);
  };
  const bool is_true = (result & 0xff) != 0;  // a bool, of which no more is sure
  switch (call.call.step) {
    case Step::starts_team:  // its body is told when it is entered
      thread.push(
          {.what = What::body, .place = {call.opens, true}, .kind = call.kind, .height = caller});
      break;
    case Step::ends_team:
      end_team(thread, call.opens);
      break;
    case Step::begins_serial:
    case Step::enters:
      begin();
      break;
    case Step::locks:
      begin(What::lock);
      break;
    case Step::locks_if:
      if (static_cast<uint32_t>(result) != 0) begin(What::lock);
      break;
    case Step::begins_single:
      thread.single = {call.opens, caller};
      if (is_true) {
        begin();
        changes.pieces.push_back(call.opens);
      } else {
        changes.begun.push_back(call.opens);
      }
      break;
    case Step::begins_copy:
      if (result == 0) {
        begin();
        changes.pieces.push_back(call.opens);
      } else {
        changes.begun.push_back(call.opens);
      }
      break;
    case Step::begins_if:
      if (call.kind == CULPRIT_KIND_SINGLE) thread.last_work = call.opens;
      if (static_cast<uint32_t>(result) != 0) {
        begin();
        if (call.kind == CULPRIT_KIND_SINGLE) changes.pieces.push_back(call.opens);
      } else if (call.kind == CULPRIT_KIND_SINGLE) {
        changes.begun.push_back(call.opens);
      }
      break;
    case Step::begins_work:
    case Step::takes_piece: {
      // A bool, or the number of a section; LLVM's tell nothing.
      const bool has_piece =
          call.kind == CULPRIT_KIND_SECTIONS ? static_cast<uint32_t>(result) != 0 : is_true;
      const bool tells = call.call.schedule == RuntimeCall::kNone;
      if (tells && has_piece) changes.pieces.push_back(call.place.path);
      break;
    }
    case Step::takes_last:
      if (static_cast<uint32_t>(result) != 0) {
        changes.pieces.push_back(call.place.path);
      } else if (const auto ended = thread.end(call.kind)) {
        thread.last_work = ended->place.path;
      }
      break;
    default:
      break;
  }
}

}  // namespace culprit::counting
