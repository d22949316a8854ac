#include "simulate/counting/frame_library.h"

#include <dlfcn.h>

namespace culprit::counting {

std::vector<objects::FrameVariable> FrameLibrary::find_variables(const std::string& file,
                                                                 uint64_t function) {
  if (!was_loaded_) {
    was_loaded_ = true;
    void* const library = ::dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* const found = library == nullptr ? nullptr : ::dlsym(library, objects::kOpenFrameSource);
    open_ = reinterpret_cast<objects::OpenFrameSource>(found);
  }
  if (open_ == nullptr) return {};
  const auto [source, is_new] = sources_.try_emplace(file);
  if (is_new) source->second.reset(open_(file.c_str()));
  return source->second ? source->second->find_variables(function)
                        : std::vector<objects::FrameVariable>();
}

}  // namespace culprit::counting
