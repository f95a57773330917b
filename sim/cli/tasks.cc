// SPDX-License-Identifier: Apache-2.0
#include "cli/tasks.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/result_io.h"

namespace smk::cli {
namespace {

using nlohmann::json;
using Bytes = std::vector<std::uint8_t>;

// What a child writes into its pipe: the result, or what it failed with.
Bytes Execute(const Task& task) {
  json message;
  try {
    message["result"] = ToJson(task.run());
  } catch (const InputError& error) {
    message = {{"input_error", error.what()}};
  } catch (const CheckFailure& error) {
    message = {{"check_failure", error.what()}};
  } catch (const std::exception& error) {
    message = {{"error", error.what()}};
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

// The running children. Whoever leaves the scope takes them along.
class Children {
 public:
  explicit Children(const std::vector<Task>& tasks) : tasks_(tasks) {}
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;
  ~Children() {
    for (const Child& child : running_) {
      kill(child.pid, SIGKILL);
      close(child.fd);
      waitpid(child.pid, nullptr, 0);
    }
  }

  std::size_t running() const { return running_.size(); }

  void Start(std::size_t index) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error(Reason("cannot make a pipe"));
    std::cout.flush();
    std::fflush(nullptr);
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid < 0) throw std::runtime_error(Reason("cannot start a process"));
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) _exit(1);
      close(ends[0]);
      WriteAll(ends[1], Execute(tasks_[index]));
      std::fflush(nullptr);
      _exit(0);
    }
    close(ends[1]);
    running_.push_back({index, pid, ends[0], {}});
  }

  // Waits until a child has ended; gives its task and its result, or throws what it threw.
  std::pair<std::size_t, RunResult> Next() {
    while (true) {
      std::vector<pollfd> fds;
      for (const Child& child : running_) fds.push_back({child.fd, POLLIN, 0});
      if (poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) {
        throw std::runtime_error(Reason("cannot wait for a process"));
      }
      for (std::size_t i = 0; i < fds.size(); ++i) {
        if ((fds[i].revents & (POLLIN | POLLHUP)) != 0 && Read(&running_[i])) return Finish(i);
      }
    }
  }

 private:
  struct Child {
    std::size_t index;
    pid_t pid;
    int fd;
    Bytes bytes;
  };

  static std::string Reason(const char* what) {
    return fmt::format("{}: {}", what, std::strerror(errno));
  }

  // True at the end of the child's output.
  static bool Read(Child* child) {
    std::uint8_t buffer[1 << 16];
    const ssize_t n = read(child->fd, buffer, sizeof buffer);
    if (n > 0) child->bytes.insert(child->bytes.end(), buffer, buffer + n);
    return n == 0 || (n < 0 && errno != EINTR);
  }

  std::pair<std::size_t, RunResult> Finish(std::size_t position) {
    const Child child = std::move(running_[position]);
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(position));
    close(child.fd);
    int status = 0;
    while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
    }
    const std::string& name = tasks_[child.index].name;
    if (WIFSIGNALED(status)) {
      throw CheckFailure(fmt::format("{}: the simulation was ended by signal {} ({})", name,
                                     WTERMSIG(status), strsignal(WTERMSIG(status))));
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      throw CheckFailure(fmt::format("{}: the simulation ended without a result", name));
    }
    const json message = json::from_msgpack(child.bytes);
    if (message.contains("input_error")) throw InputError(message["input_error"]);
    if (message.contains("check_failure")) {
      throw CheckFailure(fmt::format("{}: {}", name, message["check_failure"].get<std::string>()));
    }
    if (message.contains("error")) {
      throw std::runtime_error(fmt::format("{}: {}", name, message["error"].get<std::string>()));
    }
    return {child.index, FromJson(message.at("result"))};
  }

  const std::vector<Task>& tasks_;
  std::vector<Child> running_;
};

}  // namespace

std::vector<RunResult> RunTasks(const std::vector<Task>& tasks, unsigned jobs,
                                const std::function<void(std::size_t)>& on_done) {
  std::vector<RunResult> results(tasks.size());
  Children children(tasks);
  std::size_t next = 0, done = 0;
  while (done < tasks.size()) {
    while (next < tasks.size() && children.running() < jobs) children.Start(next++);
    auto [index, result] = children.Next();
    results[index] = std::move(result);
    ++done;
    if (on_done) on_done(done);
  }
  return results;
}

}  // namespace smk::cli
