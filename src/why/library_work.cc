#include "why/library_work.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "attribute/code_index.h"
#include "attribute/variant_family.h"
#include "model/counts.h"
#include "why/kernel_time.h"
#include "why/own_code.h"

namespace culprit {
namespace {

constexpr LibraryKind kLibraryKinds[] = {
    {"locale_order", "text compared by a locale",
     "strcoll and its like follow a language's rules of order, character by character.",
     "LC_ALL=C (or LC_COLLATE=C) in the environment compares bytes, where that order will do. In "
     "code: strcmp; or strxfrm, once per text that is compared often."},
    {"locale_characters", "characters of several bytes",
     "Text is converted between bytes and wide characters, or classified, one character at a time.",
     "LC_ALL=C (or LC_CTYPE=C) in the environment takes bytes as characters, where the text is "
     "ASCII or need not be understood. In code: pass ASCII by, convert whole texts."},
    {"stream_characters", "streams read or written by character",
     "A C stream is called for each character, and locks itself each time.",
     "getc_unlocked and putc_unlocked are inlined (flockfile around the loop, where threads share "
     "the stream); getline, fread and fwrite take many at a time."},
    {"random_numbers", "random numbers of the C library",
     "rand and random lock one state that all threads share, for 31 bits each.",
     "A generator of the program's own that can be inlined: xoshiro, pcg, std::minstd_rand; one "
     "for each thread."},
    {"time_zones", "times of day by a time zone",
     "localtime, mktime and strftime look for the rules of the time zone, and apply them, each "
     "time.",
     "TZ=:/etc/localtime in the environment keeps glibc from asking for the file each time; "
     "localtime_r does, too. In code: gmtime, or one conversion for each hour."},
    {"text_lengths", "lengths of texts",
     "strlen reads a text to its end, each time that it is called.",
     "Call it once, outside of the loop (a loop's condition calls it each time round), and keep "
     "the "
     "length beside the text.",
     true},
    {"text_searches", "texts searched and compared",
     "The C library reads texts from their beginnings, each time that it is called.",
     "Search once, outside of the loop, and keep what was found; go on from there (strtok's and "
     "strcat's loops begin anew). Compare lengths or hash values first; a hash table instead of a "
     "comparison with each.",
     true},
};

struct LibraryName {
  std::string_view text;
  std::string_view key;
};

constexpr LibraryName kLibraryNames[] = {
    {"strcoll", "locale_order"},
    {"strcoll_l", "locale_order"},
    {"strxfrm", "locale_order"},
    {"strxfrm_l", "locale_order"},
    {"wcscoll", "locale_order"},
    {"wcscoll_l", "locale_order"},
    {"wcsxfrm", "locale_order"},
    {"wcsxfrm_l", "locale_order"},
    {"mbrtowc", "locale_characters"},
    {"mbrtoc32", "locale_characters"},
    {"mbrtoc16", "locale_characters"},
    {"mbrlen", "locale_characters"},
    {"mblen", "locale_characters"},
    {"mbtowc", "locale_characters"},
    {"mbstowcs", "locale_characters"},
    {"mbsrtowcs", "locale_characters"},
    {"mbsrtowcs_l", "locale_characters"},
    {"mbsnrtowcs", "locale_characters"},
    {"wcrtomb", "locale_characters"},
    {"wctomb", "locale_characters"},
    {"wcstombs", "locale_characters"},
    {"wcsrtombs", "locale_characters"},
    {"wcsnrtombs", "locale_characters"},
    {"btowc", "locale_characters"},
    {"wctob", "locale_characters"},
    {"towlower", "locale_characters"},
    {"towupper", "locale_characters"},
    {"towlower_l", "locale_characters"},
    {"towupper_l", "locale_characters"},
    {"towctrans", "locale_characters"},
    {"iswctype", "locale_characters"},
    {"iswctype_l", "locale_characters"},
    {"iswalpha", "locale_characters"},
    {"iswalnum", "locale_characters"},
    {"iswspace", "locale_characters"},
    {"iswprint", "locale_characters"},
    {"iswupper", "locale_characters"},
    {"iswlower", "locale_characters"},
    {"iswdigit", "locale_characters"},
    {"iswpunct", "locale_characters"},
    {"gconv_transform_utf8", "locale_characters"},
    {"gconv_transform_internal_utf8", "locale_characters"},
    {"gconv_transform_utf8_internal", "locale_characters"},
    {"gconv_transform_ascii", "locale_characters"},
    {"gconv_transform_internal_ascii", "locale_characters"},
    {"gconv_btwoc_ascii", "locale_characters"},
    {"strlen", "text_lengths"},
    {"strnlen", "text_lengths"},
    {"wcslen", "text_lengths"},
    {"wcsnlen", "text_lengths"},
    {"rawmemchr", "text_lengths"},
    {"memchr", "text_searches"},
    {"memrchr", "text_searches"},
    {"strchr", "text_searches"},
    {"strrchr", "text_searches"},
    {"strchrnul", "text_searches"},
    {"strstr", "text_searches"},
    {"strpbrk", "text_searches"},
    {"strspn", "text_searches"},
    {"strcspn", "text_searches"},
    {"strcmp", "text_searches"},
    {"strncmp", "text_searches"},
    {"strcasecmp", "text_searches"},
    {"strncasecmp", "text_searches"},
    {"strcasecmp_l", "text_searches"},
    {"strncasecmp_l", "text_searches"},
    {"strcat", "text_searches"},
    {"getc", "stream_characters"},
    {"fgetc", "stream_characters"},
    {"getchar", "stream_characters"},
    {"putc", "stream_characters"},
    {"fputc", "stream_characters"},
    {"putchar", "stream_characters"},
    {"getwc", "stream_characters"},
    {"fgetwc", "stream_characters"},
    {"getwchar", "stream_characters"},
    {"putwc", "stream_characters"},
    {"fputwc", "stream_characters"},
    {"putwchar", "stream_characters"},
    {"rand", "random_numbers"},
    {"random", "random_numbers"},
    {"random_r", "random_numbers"},
    {"drand48", "random_numbers"},
    {"erand48", "random_numbers"},
    {"lrand48", "random_numbers"},
    {"nrand48", "random_numbers"},
    {"mrand48", "random_numbers"},
    {"jrand48", "random_numbers"},
    {"erand48_r", "random_numbers"},
    {"nrand48_r", "random_numbers"},
    {"drand48_iterate", "random_numbers"},
    {"tzset", "time_zones"},
    {"tzset_internal", "time_zones"},
    {"tz_convert", "time_zones"},
    {"tz_compute", "time_zones"},
    {"tzfile_read", "time_zones"},
    {"tzfile_compute", "time_zones"},
    {"localtime", "time_zones"},
    {"localtime_r", "time_zones"},
    {"mktime", "time_zones"},
    {"offtime", "time_zones"},
};

/// "strcoll_l" of "__GI___strcoll_l"; "wcrtomb" of "__wcrtomb_internal".
std::string_view strip_library_name(std::string_view name) {
  name = name.substr(0, name.find('@'));
  for (const std::string_view prefix : {"__GI_", "__libc_", "_IO_"}) {
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  }
  while (name.starts_with('_')) name.remove_prefix(1);
  return name;
}

const LibraryKind* find_library_name(std::string_view name) {
  const auto word = std::ranges::find(kLibraryNames, name, &LibraryName::text);
  return word == std::end(kLibraryNames)
             ? nullptr
             : &*std::ranges::find(kLibraryKinds, word->key, &LibraryKind::key);
}

struct LibrarySums {
  double value = 0;
  uint64_t samples = 0;
  std::map<std::string, double> functions;
  std::set<std::string> all_functions;
};

}  // namespace

const LibraryKind* find_library_kind(std::string_view function) {
  constexpr std::string_view kInternal = "_internal";
  const std::string_view name = strip_library_name(function);
  if (const LibraryKind* const kind = find_library_name(name)) return kind;
  // "__strlen_evex": one of several for the instructions that CPUs have.
  if (const LibraryKind* const kind = find_library_name(find_variant_family(function))) return kind;
  return name.ends_with(kInternal)
             ? find_library_name(name.substr(0, name.size() - kInternal.size()))
             : nullptr;
}

std::vector<LibraryPart> find_library_work(const Profile& profile, const FactsLookup& facts) {
  std::vector<LibraryPart> parts;
  const std::optional<size_t> event = find_time_event(profile);
  if (!event) return parts;
  CodeIndex code(profile, facts);
  double all = 0;
  uint64_t all_samples = 0;
  std::map<const LibraryKind*, LibrarySums> kinds;
  for (const Histogram& histogram : profile.histograms) {
    const CodeOwner owner = find_code_owner(code, histogram.image);
    for_each_count(profile, histogram, [&](const Location& place, size_t of, const Sum& sum) {
      if (of != *event) return;
      const Value value = to_value(profile.events[of], sum);
      all += value.value;
      all_samples += value.samples;
      if (owner == CodeOwner::kernel) return;
      // The outermost frame is the function that was compiled; others are inlined into it.
      const std::vector<Frame> frames = code.frames(place);
      if (frames.empty()) return;
      const std::string& function = code.facts(place.image)->strings.text(frames.back().function);
      const bool is_stub = function.ends_with("@plt");  // where the program calls it
      const LibraryKind* const kind =
          owner == CodeOwner::library || is_stub ? find_library_kind(function) : nullptr;
      if (kind == nullptr || value.samples == 0) return;
      LibrarySums& sums = kinds[kind];
      sums.value += value.value;
      sums.samples += value.samples;
      if (!is_stub) sums.functions[function] += value.value;
      for (const Frame& frame : frames) {
        sums.all_functions.insert(code.facts(place.image)->strings.text(frame.function));
      }
    });
  }
  for (const auto& [kind, sums] : kinds) {
    if (sums.functions.empty() || !(all > 0)) continue;  // stubs alone are not the library
    LibraryPart& part = parts.emplace_back();
    part.kind = kind;
    part.share.value = sums.value / all;
    part.share.standard_error = part.share.value / std::sqrt(static_cast<double>(sums.samples));
    part.samples = sums.samples;
    part.all_samples = all_samples;
    const auto most =
        std::ranges::max_element(sums.functions, {}, [](const auto& one) { return one.second; });
    part.all_functions = sums.all_functions;
    part.function = most->first;
    part.function_share = most->second / sums.value;
  }
  std::ranges::sort(parts, std::greater(), [](const LibraryPart& one) { return one.share.value; });
  return parts;
}

}  // namespace culprit
