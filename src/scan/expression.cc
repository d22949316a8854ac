#include "scan/expression.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

#include "base/text.h"

namespace culprit::scan {
namespace {

constexpr int kDeepest = 200;  // parentheses in parentheses

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

}  // namespace

class Expression::Parser {
 public:
  Parser(std::string_view text, const std::vector<std::string>& names)
      : text_(text), names_(names) {}

  Result<std::unique_ptr<Node>> parse() {
    ASSIGN_OR_RETURN(std::unique_ptr<Node> root, parse_sum());
    skip_blanks();
    if (at_ < text_.size()) return refuse("an operator");
    return root;
  }
  std::vector<std::string> take_names() { return std::move(used_); }

 private:
  using Parsed = Result<std::unique_ptr<Node>>;

  static std::unique_ptr<Node> make(Kind kind, std::unique_ptr<Node> left,
                                    std::unique_ptr<Node> right = nullptr) {
    auto node = std::make_unique<Node>();
    node->kind = kind;
    node->left = std::move(left);
    node->right = std::move(right);
    return node;
  }

  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool take(char c) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  [[nodiscard]] Error refuse(const std::string& wanted) const {
    const std::string_view rest = text_.substr(std::min(at_, text_.size()));
    if (rest.empty()) {
      return Error{fmt::format("'{}' ends where {} is expected", printable(text_), wanted)};
    }
    const std::string_view word = rest.substr(0, rest.find_first_of(" ()*/+,"));
    const bool wants_name = wanted.find("name") != std::string::npos;
    const std::string nearest = wants_name ? nearest_word(std::string(word), names_) : "";
    const std::string_view wrong = wants_name && !word.empty() ? word : rest;
    return Error{fmt::format(
        "{}'{}' is not {}{}", wrong == text_ ? "" : fmt::format("'{}': ", printable(text_)),
        printable(wrong), wanted, nearest.empty() ? "" : " (did you mean " + nearest + "?)")};
  }

  Parsed parse_sum() {
    ASSIGN_OR_RETURN(std::unique_ptr<Node> left, parse_product());
    while (true) {
      const bool adds = take('+');
      if (!adds && !take('-')) return left;
      ASSIGN_OR_RETURN(std::unique_ptr<Node> right, parse_product());
      left = make(adds ? Kind::add : Kind::subtract, std::move(left), std::move(right));
    }
  }
  Parsed parse_product() {
    ASSIGN_OR_RETURN(std::unique_ptr<Node> left, parse_factor());
    while (true) {
      const bool multiplies = take('*');
      if (!multiplies && !take('/')) return left;
      ASSIGN_OR_RETURN(std::unique_ptr<Node> right, parse_factor());
      left = make(multiplies ? Kind::multiply : Kind::divide, std::move(left), std::move(right));
    }
  }
  Parsed parse_factor() {
    if (++depth_ > kDeepest) return Error{"the expression is nested too deeply"};
    Parsed parsed = parse_single();
    --depth_;
    return parsed;
  }
  Parsed parse_single() {
    if (take('-')) {
      ASSIGN_OR_RETURN(std::unique_ptr<Node> operand, parse_factor());
      return make(Kind::negate, std::move(operand));
    }
    if (take('(')) {
      ASSIGN_OR_RETURN(std::unique_ptr<Node> inner, parse_sum());
      if (!take(')')) return refuse("')'");
      return inner;
    }
    skip_blanks();
    if (at_ == text_.size()) return refuse("a name or a number");
    if (text_[at_] == '"' || text_[at_] == '\'') return parse_quoted();
    // Names before numbers: one may begin with a digit.
    if (std::unique_ptr<Node> name = find_name()) return name;
    if (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '.') {
      return parse_number();
    }
    return parse_call();
  }
  Parsed parse_quoted() {
    const size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) return refuse("a name in quotes");
    const std::string name(text_.substr(at_ + 1, end - at_ - 1));
    if (std::find(names_.begin(), names_.end(), name) == names_.end()) {
      ++at_;
      return refuse("a name that is known here");
    }
    at_ = end + 1;
    return use(name);
  }
  Parsed parse_number() {
    double value = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) return refuse("a number");
    at_ = static_cast<size_t>(end - text_.data());
    if (at_ < text_.size() && is_word(text_[at_])) return refuse("an operator");
    auto node = std::make_unique<Node>();
    node->number = value;
    return node;
  }
  Parsed parse_call() {
    struct Function {
      std::string_view name;
      Kind kind;
      bool has_two;
    };
    static constexpr Function kFunctions[] = {{"min", Kind::min, true},
                                              {"max", Kind::max, true},
                                              {"abs", Kind::abs, false},
                                              {"log2", Kind::log2, false},
                                              {"sqrt", Kind::sqrt, false}};
    for (const Function& function : kFunctions) {
      const size_t before = at_;
      if (!text_.substr(at_).starts_with(function.name)) continue;
      at_ += function.name.size();
      if (!take('(')) {
        at_ = before;
        continue;
      }
      ASSIGN_OR_RETURN(std::unique_ptr<Node> left, parse_sum());
      std::unique_ptr<Node> right;
      if (function.has_two) {
        if (!take(',')) return refuse("a second operand");
        ASSIGN_OR_RETURN(right, parse_sum());
      }
      if (!take(')')) return refuse("')'");
      return make(function.kind, std::move(left), std::move(right));
    }
    return refuse("a name that is known here");
  }
  /// The longest name that stands here and is not part of a longer word.
  std::unique_ptr<Node> find_name() {
    const std::string* longest = nullptr;
    for (const std::string& name : names_) {
      if (name.empty() || !text_.substr(at_).starts_with(name)) continue;
      const size_t end = at_ + name.size();
      if (end < text_.size() && is_word(text_[end]) && is_word(name.back())) continue;
      if (longest == nullptr || name.size() > longest->size()) longest = &name;
    }
    if (longest == nullptr) return nullptr;
    at_ += longest->size();
    return use(*longest);
  }
  std::unique_ptr<Node> use(const std::string& name) {
    used_.push_back(name);
    auto node = std::make_unique<Node>();
    node->kind = Kind::name;
    node->name = name;
    return node;
  }

  std::string_view text_;
  const std::vector<std::string>& names_;
  std::vector<std::string> used_;
  size_t at_ = 0;
  int depth_ = 0;
};

