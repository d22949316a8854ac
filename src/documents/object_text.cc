#include "documents/object_text.h"

#include "base/result.h"

namespace culprit {

std::string dump_compact(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

ObjectText::ObjectText(const Json& first) : text_(dump_compact(first)) {
  CHECK(first.is_object() && !first.empty());
  text_.pop_back();
}

void ObjectText::append(const Json& value) {
  text_ += dump_compact(value);
}

void ObjectText::append(const std::string& value) {
  text_ += dump_compact(value);
}

}  // namespace culprit
