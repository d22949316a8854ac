#pragma once

// What answers say of a data object beside its name (attribute/object_names.h): what it is, where
// it is allocated, and what the statement that allocates it assigns it to
// (attribute/allocated_names.h).

#include <cstdint>
#include <string>

#include "attribute/allocated_names.h"
#include "attribute/code_index.h"
#include "attribute/object_names.h"
#include "model/profile.h"

namespace culprit {

struct ObjectWords {
  std::string name;       // as reports have it; never empty
  bool is_named = false;  // the name is that of a data structure (see ObjectNames)
  std::string kind;       // "heap", "variable", "stack", ...; "" where nothing is known
  std::string place;      // of what is allocated: "quake.c:431"; "" where none is known
  std::string kept_in;    // "K[i]"; "" where the source does not tell
  std::string caller;     // of what allocates it: "make_mesh quake.c:40"; "" where none is known
  std::string type;       // of an element
  uint64_t element_bytes = 0;  // 0: not known
  uint64_t size_bytes = 0;     // of each block, or of the whole; 0: not known, or different ones
  uint64_t blocks = 0;         // 0: not counted
  uint64_t total_bytes = 0;    // of blocks
};

class ObjectDescriber {
 public:
  /// `code` must outlive it.
  explicit ObjectDescriber(CodeIndex& code) : code_(code), names_(code), kept_in_(code) {}

  /// Any id may be asked for, also those that name no row.
  ObjectWords describe(ObjectId object);
  bool is_named(ObjectId object) { return names_.is_named(object); }

 private:
  void add_place(const DataObject& object, ObjectWords& words);
  CodeIndex& code_;
  ObjectNames names_;
  AllocatedNames kept_in_;
};

/// Whether the profile says of accesses which object they were to.
bool has_objects(const Profile& profile);

}  // namespace culprit
