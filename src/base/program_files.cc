#include "base/program_files.h"

#include <algorithm>
#include <cstdlib>
#include <unistd.h>

#include "base/file.h"

namespace culprit {

namespace {

/// The folder that culprit is in, with a slash at its end; "" if unknown.
std::string own_folder() {
  char self[4096];
  const ssize_t length = ::readlink("/proc/self/exe", self, sizeof self);
  if (length <= 0) return {};
  std::string folder(self, static_cast<size_t>(length));
  folder.erase(folder.rfind('/') + 1);
  return folder;
}

std::string find_library(const std::string& name) {
  const std::string folder = own_folder();
  if (folder.empty()) return {};
  for (const std::string& place : {name, "../lib/culprit/" + name}) {
    if (file_exists(folder + place)) return folder + place;
  }
  return {};
}

std::string find_data(const std::string& name) {
  const std::string folder = own_folder();
  if (folder.empty()) return {};
  for (const char* place : {"../share/culprit/", "../../data/"}) {
    const std::string path = folder + place + name;
    if (::access(path.c_str(), R_OK) == 0) return path;
  }
  return {};
}

}  // namespace

std::string find_shim() {
  return find_library("libculprit_timer.so");
}

std::string find_regions_shim() {
  return find_library("libculprit_regions.so");
}

std::string find_experiment_library(std::string_view experiment) {
  std::string name(experiment);
  std::ranges::replace(name, '-', '_');
  return find_library("libculprit_" + name + ".so");
}

std::string find_kernels() {
  return find_library("culprit_kernels");
}

std::string find_machines() {
  return find_data("uarch");
}

std::string find_templates() {
  return find_data("templates");
}

std::string find_scan_presets() {
  return find_data("scan/presets.toml");
}

std::string find_calibration() {
  constexpr const char* kFile = "/culprit/machine.toml";
  if (const char* folder = std::getenv("XDG_CONFIG_HOME"); folder != nullptr && *folder == '/')
    return std::string(folder) + kFile;
  const char* const home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + "/.config" + kFile : "";
}

std::string find_qemu_plugin() {
  return find_library("libculprit_qemu.so");
}

}  // namespace culprit
