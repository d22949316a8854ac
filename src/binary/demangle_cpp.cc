#include "binary/demangle_cpp.h"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cxxabi.h>
#include <deque>
#include <llvm/Demangle/ItaniumDemangle.h>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "binary/c_text.h"

namespace culprit {
namespace {

namespace tree = llvm::itanium_demangle;

/// Owns the nodes of one parse. They are trivially destructible, as LLVM makes them.
class Arena {
 public:
  void reset() { blocks_.clear(), left_ = 0; }
  template <class Node, class... Args>
  Node* makeNode(Args&&... args) {
    return new (allocate(sizeof(Node))) Node(std::forward<Args>(args)...);
  }
  void* allocateNodeArray(size_t count) { return allocate(count * sizeof(tree::Node*)); }

 private:
  void* allocate(size_t bytes) {
    bytes = (bytes + kAlign - 1) / kAlign * kAlign;
    if (bytes > left_) {
      left_ = std::max(bytes, kBlockBytes);
      blocks_.push_back(std::make_unique<std::byte[]>(left_));
      next_ = blocks_.back().get();
    }
    left_ -= bytes;
    return std::exchange(next_, next_ + bytes);
  }

  static constexpr size_t kAlign = alignof(std::max_align_t);
  static constexpr size_t kBlockBytes = 4096;
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::byte* next_ = nullptr;
  size_t left_ = 0;
};

/// A bound on how long a node is in print.
struct Printed {
  uint64_t bytes = 0;
  uint64_t longest_list = 1;  // below the node: how often a pack expansion may repeat

  void add(uint64_t more) { bytes = std::min(bytes + more, kMany); }
  void add(const Printed& child) {
    add(child.bytes);
    longest_list = std::max(longest_list, child.longest_list);
  }
  static constexpr uint64_t kMany = uint64_t{1} << 30;
};

class PrintedSizes {
 public:
  Printed of(const tree::Node* node) {
    if (node == nullptr) return {};
    // Met again while unfinished: a name that contains itself, which no compiler writes.
    const auto [entry, is_new] = known_.try_emplace(node, Printed{Printed::kMany});
    if (!is_new) return entry->second;
    Printed size;
    size.add(kOwnText);
    node->visit([&](const auto* n) { add_fields(*n, size); });
    known_[node] = size;
    return size;
  }

 private:
  // The longest text that a node adds itself: "std::basic_string<char, std::char_traits<char>,
  // std::allocator<char>>".
  static constexpr uint64_t kOwnText = 80;

  template <class Node>
  void add_fields(const Node& node, Printed& size) {
    node.match([&](const auto&... field) { (add_field(field, size), ...); });
    if constexpr (std::same_as<Node, tree::ParameterPackExpansion> ||
                  std::same_as<Node, tree::FoldExpr>)
      size.bytes = std::min(size.bytes * size.longest_list, Printed::kMany);
  }
  void add_fields(const tree::ForwardTemplateReference& node, Printed& size) {
    size.add(of(node.Ref));
  }

  template <class Field>
  void add_field(const Field& field, Printed& size) {
    if constexpr (std::convertible_to<Field, const tree::Node*>) {
      size.add(of(field));
    } else if constexpr (std::same_as<Field, tree::NodeArray>) {
      size.longest_list = std::max<uint64_t>(size.longest_list, field.size());
      for (const tree::Node* element : field) size.add(of(element));
    } else if constexpr (std::same_as<Field, std::string_view>) {
      size.add(field.size());
    }
  }

  std::unordered_map<const tree::Node*, Printed> known_;
};

/// The number of references to earlier parts: each may double what is printed.
size_t count_references(std::string_view name) {
  const auto is_index = [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
  };
  size_t count = 0;
  for (size_t i = 0; i + 1 < name.size(); ++i)
    count += (name[i] == 'S' || name[i] == 'T') && is_index(name[i + 1]);
  return count;
}

/// GCC up to 12 mangles some dependent names against the ABI (`sr St 7enable_...`), and only
/// its own demangler reads them. That one prints as it goes: names that might grow too much
/// are kept from it.
std::string demangle_like_gcc(std::string_view name) {
  constexpr uint64_t kMaxGrown = uint64_t{32} << 20;
  const size_t references = count_references(name);
  if (references > 24 || (name.size() << references) > kMaxGrown) return "";
  int status = 0;
  const CText text(abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status));
  return status == 0 && text ? text.get() : "";
}

}  // namespace

std::string demangle_cpp(std::string_view name, size_t max_bytes) {
  constexpr uint64_t kSlack = 32;  // how far the bound may be above the real length
  tree::ManglingParser<Arena> parser(name.data(), name.data() + name.size());
  const tree::Node* root = parser.parse();
  if (root == nullptr) {
    std::string text = demangle_like_gcc(name);
    return text.size() > max_bytes ? "" : text;
  }
  if (PrintedSizes().of(root).bytes > max_bytes * kSlack) return "";
  tree::OutputBuffer buffer;
  root->print(buffer);
  const CText text(buffer.getBuffer());
  const size_t length = buffer.getCurrentPosition();
  return length > max_bytes ? "" : std::string(text.get(), length);
}

}  // namespace culprit
