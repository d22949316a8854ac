#include "collect/stream/live_images.h"

namespace culprit {

FileKey LiveImages::intern(const MmapRecord& map, bool) {
  jit_.note_mapping(map.pid, map.path);
  return files_.intern(map);
}

std::optional<ImageId> LiveImages::find_image(uint32_t pid, const Mapping& mapping) {
  const auto place = files_.locate(pid, mapping, mapping.start, builder_);
  return place ? std::optional(place->image) : std::nullopt;
}

Location LiveImages::locate(uint32_t pid, const CallFrame& frame, const Mapping* mapping) {
  const FileOffset unmapped(frame.address.value);
  if (frame.mode == Mode::kernel) return kernel_.locate(frame.address, builder_);
  if (frame.mode == Mode::guest_kernel)
    return {place_holder(guest_kernel_, kGuestKernelPath), unmapped};
  if (frame.mode == Mode::guest_user) return {place_holder(guest_user_, kGuestUserPath), unmapped};
  if (mapping != nullptr) {
    const auto location = files_.locate(pid, *mapping, frame.address, builder_);
    if (location) return *location;
  }
  jit_.watch(pid);
  return {ImageId(), unmapped};
}

Location LiveImages::locate_now(uint32_t pid, const CallFrame& frame, const Mapping* mapping) {
  const Location place = locate(pid, frame, mapping);
  if (!place.image.is_all()) return place;
  return {image_of_unnamed(mapping != nullptr), place.offset};
}

void LiveImages::forget(uint32_t pid) {
  if (!jit_.is_watched(pid)) return;
  jit_.refresh(pid);
  end_names_(pid);
  jit_.forget(pid);
}

ImageId LiveImages::place_holder(ImageId& image, std::string_view path) {
  if (!image.is_all()) return image;
  Profile& profile = builder_.profile();
  Image row;
  row.path = builder_.intern(path);
  image = ImageId(profile.images.size());
  profile.images.push_back(row);
  return image;
}

ImageId LiveImages::image_of_unnamed(bool is_mapped) {
  return is_mapped ? place_holder(anonymous_, kAnonymousPath) : place_holder(unknown_, "[unknown]");
}

std::vector<std::pair<ImageId, ImageFacts>> LiveImages::release_facts() {
  std::vector<std::pair<ImageId, ImageFacts>> all = jit_.release_facts();
  for (auto& facts : kernel_.release_facts()) all.push_back(std::move(facts));
  return all;
}

}  // namespace culprit
