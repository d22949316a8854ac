#include "simulate/counts/tenures_file.h"

#include <cstdio>
#include <cstring>
#include <memory>

#include "base/file.h"

namespace culprit::counting {
namespace {

constexpr uint64_t kLargestTenuresBytes = uint64_t{1} << 30;
constexpr simulate::Level kLevels[] = {simulate::Level::l1d, simulate::Level::l1i,
                                       simulate::Level::l2, simulate::Level::l3};

void add_table(simulate::TenureTable& table, simulate::Level level, uint8_t stratum, Tenures& to) {
  for (const auto& [origin, sums] : table.sites()) {
    to.rows.push_back({origin, level, stratum, {}, sums});
  }
  for (const auto& [key, count] : table.edges()) {
    to.edges.push_back({key, level, stratum, {}, count});
  }
}

template <class T>
bool write_rows(FILE* file, const std::vector<T>& rows) {
  return std::fwrite(rows.data(), sizeof(T), rows.size(), file) == rows.size();
}

/// Takes such rows with their numbers' sizes checked; `at` moves on.
template <class T>
bool take_rows(std::string_view bytes, size_t& at, uint64_t count, std::vector<T>& rows) {
  if (count > (bytes.size() - at) / sizeof(T)) return false;
  rows.resize(count);
  if (count != 0) std::memcpy(rows.data(), bytes.data() + at, count * sizeof(T));
  at += count * sizeof(T);
  return true;
}

}  // namespace

bool write_tenures(const std::string& path, simulate::Hierarchy& hierarchy) {
  hierarchy.finish();
  Tenures tenures;
  for (const auto& core : hierarchy.cores()) {
    for (const simulate::Level level : kLevels) {
      for (uint32_t stratum = 0; stratum < core->strata(level); ++stratum) {
        const auto number = static_cast<uint8_t>(stratum);
        add_table(core->tenures(level, number), level, number, tenures);
      }
    }
  }
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "wxe"), std::fclose);
  const TenuresHeader header{kTenuresMagic, tenures.rows.size(), tenures.edges.size()};
  return file && std::fwrite(&header, sizeof header, 1, file.get()) == 1 &&
         write_rows(file.get(), tenures.rows) && write_rows(file.get(), tenures.edges);
}

Result<Tenures> read_tenures(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string bytes, read_file(path, kLargestTenuresBytes));
  const Error damaged{"'" + path + "' is damaged"};
  TenuresHeader header{};
  if (bytes.size() < sizeof header) return damaged;
  std::memcpy(&header, bytes.data(), sizeof header);
  size_t at = sizeof header;
  Tenures tenures;
  if (header.magic != kTenuresMagic || !take_rows(bytes, at, header.rows, tenures.rows) ||
      !take_rows(bytes, at, header.edges, tenures.edges)) {
    return damaged;
  }
  return tenures;
}

}  // namespace culprit::counting
