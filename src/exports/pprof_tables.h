#pragma once

// The tables of a profile.proto that samples refer to: strings, mappings, functions,
// locations. Rows are numbered from 1 in order of their first use; 0 is "none".
//
// A location's address is its link address, as objdump prints it, and a mapping is the
// loaded part of its file at link addresses: address - memory_start + file_offset is the
// place in the file, whatever the run's own addresses were.

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "attribute/code_index.h"

namespace culprit {

class PprofTables {
 public:
  explicit PprofTables(CodeIndex& code) : code_(code) { string(""); }

  /// Row of the string table. What is no printable UTF-8 becomes '?'.
  int64_t string(std::string_view text);
  uint64_t mapping(ImageId image);
  uint64_t location(const Location& location);

  /// Appends the tables to a serialised Profile message.
  void write(std::string& message);

 private:
  struct Mapping {
    ImageId image;
    FileOffset lowest{UINT64_MAX};  // of the locations in it
    FileOffset highest;
    bool functions = false, files = false, lines = false, inlined = false;
  };
  struct Function {
    int64_t name = 0, system_name = 0, file = 0;
    int64_t line = 0;  // of its declaration
    friend auto operator<=>(const Function&, const Function&) = default;
  };
  struct Line {
    uint64_t function = 0;
    int64_t line = 0;
  };
  struct PlacedLocation {
    uint64_t mapping = 0;
    uint64_t address = 0;
    std::vector<Line> lines;  // innermost first
  };

  uint64_t function(const Function& row);
  std::vector<Line> lines(const Location& at, Mapping* mapping);
  void write_mapping(std::string& message, uint64_t id, const Mapping& mapping);
  void write_location(std::string& message, uint64_t id, const PlacedLocation& location);
  void write_function(std::string& message, uint64_t id, const Function& function);

  CodeIndex& code_;
  std::unordered_map<std::string, int64_t> string_ids_;
  std::vector<std::string> strings_;
  std::map<ImageId, uint64_t> mapping_ids_;
  std::vector<Mapping> mappings_;
  std::map<Function, uint64_t> function_ids_;
  std::vector<Function> functions_;
  std::map<Location, uint64_t> location_ids_;
  std::vector<PlacedLocation> locations_;
};

}  // namespace culprit
