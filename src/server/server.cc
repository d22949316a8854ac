#include "server/server.h"

#include <arpa/inet.h>
#include <atomic>
#include <fmt/format.h>
#include <httplib.h>
#include <netinet/tcp.h>
#include <random>
#include <string_view>
#include <thread>

#include "base/number.h"
#include "base/text.h"
#include "compare/print_comparison.h"
#include "documents/assets.h"
#include "documents/html_file.h"
#include "print/json_parts.h"
#include "server/bounded_server.h"
#include "server/open_profiles.h"
#include "session/comparisons.h"
#include "session/epoch_view.h"

namespace culprit {

namespace {

constexpr size_t kThreads = 32;  // browsers open connections before they need them

enum Status : int {
  kOk = 200,
  kBadRequest = 400,
  kForbidden = 403,
  kNotFound = 404,
  kNotAllowed = 405,
  kFailed = 500
};

/// 128 random bits as hexadecimal digits.
std::string make_word() {
  std::random_device random;  // the kernel's
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

/// Compares in a time that does not tell how much of the text is right.
bool is_same(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned different = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    different |=
        static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  }
  return different == 0;
}

/// "127.0.0.1:8080" → "127.0.0.1"; "[::1]:80" → "::1".
std::string_view host_of(std::string_view header) {
  if (header.starts_with('[')) return header.substr(1, header.find(']') - 1);
  return header.substr(0, header.find(':'));
}

bool is_address(std::string_view host) {
  in6_addr out{};
  const std::string text(host);
  return ::inet_pton(AF_INET, text.c_str(), &out) == 1 ||
         ::inet_pton(AF_INET6, text.c_str(), &out) == 1;
}

int status_of(const Error& error) {
  switch (error.kind) {
    case ErrorKind::not_found:
      return kNotFound;
    case ErrorKind::refused:
      return kForbidden;
    case ErrorKind::bad_input:
      return kBadRequest;
    case ErrorKind::damaged:
    case ErrorKind::out_of_space:
    case ErrorKind::cannot_run:
    case ErrorKind::other:
      break;
  }
  return kFailed;
}

}  // namespace

struct Server::State {
  explicit State(const ServerOptions& asked) : options(asked), word(make_word()) {}

  Result<void> start();
  void make_first_screen();
  void stop();
  /// What a request that is not refused gets.
  void answer(std::string_view path, httplib::Response& response);
  void answer_document(std::string_view path, httplib::Response& response);
  void answer_difference(std::string_view path, httplib::Response& response);
  [[nodiscard]] std::string list_profiles() const;
  /// Why the request is refused, as a status of HTTP.
  [[nodiscard]] std::optional<int> find_refusal(const httplib::Request& request) const;
  [[nodiscard]] bool is_our_host(std::string_view host) const;

