// logstat: response times per page, from a web server's log. A program to profile.
//
// Writes a log of some 160 MB in memory (2,500,000 requests), then two
// threads read half of it each: they split lines into fields, count requests by
// page in a hash table and collect response times; the main thread merges the
// halves, sorts the times of each page and names the busiest page.
//
//     $ logstat [requests]

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

struct Request {
  std::string_view client;
  std::string_view page;
  unsigned status = 0;
  double response_ms = 0;
};

struct PageStatistics {
  uint64_t requests = 0;
  uint64_t failures = 0;
  std::vector<double> response_ms;
};

using Statistics = std::unordered_map<std::string, PageStatistics>;

/// A small, repeatable random generator (xorshift64*).
class Random {
 public:
  uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1du;
  }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  uint64_t state_ = 88172645463325252u;
};

/// Pages are visited by a power law: few are busy, many are rare.
std::string write_log(size_t requests) {
  Random random;
  std::string log;
  log.reserve(requests * 72);
  char line[160];
  for (size_t i = 0; i < requests; ++i) {
    const unsigned page = static_cast<unsigned>(std::pow(random.uniform(), 4.0) * 50'000);
    const double response_ms = -20.0 * std::log(1.0 - random.uniform()) + 0.2 * (page % 97);
    const uint64_t client = random.next();
    const int length =
        std::snprintf(line, sizeof line, "10.%u.%u.%u GET /shop/item/%u/details.html %u %.3f\n",
                      static_cast<unsigned>(client & 255), static_cast<unsigned>(client >> 8 & 255),
                      static_cast<unsigned>(client >> 16 & 255), page,
                      client % 50 == 0 ? 500u : 200u, response_ms);
    log.append(line, static_cast<size_t>(length));
  }
  return log;
}

std::string_view take_field(std::string_view& rest) {
  const size_t end = std::min(rest.find(' '), rest.size());
  const std::string_view field = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return field;
}

double parse_decimal(std::string_view field) {
  double value = 0;
  std::from_chars(field.data(), field.data() + field.size(), value);
  return value;
}

Request parse_line(std::string_view line) {
  Request request;
  request.client = take_field(line);
  take_field(line);  // the method
  request.page = take_field(line);
  const std::string_view status = take_field(line);
  std::from_chars(status.data(), status.data() + status.size(), request.status);
  request.response_ms = parse_decimal(line);
  return request;
}

__attribute__((noinline)) void count_request(const Request& request, Statistics& statistics) {
  PageStatistics& page = statistics[std::string(request.page)];
  ++page.requests;
  if (request.status >= 500) ++page.failures;
  page.response_ms.push_back(request.response_ms);
}

__attribute__((noinline)) Statistics read_log(std::string_view log) {
  Statistics statistics;
  while (!log.empty()) {
    const size_t end = std::min(log.find('\n'), log.size());
    count_request(parse_line(log.substr(0, end)), statistics);
    log.remove_prefix(std::min(end + 1, log.size()));
  }
  return statistics;
}

__attribute__((noinline)) void merge_statistics(Statistics& into, Statistics&& from) {
  for (auto& [page, more] : from) {
    PageStatistics& sum = into[page];
    sum.requests += more.requests;
    sum.failures += more.failures;
    sum.response_ms.insert(sum.response_ms.end(), more.response_ms.begin(), more.response_ms.end());
  }
}

/// The time within which 99 % of the requests were answered.
__attribute__((noinline)) double percentile_99(std::vector<double>& response_ms) {
  std::sort(response_ms.begin(), response_ms.end());
  return response_ms[(response_ms.size() - 1) * 99 / 100];
}

void print_busiest(Statistics& statistics) {
  struct Row {
    std::string_view page;
    uint64_t requests;
    double slow_ms;
  };
  std::vector<Row> rows;
  for (auto& [page, page_statistics] : statistics) {
    rows.push_back({page, page_statistics.requests, percentile_99(page_statistics.response_ms)});
  }
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.requests != b.requests ? a.requests > b.requests : a.page < b.page;
  });
  if (rows.empty()) return;
  const Row& busiest = rows.front();
  std::printf("busiest page: %.*s, %llu requests, 99 %% within %.1f ms\n",
              static_cast<int>(busiest.page.size()), busiest.page.data(),
              static_cast<unsigned long long>(busiest.requests), busiest.slow_ms);
}

}  // namespace

int main(int argc, char** argv) {
  const size_t requests = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 2'500'000;
  const std::string log = write_log(requests);

  const size_t middle = std::min(log.find('\n', log.size() / 2), log.size());
  Statistics first_half;
  Statistics second_half;
  std::thread first([&] { first_half = read_log(std::string_view(log).substr(0, middle)); });
  std::thread second([&] { second_half = read_log(std::string_view(log).substr(middle)); });
  first.join();
  second.join();

  merge_statistics(first_half, std::move(second_half));
  print_busiest(first_half);
}
