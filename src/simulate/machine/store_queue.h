#pragma once

// StoreQueue: stores between their dispatch and L1D, in order; and StoredValues: what they have on
// their way there, by the words of eight bytes that they write, for loads to find.
//
//     store 8 bytes at 0x100 ─→ queue ─→ L1D      a load of 0x100 meanwhile gets the store's value;
//                                                 one of 0x0fc to 0x103 is refused: no store has
//                                                 all of it, so that it waits until this one left

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulate/machine/cycles.h"
#include "simulate/machine/machine.h"

namespace culprit::simulate {

class StoreQueue {
 public:
  struct Store {
    Ticks leaves = 0;   // the queue, for L1D
    Ticks retires = 0;  // when it and all before it are done
    Site site = 0;
  };

  explicit StoreQueue(const CoreSettings& core)
      : ring_(core.store_queue), apart_(kTicksPerCycle / core.stores_per_cycle) {}

  /// The slot for a store that is dispatched. It still has the store that must have left before.
  Store& next() {
    Store& slot = ring_[next_];
    next_ = next_ + 1 == ring_.size() ? 0 : next_ + 1;
    return slot;
  }
  /// When the slot's store leaves, if its line can be written at `owned`: stores leave in order,
  /// so many a cycle.
  void send(Store& slot, Ticks owned) {
    slot.leaves = std::max({last_leaves_ + apart_, owned, slot.retires});
    last_leaves_ = slot.leaves;
  }

 private:
  std::vector<Store> ring_;
  size_t next_ = 0;
  const Ticks apart_;
  Ticks last_leaves_ = 0;
};

class StoredValues {
 public:
  /// What is known of a word: the last store to it, and what stores before that one wrote.
  struct Word {
    uint64_t word = 0;
    Ticks ready = 0;     // the last value
    Ticks leaves = 0;    // its store, for L1D
    uint32_t store = 0;  // its number
    uint8_t bytes = 0;   // that it writes, a bit each
    uint8_t older = 0;   // the others, that stores before it write
  };
  /// Where a load has its value from.
  struct Source {
    uint32_t store = 0;  // 0: not from one
    Ticks ready = 0;
    Ticks leaves = 0;
    bool is_refused = false;  // no store has all of it
    bool is_start = false;    // what the store wrote begins where the load does
  };

  /// `compares_pages`: a core that compares the low twelve bits of addresses takes a word at the
  /// same place of another page for this one, at first.
  explicit StoredValues(bool compares_pages)
      : compared_(compares_pages ? kWordsInPage - 1 : ~uint64_t{0}) {}

  static uint64_t word_of(uint64_t address) { return address / 8; }

  /// Whether a store that has not left at `now` wrote the word, or one that is taken for it.
  [[nodiscard]] bool may_hold(uint64_t address, Ticks now) const {
    const Word& known = at(address);
    return known.leaves > now && ((known.word ^ word_of(address)) & compared_) == 0;
  }
  /// What is known of the word at `address`, or of another at its place: compare `word`.
  [[nodiscard]] const Word& at(uint64_t address) const {
    return words_[word_of(address) % words_.size()];
  }
  [[nodiscard]] bool knows(uint64_t address) const { return at(address).word == word_of(address); }

  /// A store begins, whose parts add() then tells.
  void begin_store(Ticks ready, Ticks leaves) {
    last_.ready = ready;
    last_.leaves = leaves;
    ++last_.store;
  }
  void add(uint64_t address, uint32_t bytes, Ticks now) {
    for (uint64_t word = word_of(address); word <= word_of(address + bytes - 1); ++word) {
      Word& known = words_[word % words_.size()];
      const bool is_under_way = known.word == word && known.leaves > now;
      const int before = is_under_way ? known.bytes | known.older : 0;
      known = last_;
      known.word = word;
      known.bytes = bytes_in_word(word, address, bytes);
      known.older = static_cast<uint8_t>(before & ~known.bytes);
    }
  }

  /// The stores that have not left at `now` and wrote these bytes.
  [[nodiscard]] Source find_source(uint64_t address, uint32_t bytes, Ticks now) const {
    Source source;
    for (uint64_t word = word_of(address); word <= word_of(address + bytes - 1); ++word) {
      const Word& known = words_[word % words_.size()];
      const int wanted = bytes_in_word(word, address, bytes);
      const bool is_pending = known.word == word && known.leaves > now;
      const int last = is_pending ? known.bytes : 0;
      const int older = is_pending ? known.older : 0;
      const uint32_t store = (wanted & (last | older)) == 0 ? 0 : known.store;
      const bool has_all = (wanted & ~last) == 0 || (wanted & ~older) == 0;
      const bool is_first = word == word_of(address);
      source.is_refused |= (store != 0 && !has_all) || (!is_first && store != source.store);
      if (is_first)
        source.is_start = std::countr_zero(unsigned(last)) == std::countr_zero(unsigned(wanted));
      if (store == 0) continue;
      source.store = store;
      source.ready = std::max(source.ready, known.ready);
      source.leaves = std::max(source.leaves, known.leaves);
    }
    return source;
  }

 private:
  static constexpr uint64_t kWordsInPage = 4096 / 8;

  /// The bytes of a word that [address, address + bytes) has, a bit each.
  static uint8_t bytes_in_word(uint64_t word, uint64_t address, uint32_t bytes) {
    const uint64_t begin = std::max(word * 8, address);
    const uint64_t end = std::min(word * 8 + 8, address + bytes);
    return static_cast<uint8_t>(((1U << (end - begin)) - 1) << (begin - word * 8));
  }

  std::array<Word, 64> words_{};  // by address
  Word last_;                     // of the last store
  uint64_t compared_;             // bits of words by which loads find stores
};

}  // namespace culprit::simulate
