#pragma once

// FrameLibrary: the variables in functions' frames, by a shared object that is loaded with the
// first function that is asked for. Without it there are none.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "simulate/objects/frame_source.h"

namespace culprit::counting {

class FrameLibrary {
 public:
  explicit FrameLibrary(std::string path) : path_(std::move(path)) {}

  /// `file`: of the program, or a library; `function`: where it begins in there.
  std::vector<objects::FrameVariable> find_variables(const std::string& file, uint64_t function);

 private:
  std::string path_;
  bool was_loaded_ = false;
  objects::OpenFrameSource open_ = nullptr;
  std::map<std::string, std::unique_ptr<objects::FrameSource>> sources_;  // nullptr: it tells none
};

}  // namespace culprit::counting