Result<Expression> Expression::parse(std::string_view text, const std::vector<std::string>& names) {
  constexpr size_t kLongest = 10'000;
  if (text.size() > kLongest) return Error{"the expression is too long"};
  Parser parser(text, names);
  ASSIGN_OR_RETURN(std::unique_ptr<Node> root, parser.parse());
  Expression expression;
  expression.text_ = text;
  expression.names_ = parser.take_names();
  expression.root_ = std::move(root);
  return expression;
}

std::optional<Estimate> Expression::evaluate(const Lookup& lookup) const {
  const std::optional<Estimate> value = evaluate(*root_, lookup);
  if (!value || !std::isfinite(value->value)) return std::nullopt;
  return value;
}

std::optional<Estimate> Expression::evaluate(const Node& node, const Lookup& lookup) {
  if (node.kind == Kind::number) return Estimate{node.number, 0};
  if (node.kind == Kind::name) return lookup(node.name);
  const std::optional<Estimate> left = evaluate(*node.left, lookup);
  const std::optional<Estimate> right = node.right ? evaluate(*node.right, lookup) : Estimate{};
  if (!left || !right) return std::nullopt;
  switch (node.kind) {
    case Kind::negate:
      return *left * -1.0;
    case Kind::add:
      return *left + *right;
    case Kind::subtract:
      return *left + *right * -1.0;
    case Kind::multiply:
      return Estimate{left->value * right->value, std::hypot(left->standard_error * right->value,
                                                             right->standard_error * left->value)};
    case Kind::divide:
      if (right->value == 0) return std::nullopt;
      return Estimate{left->value / right->value, std::hypot(left->standard_error / right->value,
                                                             left->value * right->standard_error /
                                                                 right->value / right->value)};
    case Kind::min:
      return left->value <= right->value ? left : right;
    case Kind::max:
      return left->value >= right->value ? left : right;
    case Kind::abs:
      return Estimate{std::abs(left->value), left->standard_error};
    case Kind::log2:
      if (!(left->value > 0)) return std::nullopt;
      return Estimate{std::log2(left->value), left->standard_error / left->value / std::log(2.0)};
    case Kind::sqrt:
      if (left->value < 0) return std::nullopt;
      if (left->value == 0) return Estimate{};
      return Estimate{std::sqrt(left->value), left->standard_error / 2 / std::sqrt(left->value)};
    case Kind::number:
    case Kind::name:
      break;
  }
  return std::nullopt;
}

}  // namespace culprit::scan
