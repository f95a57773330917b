// SPDX-License-Identifier: Apache-2.0
#include "run/child_pool.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/reason.h"
#include "run/result_io.h"

namespace smk::sim {
namespace {

using nlohmann::json;
using Bytes = std::vector<std::uint8_t>;

// What a child writes into its pipe: the result, or what it failed with.
Bytes Execute(const std::function<RunResult()>& run) {
  json message;
  try {
    message["result"] = ToJson(run());
  } catch (const InputError& error) {
    message = {{"input_error", error.what()}};
  } catch (const CheckFailure& error) {
    message = {{"check_failure", error.what()}};
  } catch (const std::exception& error) {
    message = {{"error", Reason(error)}};
  }
  return json::to_msgpack(message);
}

void WriteAll(int fd, const Bytes& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = write(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(1);
    done += static_cast<std::size_t>(n);
  }
}

// True at the end of the child's output.
bool ReadSome(int fd, Bytes* bytes) {
  std::uint8_t buffer[1 << 16];
  const ssize_t n = read(fd, buffer, sizeof buffer);
  if (n > 0) bytes->insert(bytes->end(), buffer, buffer + n);
  return n == 0 || (n < 0 && errno != EINTR);
}

std::string ReadWhole(int fd) {
  std::string text;
  char buffer[4096];
  ssize_t n = 0;
  lseek(fd, 0, SEEK_SET);
  while ((n = read(fd, buffer, sizeof buffer)) > 0) text.append(buffer, static_cast<size_t>(n));
  return text;
}

std::runtime_error Failure(const char* what) {
  return std::runtime_error(fmt::format("{}: {}", what, std::strerror(errno)));
}

bool FromOutside(int signal) {
  return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP;
}

// What the bytes and the exit status of a child say.
void Decode(int status, const Bytes& bytes, FinishedChild* child) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    child->end = FromOutside(signal) ? ChildEnd::kKilled : ChildEnd::kCheckFailure;
    child->reason =
        fmt::format("the simulation was ended by signal {} ({})", signal, strsignal(signal));
    return;
  }
  const json message = WEXITSTATUS(status) == 0 ? json::from_msgpack(bytes, true, false)
                                                : json(json::value_t::discarded);
  if (!message.is_object()) {
    child->end = ChildEnd::kCheckFailure;
    child->reason = "the simulation ended without a result";
  } else if (message.contains("result")) {
    child->result = FromJson(message["result"]);
  } else {
    const auto item = message.begin();
    child->end = item.key() == "input_error"     ? ChildEnd::kInputError
                 : item.key() == "check_failure" ? ChildEnd::kCheckFailure
                                                 : ChildEnd::kError;
    child->reason = item.value().get<std::string>();
  }
}

}  // namespace

ChildPool::~ChildPool() {
  for (const Child& child : running_) {
    kill(child.pid, SIGKILL);
    close(child.fd);
    if (child.messages >= 0) close(child.messages);
    waitpid(child.pid, nullptr, 0);
  }
}

void ChildPool::Start(std::size_t index, const std::function<RunResult()>& run) {
  int ends[2];
  if (pipe(ends) != 0) throw Failure("cannot make a pipe");
  const int messages = keep_messages_ ? memfd_create("stderr", MFD_CLOEXEC) : -1;
  std::cout.flush();
  std::fflush(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) throw Failure("cannot start a process");
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    close(ends[0]);
    if (messages >= 0) dup2(messages, STDERR_FILENO);
    WriteAll(ends[1], Execute(run));
    std::fflush(nullptr);
    _exit(0);
  }
  close(ends[1]);
  running_.push_back({index, pid, ends[0], messages, {}});
}

std::optional<FinishedChild> ChildPool::Next(int timeout_ms) {
  while (true) {
    std::vector<pollfd> fds;
    for (const Child& child : running_) fds.push_back({child.fd, POLLIN, 0});
    const int ready = poll(fds.data(), fds.size(), timeout_ms);
    if (ready == 0) return std::nullopt;
    if (ready < 0) {
      if (errno != EINTR) throw Failure("cannot wait for a process");
      continue;
    }
    for (std::size_t i = 0; i < fds.size(); ++i) {
      if ((fds[i].revents & (POLLIN | POLLHUP)) == 0) continue;
      if (ReadSome(running_[i].fd, &running_[i].bytes)) return Finish(i);
    }
  }
}

FinishedChild ChildPool::Finish(std::size_t position) {
  const Child child = std::move(running_[position]);
  running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(position));
  close(child.fd);
  int status = 0;
  while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
  }
  FinishedChild finished;
  finished.index = child.index;
  if (child.messages >= 0) {
    finished.messages = ReadWhole(child.messages);
    close(child.messages);
  }
  Decode(status, child.bytes, &finished);
  return finished;
}

}  // namespace smk::sim
