#include "perfdata/recorded_places.h"

namespace culprit {

void RecordedPlaces::map_kernel(const MmapRecord& map) {
  (map.mode == Mode::guest_kernel ? guest_kernel_ : kernel_).map(map);
}

Location RecordedPlaces::locate(uint32_t, const CallFrame& frame, const Mapping* mapping) {
  const Location place = locate_by_mappings(frame, mapping);
  return refine_ ? refine_(frame.address, place) : place;
}

Location RecordedPlaces::locate_by_mappings(const CallFrame& frame, const Mapping* mapping) {
  switch (frame.mode) {
    case Mode::kernel:
      return kernel_.locate(frame.address);
    case Mode::guest_kernel:
      return guest_kernel_.locate(frame.address);
    case Mode::guest_user:
      return images_.locate_in_guest(frame.address);
    case Mode::hypervisor:
      return images_.locate_unknown(frame.address);
    case Mode::all:
      if (frame.address >= kKernelHalf) return kernel_.locate(frame.address);
      break;
    case Mode::user:
      break;
  }
  return mapping != nullptr ? images_.locate(*mapping, frame.address)
                            : images_.locate_unknown(frame.address);
}

bool RecordedPlaces::is_unknown(ImageId image) const {
  const Profile& profile = builder_.profile();
  const Image& row = profile.images[image.value];
  return row.kind == ImageKind::unknown && !tells_what_it_is(profile.strings.text(row.path));
}

void RecordedPlaces::set_build_id(const RecordedBuildId& found) {
  images_.set_build_id(found.mode, found.path, found.build_id);
  if (found.mode == Mode::kernel) kernel_.set_build_id(found.path, found.build_id);
  if (found.mode == Mode::guest_kernel) guest_kernel_.set_build_id(found.path, found.build_id);
}

}  // namespace culprit
