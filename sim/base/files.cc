// SPDX-License-Identifier: Apache-2.0
#include "base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "base/error.h"

namespace smk::sim {
namespace fs = std::filesystem;
namespace {

// Names that a run or a comparison leaves in its folder. The manifest goes first: a folder that has
// one is complete.
constexpr const char* kOurFiles[] = {
    "manifest.json",    "config.toml",      "stats.json",         "kernels.csv",
    "stalls.csv",       "jobs.csv",         "launches.csv",       "tbs.csv",
    "decisions.csv",    "samples.csv",      "timeline.json.gz",   "compare.csv",
    "compare.json",     "wave.fst",         "wave.gtkw",          "report.html",
    "stream.toml",      "kernelet.csv",     "kernelet_pairs.csv", "kernelet_measured.csv",
    "tokens.csv",       "bursts.csv",       "shares.csv",         "shares.svg",
    "replay_rates.csv", "kernel_merge.csv", "copies.csv",         "timeline.svg"};
// Of these, what is no output of the run: the manifest, and what other commands make of it.
constexpr const char* kNoOutputs[] = {"manifest.json", "report.html", "timeline.svg"};

std::system_error Failure(const std::string& path, const char* what) {
  return {errno, std::generic_category(), fmt::format("{}: {}", path, what)};
}

constexpr char kProbe[] = ".smk-probe";
constexpr char kMark[] = ".smk-run";

bool IsOurFile(const std::string& name) {
  return std::find(std::begin(kOurFiles), std::end(kOurFiles), name) != std::end(kOurFiles);
}

// What a command that was killed has left half written.
bool IsUnfinished(const std::string& name) {
  if (name.rfind(kUnfinishedWave, 0) == 0 || name == kProbe) return true;  // .hier is beside it
  const std::size_t dot = std::min(name.rfind('.'), name.size());
  const std::string whole = name.substr(0, dot);
  return name.size() - dot == 7 && (IsOurFile(whole) || whole == kProbe);  // of mkstemp()
}

bool IsOurs(const std::string& name, const std::vector<std::string>& subfolders) {
  return IsOurFile(name) || IsUnfinished(name) || name == kMark ||
         std::find(subfolders.begin(), subfolders.end(), name) != subfolders.end() ||
         (!subfolders.empty() && name.rfind("table-", 0) == 0);
}

void RefuseOtherContents(const std::string& path, const std::vector<std::string>& subfolders) {
  for (const auto& entry : fs::directory_iterator(path)) {
    const std::string name = entry.path().filename();
    if (!IsOurs(name, subfolders)) {
      throw InputError(
          fmt::format("--out {}: the folder holds other things ('{}'); give --force to "
                      "write there all the same",
                      path, name));
    }
  }
}

void RemoveUnfinished(const std::string& path) {
  std::vector<fs::path> unfinished;
  for (const auto& entry : fs::directory_iterator(path)) {
    if (IsUnfinished(entry.path().filename())) unfinished.push_back(entry.path());
  }
  for (const fs::path& file : unfinished) fs::remove(file);
}

}  // namespace

void CheckReadable(const std::string& path, std::uintmax_t most) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (error || status.type() == fs::file_type::directory) return;
  const std::string limit =
      most >> 30 > (1 << 20) ? "" : fmt::format(" of at most {} MB", most >> 20);
  if (status.type() != fs::file_type::regular) {
    throw InputError(fmt::format("{}: expected a file{}, got a device or a pipe", path, limit));
  }
  const std::uintmax_t size = fs::file_size(path, error);
  if (!error && size > most) {
    throw InputError(
        fmt::format("{}: expected a file{}, got one of {} MB", path, limit, size >> 20));
  }
}

std::string ReadFile(const std::string& path) {
  CheckReadable(path);
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  const bool readable = in && !fs::is_directory(path);
  // Of an empty file the stream says that nothing could be copied.
  if (readable && in.peek() != std::ifstream::traits_type::eof()) text << in.rdbuf();
  if (!readable || in.bad() || text.fail()) {
    throw InputError(fmt::format("{}: cannot be read", path));
  }
  return text.str();
}

