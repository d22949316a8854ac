#pragma once

// TracePlayer: an engine for tests. It feeds a Counting from a written trace instead of a running
// program, so that what is counted can be worked out by hand, without QEMU.
//
//     map 400000 1000 /trace/program       # 0x1000 bytes from 0x400000 on show the file's start
//     block loop 400100 488b06 4883c608 48ffc9 75f4    # a name, its address, its instructions
//     thread 0                              # starts
//     run 0 loop x100 601000+8              # thread 0 runs it 100 times: its first instruction
//                                           # that accesses memory does so at 601000, 601008, ...
//     run 0 loop 601320                     # once more
//     call 0 231                            # a system call
//     end 0                                 # the program ends, by thread 0
//
// After the name of a block there is one address for each of its instructions that accesses memory,
// in their order. Code is for x86-64.

#include <array>
#include <charconv>
#include <cstdio>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/result.h"
#include "simulate/counting/rounds.h"

namespace culprit::counting {

class TracePlayer {
 public:
  /// Errors: those of Counting::start().
  static Result<std::unique_ptr<TracePlayer>> make(const CountingOptions& options,
                                                   const std::string& costs_path = "") {
    std::unique_ptr<TracePlayer> player(new TracePlayer);
    RETURN_IF_ERROR(player->counting_.start(
        options,
        {.architecture = "x86_64",
         .program = "/trace/program",
         .costs_path = costs_path,
         .find_mapping = [self = player.get()](uint64_t at) { return self->find_mapping(at); }}));
    return player;
  }

