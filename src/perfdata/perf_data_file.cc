#include "perfdata/perf_data_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "perfdata/user_records.h"

namespace culprit {

struct FileSection {
  uint64_t offset = 0;
  uint64_t size = 0;
};

struct FileHeader {
  uint64_t attr_size = 0;  // of one attr and its section of ids
  FileSection attrs;
  FileSection data;
  std::array<uint64_t, kFeatures / 64> features{};
};

namespace {

constexpr std::string_view kMagic = "PERFILE2";
constexpr std::string_view kMagicSwapped = "2ELIFREP";
constexpr std::string_view kMagicOfVersion1 = "PERFFILE";
constexpr uint64_t kPipeHeaderBytes = 16;
constexpr uint64_t kFileHeaderBytes = 104;
constexpr uint64_t kIdSectionBytes = 16;
constexpr uint64_t kMostSectionBytes = uint64_t{64} << 20;

/// Reads exactly `size` bytes: of a pipe, or of a file from where it stands.
Result<void> read_exactly(int fd, std::byte* into, size_t size) {
  size_t filled = 0;
  while (filled < size) {
    const ssize_t got = ::read(fd, into + filled, size - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error("cannot read it", errno);
    if (got == 0) {
      return Error{fmt::format("it ends after {} bytes: not a perf.data file, or cut off", filled)};
    }
    filled += static_cast<size_t>(got);
  }
  return {};
}

Result<std::vector<std::byte>> read_section(int fd, const FileSection& section, uint64_t file_bytes,
                                            std::string_view what) {
  if (section.offset > file_bytes || section.size > file_bytes - section.offset) {
    return Error{fmt::format("its {} ({} bytes at {}) are not within its {} bytes", what,
                             section.size, section.offset, file_bytes)};
  }
  if (section.size > kMostSectionBytes) {
    return Error{fmt::format("its {} take {} bytes: more than is plausible", what, section.size)};
  }
  std::vector<std::byte> bytes(section.size);
  size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = ::pread(fd, bytes.data() + filled, bytes.size() - filled,
                                static_cast<off_t>(section.offset + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error("cannot read it", errno);
    if (got == 0) return Error{fmt::format("its {} are cut off", what)};
    filled += static_cast<size_t>(got);
  }
  return bytes;
}

Result<std::endian> parse_magic(std::span<const std::byte> bytes) {
  const std::string_view magic(reinterpret_cast<const char*>(bytes.data()), kMagic.size());
  constexpr bool is_little = std::endian::native == std::endian::little;
  if (magic == kMagic) return is_little ? std::endian::little : std::endian::big;
  if (magic == kMagicSwapped) return is_little ? std::endian::big : std::endian::little;
  if (magic == kMagicOfVersion1) {
    return Error{
        "it has the format of perf before Linux 2.6.34, which no tool of today reads; record it "
        "again with a later perf"};
  }
  return Error{"it is not a perf.data file (it does not begin with PERFILE2)"};
}

Result<std::vector<uint64_t>> take_ids(std::span<const std::byte> bytes, std::endian order) {
  constexpr size_t kMostIds = 1 << 20;
  if (bytes.size() / sizeof(uint64_t) > kMostIds) {
    return Error{fmt::format("an event has {} ids: more than is plausible",
                             bytes.size() / sizeof(uint64_t))};
  }
  ByteReader in(bytes, order);
  std::vector<uint64_t> ids;
  while (in.remaining() >= sizeof(uint64_t)) ids.push_back(in.take<uint64_t>().value_or(0));
  return ids;
}

/// The feature map is one of longs: 32-bit machines of the other byte order have its halves
/// the other way round. Every perf.data has a host name; that tells.
void repair_feature_order(std::array<uint64_t, kFeatures / 64>& features) {
  constexpr uint64_t kHostName = uint64_t{1} << static_cast<uint32_t>(Feature::host_name);
  if ((features[0] & kHostName) != 0 || (features[0] >> 32 & kHostName) == 0) return;
  for (uint64_t& word : features) word = word >> 32 | word << 32;
}

Result<FileHeader> parse_file_header(std::span<const std::byte> bytes, std::endian order) {
  ByteReader in(bytes, order);
  FileHeader header;
  const auto section = [&in](FileSection& into) -> Result<void> {
    ASSIGN_OR_RETURN(into.offset, in.take<uint64_t>());
    ASSIGN_OR_RETURN(into.size, in.take<uint64_t>());
    return {};
  };
  FileSection event_types;  // obsolete
  RETURN_IF_ERROR(in.take_bytes(kPipeHeaderBytes));
  ASSIGN_OR_RETURN(header.attr_size, in.take<uint64_t>());
  RETURN_IF_ERROR(section(header.attrs));
  RETURN_IF_ERROR(section(header.data));
  RETURN_IF_ERROR(section(event_types));
  for (uint64_t& word : header.features) {
    ASSIGN_OR_RETURN(word, in.take<uint64_t>());
  }
  if (order != std::endian::native) repair_feature_order(header.features);
  return header;
}

}  // namespace

PerfDataFile::PerfDataFile(Fd fd, std::endian order)
    : fd_(std::move(fd)), order_(order), records_(fd_.get(), UINT64_MAX, order, kPipeHeaderBytes) {}

Result<PerfDataFile> PerfDataFile::open(RecordingInput input) {
  const auto failed = [&](const Error& error) {
    return Error{fmt::format("cannot import {}: {}", input.name, error.message)};
  };
  if (input.head.size() < kPipeHeaderBytes) {
    return failed(Error{fmt::format("it ends after {} bytes: not a perf.data file, or cut off",
                                    input.head.size())});
  }
  const bool is_file = input.is_file;
  const auto head_bytes_read = std::as_bytes(std::span(input.head));
  std::vector<std::byte> head(head_bytes_read.begin(), head_bytes_read.end());
  const Result<std::endian> order = parse_magic(head);
  if (!order) return failed(order.error());
  const uint64_t head_bytes =
      ByteReader(std::span(head).subspan(kMagic.size()), *order).take<uint64_t>().value_or(0);
  PerfDataFile file(std::move(input.fd), *order);
  file.consumed_before_ = kPipeHeaderBytes;
  file.total_bytes_ = input.size_bytes;
  if (head_bytes == kPipeHeaderBytes) return file;

  if (head_bytes < kFileHeaderBytes) {
    return failed(Error{fmt::format("its header says a size of {} bytes, {} expected", head_bytes,
                                    kFileHeaderBytes)});
  }
  if (!is_file) {
    return failed(
        Error{"it has the form of a file, which cannot be read through a pipe; name the "
              "file, or record with 'perf record -o -'"});
  }
  head.resize(kFileHeaderBytes);
  if (const auto read = read_exactly(file.fd_.get(), head.data() + kPipeHeaderBytes,
                                     kFileHeaderBytes - kPipeHeaderBytes);
      !read) {
    return failed(read.error());
  }
  const Result<FileHeader> header = parse_file_header(head, *order);
  if (!header) return failed(header.error());
  if (const auto read = file.read_header(*header); !read) return failed(read.error());
  return file;
}

Result<void> PerfDataFile::read_header(const FileHeader& header) {
  RETURN_IF_ERROR(read_attributes(header));
  FileSection data = header.data;
  if (data.offset > total_bytes_) {
    return Error{
        fmt::format("its records begin at {}, after its end at {}", data.offset, total_bytes_)};
  }
  const uint64_t room = total_bytes_ - data.offset;
  is_unfinished_ = data.size == 0;  // perf writes the size at its end
  if (is_unfinished_) data.size = room;
  if (!is_unfinished_ && data.size <= room) read_features(header);
  if (::lseek(fd_.get(), static_cast<off_t>(data.offset), SEEK_SET) < 0) {
    return errno_error("cannot read it", errno);
  }
  records_ = RecordStream(fd_.get(), data.size, order_, data.offset);
  consumed_before_ = data.offset;
  return {};
}

Result<void> PerfDataFile::read_attributes(const FileHeader& header) {
  if (header.attr_size < PERF_ATTR_SIZE_VER0 + kIdSectionBytes || header.attr_size > UINT16_MAX) {
    return Error{fmt::format("its header says that an event takes {} bytes", header.attr_size)};
  }
  ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                   read_section(fd_.get(), header.attrs, total_bytes_, "events"));
  const size_t attr_bytes = header.attr_size - kIdSectionBytes;
  for (size_t at = 0; at + header.attr_size <= bytes.size(); at += header.attr_size) {
    const auto entry = std::span<const std::byte>(bytes).subspan(at, header.attr_size);
    ByteReader in(entry.subspan(attr_bytes), order_);
    FileSection section;
    ASSIGN_OR_RETURN(section.offset, in.take<uint64_t>());
    ASSIGN_OR_RETURN(section.size, in.take<uint64_t>());
    ASSIGN_OR_RETURN(const auto id_bytes,
                     read_section(fd_.get(), section, total_bytes_, "event ids"));
    ASSIGN_OR_RETURN(const auto ids, take_ids(id_bytes, order_));
    RETURN_IF_ERROR(attributes_.add(entry.first(attr_bytes), ids, order_));
  }
  if (attributes_.events().empty()) return Error{"it has no events"};
  return {};
}

/// The table of sections lies behind the records, in the order of the features' bits.
void PerfDataFile::read_features(const FileHeader& header) {
  FileSection table{header.data.offset + header.data.size, 0};
  std::vector<Feature> features;
  for (uint32_t bit = 0; bit < kFeatures; ++bit) {
    if ((header.features[bit / 64] >> bit % 64 & 1) != 0) features.push_back(Feature{bit});
  }
  table.size = features.size() * sizeof(FileSection);
  const auto bytes = read_section(fd_.get(), table, total_bytes_, "features");
  if (!bytes) {
    damaged_records_ += features.size();
    return;
  }
  ByteReader in(*bytes, order_);
  std::vector<std::pair<Feature, FileSection>> sections;
  for (const Feature feature : features) {
    FileSection section;
    section.offset = in.take<uint64_t>().value_or(0);
    section.size = in.take<uint64_t>().value_or(0);
    sections.emplace_back(feature, section);
  }
  // Names in event descriptions are better than those of the tracing data, which comes first.
  std::stable_partition(sections.begin(), sections.end(),
                        [](const auto& one) { return one.first != Feature::tracing_data; });
  for (const auto& [feature, section] : sections) {
    const auto content = read_section(fd_.get(), section, total_bytes_, "feature");
    if (!content || !parse_feature(feature, *content, order_, facts_, attributes_)) {
      ++damaged_records_;
    }
  }
}

Result<void> PerfDataFile::handle_attribute(const RawRecord& record) {
  const auto body = record.bytes.subspan(RecordHeader::kBytes);
  ASSIGN_OR_RETURN(const uint32_t size, parse_attr_size(body, order_));
  if (size > body.size()) {
    return Error{fmt::format("an event's attribute says a size of {} bytes, where {} are", size,
                             body.size())};
  }
  ASSIGN_OR_RETURN(const auto ids, take_ids(body.subspan(size), order_));
  return attributes_.add(body.first(size), ids, order_);
}

/// What perf wrote between the kernel's records; true: the caller wants to see it.
Result<bool> PerfDataFile::handle(const RawRecord& record) {
  const auto body = record.bytes.subspan(RecordHeader::kBytes);
  ByteReader in(body, order_);
  Result<void> parsed;
  switch (static_cast<UserRecord>(record.header.type)) {
    case UserRecord::finished_round:
    case UserRecord::counted:
    case UserRecord::counting_round:
      return true;
    case UserRecord::attribute:
      RETURN_IF_ERROR(handle_attribute(record));
      return false;
    case UserRecord::tracing_data: {
      ASSIGN_OR_RETURN(const uint32_t size, in.take<uint32_t>());
      // Padded to 8 bytes.
      ASSIGN_OR_RETURN(const auto data, records_.take((uint64_t{size} + 7) / 8 * 8));
      parse_tracing_data(data, order_, attributes_);
      return false;
    }
    case UserRecord::auxtrace: {
      ASSIGN_OR_RETURN(const uint64_t size, in.take<uint64_t>());
      aux_bytes_ += size;
      RETURN_IF_ERROR(records_.skip(size));
      return false;
    }
    case UserRecord::build_id:
      if (Result<RecordedBuildId> found = parse_build_id(record.bytes, order_)) {
        facts_.build_ids.push_back(*std::move(found));
      } else {
        parsed = found.error();
      }
      break;
    case UserRecord::event_update:
      parsed = parse_event_update(body, order_, attributes_);
      break;
    case UserRecord::feature:
      if (const Result<uint64_t> feature = in.take<uint64_t>(); !feature) {
        parsed = feature.error();
      } else if (*feature < kFeatures) {
        parsed = parse_feature(Feature{static_cast<uint32_t>(*feature)},
                               body.subspan(sizeof(uint64_t)), order_, facts_, attributes_);
      }
      break;
    default:
      break;
  }
  if (!parsed) ++damaged_records_;
  return false;
}

Result<std::optional<RawRecord>> PerfDataFile::next() {
  while (true) {
    ASSIGN_OR_RETURN(std::optional<RawRecord> record, records_.next());
    if (!record || record->header.type < kFirstUserRecord) return record;
    ASSIGN_OR_RETURN(const bool is_wanted, handle(*record));
    if (is_wanted) return record;
  }
}

}  // namespace culprit