void RequireWritable(const std::string& option, const std::string& path) {
  if (access(fs::absolute(path).parent_path().c_str(), W_OK) == 0) return;
  throw InputError(fmt::format("{} {}: {}", option, path, std::strerror(errno)));
}

void WriteFileAtomically(const std::string& path, std::string_view contents) {
  std::string name = path + ".XXXXXX";
  const int fd = mkstemp(name.data());
  if (fd < 0) throw Failure(path, "cannot be written");
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(fd, 0666 & ~mask);
  std::size_t done = 0;
  while (done < contents.size()) {
    const ssize_t n = write(fd, contents.data() + done, contents.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += static_cast<std::size_t>(n);
  }
  const bool written = done == contents.size();
  const int reason = errno;
  if (close(fd) != 0 || !written || std::rename(name.c_str(), path.c_str()) != 0) {
    if (!written) errno = reason;
    const std::system_error failure = Failure(path, "cannot be written");
    unlink(name.c_str());
    throw failure;
  }
}

// The file .smk-run, locked; it goes with this object.
class OutputFolder::Mark {
 public:
  explicit Mark(const std::string& folder) : path_((fs::path(folder) / kMark).string()) {
    struct stat opened {
    }, there{};
    do {  // it may just have gone with another one's end
      if (fd_ >= 0) close(fd_);
      fd_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
      if (fd_ < 0) throw Failure(path_, "cannot be written");
      if (flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        close(fd_);
        throw InputError(fmt::format("--out {}: another run is writing there", folder));
      }
    } while (fstat(fd_, &opened) != 0 || stat(path_.c_str(), &there) != 0 ||
             opened.st_ino != there.st_ino);
  }
  ~Mark() {
    unlink(path_.c_str());
    close(fd_);
  }
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;

 private:
  std::string path_;
  int fd_ = -1;
};

Writing WritingInto(const std::string& folder) {
  const int fd = open((fs::path(folder) / kMark).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Writing::kNobody;
  const bool locked = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(fd);
  return locked ? Writing::kAtWork : Writing::kKilled;
}

OutputFolder OutputFolder::Prepare(const std::string& path, bool force,
                                   const std::vector<std::string>& subfolders) {
  if (path.empty()) return {};
  try {
    if (fs::exists(path) && !fs::is_directory(path)) {
      throw InputError(fmt::format("--out {}: is not a folder", path));
    }
    fs::create_directories(path);
    auto mark = std::make_shared<const Mark>(path);
    if (!force) RefuseOtherContents(path, subfolders);
    RemoveUnfinished(path);
    const std::string probe = (fs::path(path) / kProbe).string();
    WriteFileAtomically(probe, "");
    fs::remove(probe);
    return {path, std::move(mark)};
  } catch (const InputError&) {
    throw;
  } catch (const fs::filesystem_error& error) {
    throw InputError(fmt::format("--out {}: {}", path, error.code().message()));
  } catch (const std::runtime_error&) {
    throw InputError(fmt::format("--out {}: {}", path, std::strerror(errno)));
  }
}

void OutputFolder::Clear() const {
  if (path_.empty()) return;
  std::error_code ignored;
  for (const char* name : kOurFiles) fs::remove(fs::path(path_) / name, ignored);
}

std::vector<std::string> OutputFolder::Outputs() const {
  std::vector<std::string> names;
  for (const std::string name : kOurFiles) {
    if (std::find(std::begin(kNoOutputs), std::end(kNoOutputs), name) != std::end(kNoOutputs)) {
      continue;
    }
    if (!path_.empty() && fs::exists(fs::path(path_) / name)) names.push_back(name);
  }
  return names;
}

void OutputFolder::Write(const std::string& name, std::string_view contents) const {
  if (!path_.empty()) WriteFileAtomically((fs::path(path_) / name).string(), contents);
}

}  // namespace smk::sim
