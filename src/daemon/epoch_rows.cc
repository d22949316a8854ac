#include "daemon/epoch_rows.h"

#include <algorithm>

namespace culprit {

namespace {

/// The number of the row that equals `row`, which is added where there is none.
template <class IdType, class Row>
IdType intern_row(std::vector<Row>& rows, const Row& row) {
  const auto known = std::find(rows.begin(), rows.end(), row);
  const IdType id(static_cast<size_t>(known - rows.begin()));
  if (known == rows.end()) rows.push_back(row);
  return id;
}

}  // namespace

ProcessId intern_process(ProfileBuilder& epoch, std::string_view name) {
  const StringId name_id = epoch.intern(name);
  return intern_row<ProcessId>(epoch.profile().processes, Process{epoch.run_id(), 0, 0, name_id});
}

ImageId intern_image(ProfileBuilder& epoch, Image image, std::string_view path) {
  image.path = epoch.intern(path);
  return intern_row<ImageId>(epoch.profile().images, image);
}

}  // namespace culprit