  ServerOptions options;
  std::string word;
  OpenProfiles profiles;
  BoundedServer http;
  std::atomic<uint64_t> answered = 0;
  int port = 0;
  std::thread thread;
  std::thread first_screen;  // makes what the page asks for first, while the browser starts
};

namespace {

void send(httplib::Response& response, int status, std::string body, const char* type) {
  response.status = status;
  response.set_content(std::move(body), type);
}

void send_json(httplib::Response& response, std::string body) {
  send(response, kOk, std::move(body), "application/json; charset=utf-8");
}

void send_error(httplib::Response& response, const Error& error) {
  const Json body{{"error", printable(error.message)}};
  send(response, status_of(error), body.dump(-1, ' ', false, Json::error_handler_t::replace),
       "application/json; charset=utf-8");
}

/// Takes the number in front of the next slash off the path.
std::optional<size_t> take_number(std::string_view& path) {
  const size_t slash = path.find('/');
  const auto number = find_number(std::string(path.substr(0, slash)), 10);
  path = slash == path.npos ? std::string_view() : path.substr(slash + 1);
  if (!number) return std::nullopt;
  return static_cast<size_t>(*number);
}

}  // namespace

bool Server::State::is_our_host(std::string_view host) const {
  if (host == "127.0.0.1" || host == "localhost" || host == "::1") return true;
  const bool is_loopback = options.address == "127.0.0.1";
  // Whoever listens elsewhere is reached by address; names could be anybody's (DNS rebinding).
  return !is_loopback && (host == options.address || is_address(host));
}

std::optional<int> Server::State::find_refusal(const httplib::Request& request) const {
  if (request.method != "GET" && request.method != "HEAD") return kNotAllowed;
  // A list of overlapping ranges could ask for the same bytes a thousand times.
  if (request.has_header("Transfer-Encoding") || request.has_header("Range") ||
      (request.has_header("Content-Length") && request.get_header_value("Content-Length") != "0")) {
    return kBadRequest;
  }
  if (request.get_header_value_count("Host") != 1 ||
      !is_our_host(host_of(request.get_header_value("Host")))) {
    return kForbidden;
  }
  if (request.has_header("Origin")) {
    std::string_view origin_host;
    const std::string origin = request.get_header_value("Origin");
    if (origin.starts_with("http://")) origin_host = std::string_view(origin).substr(7);
    if (origin_host != request.get_header_value("Host")) return kForbidden;
  }
  if (request.has_header("Sec-Fetch-Site")) {
    const std::string site = request.get_header_value("Sec-Fetch-Site");
    if (site != "same-origin" && site != "none") return kForbidden;
  }
  return std::nullopt;
}

std::string Server::State::list_profiles() const {
  Json list = Json::array();
  for (size_t number = 0; number < profiles.files().size(); ++number) {
    list.push_back(
        {{"name", printable(profiles.files()[number])}, {"version", profiles.version(number)}});
  }
  const Json document{{"schema", "culprit-web-profiles-1"}, {"profiles", std::move(list)}};
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void Server::State::answer_document(std::string_view path, httplib::Response& response) {
  const std::optional<size_t> number = take_number(path);
  if (!number) return send_error(response, Error{"there is no such profile", ErrorKind::not_found});
  const auto profile = profiles.find(*number);
  if (!profile) return send_error(response, profile.error());
  Result<std::string> json = (*profile)->document(path);
  if (!json) return send_error(response, json.error());
  send_json(response, *std::move(json));
}

void Server::State::answer_difference(std::string_view path, httplib::Response& response) {
  const std::optional<size_t> a = take_number(path);
  const std::optional<size_t> b = take_number(path);
  if (!a || !b || *a >= profiles.files().size() || *b >= profiles.files().size()) {
    return send_error(response, Error{"there is no such profile", ErrorKind::not_found});
  }
  ComparisonQuestion question;
  question.base_runs = 1;
  const Result<ComparedFiles> compared = compare_runs(
      {profiles.files()[*a], profiles.files()[*b]},
      [](const std::string& name) { return open_by_path(name, {}, {}); }, question);
  if (!compared) return send_error(response, compared.error());
  Difference difference = find_difference(compared->rows, 1, question.options);
  add_causes(compared->costs, 1, difference);
  send_json(response, print_difference({compared->rows, question.by, 0}, difference, Format::json,
                                       TextStyle()));
}

void Server::State::answer(std::string_view path, httplib::Response& response) {
  if (path.empty()) return send(response, kOk, served_page(), "text/html; charset=utf-8");
  if (path == "app.js") {
    return send(response, kOk, std::string(web_assets().script), "text/javascript; charset=utf-8");
  }
  if (path == "app.css") {
    return send(response, kOk, std::string(web_assets().style), "text/css; charset=utf-8");
  }
  if (path == "profiles") return send_json(response, list_profiles());
  if (path.starts_with("d/") || path.starts_with("diff/")) {
    const bool is_document = path.starts_with("d/");
    path.remove_prefix(path.find('/') + 1);
    is_document ? answer_document(path, response) : answer_difference(path, response);
    ++answered;
    return;
  }
  send_error(response, Error{"there is nothing of that name", ErrorKind::not_found});
}

Result<void> Server::State::start() {
  if (!web_assets().problem.empty()) return Error{std::string(web_assets().problem)};
  RETURN_IF_ERROR(profiles.open(options.files, options.progress));
  http.set_default_headers({
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src "
       "data:; worker-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
      {"X-Content-Type-Options", "nosniff"},
      {"X-Frame-Options", "DENY"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Cache-Control", "no-store"},
  });
  // Each small answer would wait 40 ms without TCP_NODELAY. The library's default would let others
  // share the port.
  http.set_socket_options([](int socket) {
    const int on = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  });
  http.set_tcp_nodelay(true);
  http.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  // This comes before a body is read, and instead of the library's own ways of finding an answer.
  http.set_pre_routing_handler(
      [this](const httplib::Request& request, httplib::Response& response) {
        if (const std::optional<int> refusal = find_refusal(request)) {
          send(response, *refusal, "refused\n", "text/plain; charset=utf-8");
          return httplib::Server::HandlerResponse::Handled;
        }
        const std::string_view path = request.path;
        const size_t slash = path.find('/', 1);
        const bool knows =
            path.starts_with('/') && slash != path.npos && is_same(path.substr(1, slash - 1), word);
        if (knows) {
          answer(path.substr(slash + 1), response);
        } else {
          send(response, kNotFound, "not found\n", "text/plain; charset=utf-8");
        }
        return httplib::Server::HandlerResponse::Handled;
      });
  if (options.port == 0) {
    port = http.bind_to_any_port(options.address.c_str());
  } else {
    port = http.bind_to_port(options.address.c_str(), options.port) ? options.port : -1;
  }
  if (port <= 0) {
    return Error{fmt::format("cannot listen at {}{}\nwithout --port any free one is taken",
                             options.address,
                             options.port == 0 ? "" : fmt::format(", port {}", options.port))};
  }
  thread = std::thread([this] { http.listen_after_bind(); });
  if (profiles.files().size() == 1) first_screen = std::thread([this] { make_first_screen(); });
  return {};
}

void Server::State::make_first_screen() {
  const auto profile = profiles.find(0);
  if (!profile) return;
  for (const std::string_view name : {"why", "hottest"}) {
    // What cannot be made says so when it is asked for.
    static_cast<void>((*profile)->document(name));
  }
}

void Server::State::stop() {
  if (first_screen.joinable()) first_screen.join();
  if (!thread.joinable()) return;
  while (!http.is_running()) std::this_thread::yield();  // else stop() would be too early
  http.stop();
  thread.join();
}

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}
Server::~Server() {
  state_->stop();
}

Result<std::unique_ptr<Server>> Server::start(const ServerOptions& options) {
  auto state = std::make_unique<State>(options);
  RETURN_IF_ERROR(state->start());
  return std::unique_ptr<Server>(new Server(std::move(state)));
}

uint64_t Server::answered() const {
  return state_->answered;
}

std::string Server::url() const {
  const bool is_ipv6 = state_->options.address.find(':') != std::string::npos;
  const std::string host = is_ipv6 ? "[" + state_->options.address + "]" : state_->options.address;
  return fmt::format("http://{}:{}/{}/", host, state_->port, state_->word);
}

}  // namespace culprit