  void play(const std::string& trace) {
    std::istringstream lines(trace);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line.substr(0, line.find('#')));
      std::string verb;
      if (words >> verb) obey(verb, words);
    }
  }

  /// Runs a block that ends with rep movs or rep stos, then `round`, which is that instruction
  /// alone, until the registers say that it is done: as QEMU does, which runs a block for each
  /// round, and at last one that only goes on. Memory is the test's own. `backward`: the direction
  /// flag; `shows_others`: registers that are not the
  /// program's are shown. Returns how many rounds the Counting has left to the engine.
  uint64_t repeat(unsigned thread, const std::string& first, const std::string& round,
                  std::array<uint64_t, 8>& registers, bool backward = false,
                  bool shows_others = false) {
    uint64_t own_rounds = 0;
    std::thread([&] {
      with_model(counting_, [&]<Model kModel, bool kInTurns>() {
        const TracedBlock* block = &blocks_.at(first);
        for (;;) {
          if (block->facts->is_round()) {
            std::array<uint64_t, 8> others{};
            uint64_t* const shown = shows_others ? others.data() : registers.data();
            counting_.do_rounds<kModel>(thread, *block->facts, shown);
          }
          counting_.run_block<kModel, kInTurns>(thread, *block->facts);
          if (registers[kCountRegister] == 0) break;
          run_round<kModel>(thread, *block, registers, backward);
          ++own_rounds;
          block = &blocks_.at(round);
        }
      });
    }).join();
    return own_rounds;
  }

 private:
  struct TracedBlock {
    const BlockFacts* facts = nullptr;
    std::vector<TranslatedInstruction> instructions;
  };
  /// Where an instruction accesses memory, and how much further each time.
  struct Place {
    uint64_t address = 0;
    uint64_t step = 0;
  };

  TracePlayer() : counting_(decode_x86_64) {}

  static uint64_t parse(std::string_view text, int base) {
    uint64_t value = 0;
    const auto [end, problem] =
        std::from_chars(text.data(), text.data() + text.size(), value, base);
    CHECK(problem == std::errc() && end == text.data() + text.size());
    return value;
  }
  static std::string next_word(std::istringstream& words) {
    std::string word;
    CHECK(words >> word);
    return word;
  }

  void obey(const std::string& verb, std::istringstream& words) {
    if (verb == "map") {
      const uint64_t start = parse(next_word(words), 16);
      const uint64_t bytes = parse(next_word(words), 16);
      mappings_.push_back({{start, start + bytes, 0, 1, 0, 0, 0, 0}, next_word(words)});
    } else if (verb == "block") {
      const std::string name = next_word(words);
      add_block(name, words);
    } else if (verb == "thread") {
      counting_.start_thread(static_cast<unsigned>(parse(next_word(words), 10)));
    } else if (verb == "run") {
      const auto thread = static_cast<unsigned>(parse(next_word(words), 10));
      const std::string name = next_word(words);
      run(thread, blocks_.at(name), words);
    } else if (verb == "call") {
      const auto thread = static_cast<unsigned>(parse(next_word(words), 10));
      const auto number = static_cast<int64_t>(parse(next_word(words), 10));
      counting_.begin_system_call(thread, {.number = number});
      counting_.end_system_call(thread, number, 0);
    } else {
      CHECK(verb == "end");
      counting_.end_program(static_cast<unsigned>(parse(next_word(words), 10)));
    }
  }

  std::optional<FoundMapping> find_mapping(uint64_t address) const {
    for (const FoundMapping& one : mappings_) {
      if (address >= one.mapping.start && address < one.mapping.end) return one;
    }
    return std::nullopt;
  }

  void add_block(const std::string& name, std::istringstream& words) {
    uint64_t address = parse(next_word(words), 16);
    std::vector<std::vector<uint8_t>> bytes;
    for (std::string code; words >> code;) {
      std::vector<uint8_t>& one = bytes.emplace_back();
      for (size_t i = 0; i < code.size(); i += 2) {
        one.push_back(static_cast<uint8_t>(parse(code.substr(i, 2), 16)));
      }
    }
    std::vector<BlockInstruction> instructions;
    for (const std::vector<uint8_t>& one : bytes) {
      instructions.push_back({address, one});
      address += one.size();
    }
    TracedBlock& block = blocks_[name];
    block.facts = counting_.translate(instructions, &block.instructions);
    CHECK(block.facts != nullptr);
  }

  void run(unsigned thread, const TracedBlock& block, std::istringstream& words) {
    uint64_t times = 1;
    std::vector<Place> places;
    for (std::string word; words >> word;) {
      const size_t plus = word.find('+');
      if (word.front() == 'x') {
        times = parse(word.substr(1), 10);
      } else {
        places.push_back({parse(word.substr(0, plus), 16),
                          plus == std::string::npos ? 0 : parse(word.substr(plus + 1), 10)});
      }
    }
    // It plays in a thread of its own, as in a program: each has a number of its own for the
    // kernel.
    std::thread([&] {
      with_model(counting_, [&]<Model kModel, bool kInTurns>() {
        for (uint64_t i = 0; i < times; ++i) run_once<kModel, kInTurns>(thread, block, places, i);
      });
    }).join();
  }

  template <Model kModel, bool kInTurns>
  void run_once(unsigned thread, const TracedBlock& block, const std::vector<Place>& places,
                uint64_t round) {
    counting_.run_block<kModel, kInTurns>(thread, *block.facts);
    size_t next = 0;
    for (size_t i = 0; i < block.instructions.size(); ++i) {
      const auto& [site, accesses] = block.instructions[i];
      CHECK(accesses.is_known);
      if (accesses.load_bytes == 0 && accesses.store_bytes == 0) continue;
      CHECK(next < places.size());
      const uint64_t address = places[next].address + round * places[next].step;
      ++next;
      const AccessPlace place{site, static_cast<uint16_t>(i),
                              std::max(accesses.load_bytes, accesses.store_bytes)};
      show<kModel>(thread, counting_.access_call(*block.facts, accesses), place, address, accesses);
    }
    CHECK(next == places.size());
  }

  /// What its last instruction does in one round.
  template <Model kModel>
  void run_round(unsigned thread, const TracedBlock& block, std::array<uint64_t, 8>& registers,
                 bool backward) {
    const TranslatedInstruction& last = block.instructions.back();
    const uint8_t bytes = last.accesses.store_bytes;
    CHECK(counting_.access_call(*block.facts, last.accesses) == AccessCall::round);
    const AccessPlace place{last.site, static_cast<uint16_t>(block.instructions.size() - 1), bytes};
    const uint64_t step = backward ? -uint64_t{bytes} : bytes;
    uint64_t& source = registers[kSourceRegister];
    uint64_t& destination = registers[kDestinationRegister];
    uint64_t value = registers[kValueRegister];
    if (last.accesses.load_bytes != 0) {
      counting_.access_of_round<kModel>(thread, place, source, {bytes, false});
      std::memcpy(&value, reinterpret_cast<const void*>(source), bytes);
      source += step;
    }
    counting_.access_of_round<kModel>(thread, place, destination, {bytes, true});
    std::memcpy(reinterpret_cast<void*>(destination), &value, bytes);
    destination += step;
    --registers[kCountRegister];
  }

  template <Model kModel>
  void show(unsigned thread, AccessCall call, AccessPlace place, uint64_t address,
            const KnownAccesses& accesses) {
    if constexpr (kModel.caches && !kModel.sampled) {
      if (call == AccessCall::load) counting_.access_known<kModel, false>(thread, place, address);
      if (call == AccessCall::store) counting_.access_known<kModel, true>(thread, place, address);
    }
    if (call != AccessCall::known) return;
    if (accesses.load_bytes != 0) {
      counting_.access_known<kModel>(thread, place, address, {accesses.load_bytes, false});
    }
    if (accesses.store_bytes != 0) {
      counting_.access_known<kModel>(thread, place, address, {accesses.store_bytes, true});
    }
  }

  Counting counting_;
  std::vector<FoundMapping> mappings_;
  std::map<std::string, TracedBlock> blocks_;
};

}  // namespace culprit::counting
