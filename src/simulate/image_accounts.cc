#include "simulate/image_accounts.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "base/text.h"

namespace culprit {

using counting::ImageState;

namespace {

/// More names would hide what else the ledger has to say.
constexpr uint64_t kMostNamed = 3;

/// Whether it ran anything uncounted. (What has ended before it had a counts file ran nothing.)
bool lacks_counts(const CountsFolder& folder, uint32_t number, const ListedImage& image,
                  bool is_read) {
  if (image.state == ImageState::uncounted) return true;
  const bool has_begun = image.state != ImageState::adding && image.state != ImageState::starting;
  if (!has_begun) return !folder.has_ended(number);
  // An exec is followed by another image, unless the process has been killed on the way, or the
  // engine could not begin.
  if (image.state == ImageState::executing && is_read) {
    return folder.has_ended(number) && !folder.has_newer(number);
  }
  return !is_read;
}

}  // namespace

void ImageAccounts::close(const CountsFolder& folder, Ledger& ledger) const {
  uint64_t missing = 0;
  uint64_t uncounted = 0;
  uint64_t named = 0;
  const auto name = [&](const ListedImage& image, const std::string& what) {
    if (++named > kMostNamed) return;
    ledger.note(fmt::format("{} ({}): {}", printable(image.program), image.pid, what));
  };
  const uint32_t images = folder.count_images();
  for (uint32_t number = 0; number < std::min(images, counting::kMostImages); ++number) {
    const ListedImage image = folder.read_image(number).value_or(ListedImage());
    const auto found = read_.find(number);
    const bool is_read = found != read_.end();
    const Read read = is_read ? found->second : Read();
    const uint64_t counted = std::max(read.counted, read.was_running ? 0 : image.instructions);
    if (lacks_counts(folder, number, image, is_read)) {
      ++uncounted;
      if (counted == 0) name(image, "ran uncounted");
    }
    if (counted <= read.instructions) continue;
    missing += counted - read.instructions;
    name(image,
         fmt::format("{} of {} instructions that it counted could not be read back",
                     format_thousands(counted - read.instructions), format_thousands(counted)));
  }
  if (images > counting::kMostImages) uncounted += images - counting::kMostImages;
  if (missing > 0) ledger.add(ledger::kMissingInstructions, missing);
  if (uncounted > 0) ledger.add(ledger::kUncountedProcesses, uncounted);
}

}  // namespace culprit
