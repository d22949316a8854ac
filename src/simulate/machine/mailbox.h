#pragma once

// Mailbox: messages of the coherence protocol to a core: give a line up, or do not write it without
// asking. Anybody posts them at any time; the core itself obeys before its next access.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "simulate/machine/tenure.h"

namespace culprit::simulate {

struct CoherenceMessage {
  enum class Kind : uint8_t {
    invalidate,       // another core writes the line
    downgrade,        // another core reads it
    back_invalidate,  // an inclusive shared level lost it
  };
  Kind kind = Kind::invalidate;
  uint64_t line = 0;
  Origin by;       // whose access it was
  ByteMask bytes;  // that it touched
};

class Mailbox {
 public:
  [[nodiscard]] bool has_messages() const { return has_messages_.load(std::memory_order_relaxed); }

  void post(const CoherenceMessage& message) {
    const std::lock_guard lock(mutex_);
    messages_.push_back(message);
    has_messages_.store(true, std::memory_order_relaxed);
  }

  /// There is something else to do before the next access (HugePages::changes()).
  void wake() {
    const std::lock_guard lock(mutex_);
    has_messages_.store(true, std::memory_order_relaxed);
  }

  /// Takes all messages, oldest first, in exchange for an empty vector to reuse.
  void take(std::vector<CoherenceMessage>& messages) {
    messages.clear();
    const std::lock_guard lock(mutex_);
    std::swap(messages, messages_);
    has_messages_.store(false, std::memory_order_relaxed);
  }

 private:
  std::atomic<bool> has_messages_{false};
  std::mutex mutex_;
  std::vector<CoherenceMessage> messages_;
};

}  // namespace culprit::simulate
