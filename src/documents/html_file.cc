#include "documents/html_file.h"

#include <algorithm>
#include <fmt/format.h>
#include <future>
#include <random>
#include <thread>

#include "documents/assets.h"
#include "exports/gzip.h"

namespace culprit {

namespace {

constexpr double kLeastShare = 0.001;  // of a function: what has less of every event is left out

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    uint32_t group = 0;
    for (size_t i = 0; i < 3; ++i) {
      group = group << 8 | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    }
    for (size_t i = 0; i < 4; ++i) {
      const bool is_there = at + i < bytes.size() + 1;
      text += is_there ? kDigits[group >> (18 - 6 * i) & 63] : '=';
    }
  }
  return text;
}

std::string page(std::string_view head, std::string_view body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n"
      "<title>Culprit</title>\n<link rel=\"icon\" href=\"data:,\">\n{}</head>\n<body>\n<div "
      "id=\"app\"></div>\n"
      "<noscript>This page draws its tables by JavaScript. Without it: culprit report, why, "
      "annotate.</noscript>\n{}</body>\n</html>\n",
      head, body);
}

/// One document, inflated by the page when it is opened.
Result<std::string> make_chunk(std::string_view name, std::string_view json) {
  ASSIGN_OR_RETURN(const std::string packed, gzip(json, "culprit"));
  return fmt::format("<script type=\"text/plain\" id=\"doc:{}\">{}</script>\n", name,
                     base64(packed));
}

/// Only scripts and styles with this word run, whatever a name in the profile tries to be.
std::string make_nonce() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

/// The chunks of so many documents from `first` on, on all CPUs; "" of those that cannot be made.
std::vector<std::string> make_chunks(const Documents& documents,
                                     const std::vector<std::string>& names, size_t first,
                                     size_t count) {
  std::vector<std::future<std::string>> pending;
  for (size_t i = first; i < std::min(first + count, names.size()); ++i) {
    pending.push_back(std::async(std::launch::async, [&documents, &names, i] {
      const Result<std::string> json = documents.make(names[i]);
      if (!json) return std::string();
      return make_chunk(names[i], *json).value_or(std::string());
    }));
  }
  std::vector<std::string> chunks;
  for (std::future<std::string>& one : pending) chunks.push_back(one.get());
  return chunks;
}

}  // namespace

std::string served_page() {
  return page("<link rel=\"stylesheet\" href=\"app.css\">\n", "<script src=\"app.js\"></script>\n");
}

Result<HtmlFile> make_html_file(const Documents& documents, const HtmlFileOptions& options,
                                const std::function<bool(size_t, size_t)>& progress) {
  const WebAssets& assets = web_assets();
  if (!assets.problem.empty()) return Error{std::string(assets.problem)};
  HtmlFile file;
  std::string chunks;
  for (const std::string& name : documents.list()) {
    const Result<std::string> json = documents.make(name);
    if (!json) continue;  // the page says so where it is asked for
    ASSIGN_OR_RETURN(const std::string chunk, make_chunk(name, *json));
    chunks += chunk;
  }
  std::vector<std::string> details = documents.list_scan_details();
  const size_t scan_details = details.size();
  if (const Result<std::vector<ListedFunction>> functions = documents.list_functions()) {
    for (const ListedFunction& one : *functions) {
      if (one.share >= kLeastShare) details.push_back("function/" + one.id);
    }
  }
  const auto leave_out = [&](size_t detail) {
    ++(detail < scan_details ? file.scan_details_left_out : file.functions_left_out);
  };
  const size_t at_once = std::max(1U, std::thread::hardware_concurrency());
  size_t next = 0;
  while (next < details.size() && chunks.size() < options.most_bytes &&
         progress(next, details.size())) {
    for (const std::string& chunk : make_chunks(documents, details, next, at_once)) {
      const size_t detail = next++;
      if (chunk.empty()) continue;
      if (chunks.size() + chunk.size() > options.most_bytes) {
        leave_out(detail);
        continue;
      }
      chunks += chunk;
      if (detail >= scan_details) ++file.functions;
    }
  }
  while (next < details.size()) leave_out(next++);
  const std::string nonce = make_nonce();
  const std::string head = fmt::format(
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
      "'nonce-{0}'; style-src 'nonce-{0}'; img-src data:; worker-src blob:; base-uri 'none'; "
      "form-action 'none'\">\n"
      "<style nonce=\"{0}\">{1}</style>\n",
      nonce, assets.style);
  file.html =
      page(head, fmt::format("{}<script nonce=\"{}\">{}</script>\n", chunks, nonce, assets.script));
  return file;
}

}  // namespace culprit
