#pragma once

// ImageAccounts: whether all is there. What each process image has counted, by its own word, is
// held against what was read of its counts file into the profile; and of each image that the list
// has (counts/process_images.h) something must have been read. What is missing goes into the
// ledger, with the names of some of those that lack.

#include <cstdint>
#include <map>
#include <string>

#include "model/ledger.h"
#include "simulate/counts_folder.h"

namespace culprit {

class ImageAccounts {
 public:
  /// What of one image is in the profile.
  struct Read {
    uint64_t instructions = 0;  // added to the profile
    uint64_t counted = 0;       // by its threads' own sums, in its counts file
    bool was_running = false;   // it has counted on since
  };
  void add(uint32_t image, const Read& read) { read_[image] = read; }

  /// Closes the accounts at the end, of all images that the folder's list has.
  void close(const CountsFolder& folder, Ledger& ledger) const;

 private:
  std::map<uint32_t, Read> read_;  // by number in the list
};

}  // namespace culprit
