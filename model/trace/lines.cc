// SPDX-License-Identifier: Apache-2.0
#include "trace/lines.h"

#include <lzma.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/error.h"

namespace smk {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 18;
constexpr std::uint64_t kXzMemory = std::uint64_t{1} << 30;  // enough for xz -9

// Bytes of a file as they are.
class FileSource : public ByteSource {
 public:
  explicit FileSource(const std::string& path) : file_(std::fopen(path.c_str(), "rb")) {
    std::error_code ignored;
    if (file_ == nullptr || std::filesystem::is_directory(path, ignored)) {
      if (file_ != nullptr) std::fclose(file_);
      throw InputError(path + ": expected a file that can be read");
    }
  }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  ~FileSource() override { std::fclose(file_); }

  std::size_t Read(char* to, std::size_t size, std::string* problem) override {
    const std::size_t n = std::fread(to, 1, size, file_);
    if (n == 0 && std::ferror(file_) != 0) {
      *problem = std::string("a file that can be read (") + std::strerror(errno) + ")";
    }
    return n;
  }

 private:
  std::FILE* file_;
};

// Bytes of a string.
class TextSource : public ByteSource {
 public:
  explicit TextSource(std::string text) : text_(std::move(text)) {}
  std::size_t Read(char* to, std::size_t size, std::string*) override {
    const std::size_t n = std::min(size, text_.size() - at_);
    std::memcpy(to, text_.data() + at_, n);
    at_ += n;
    return n;
  }

 private:
  std::string text_;
  std::size_t at_ = 0;
};

// Decompresses another source.
class XzSource : public ByteSource {
 public:
  explicit XzSource(std::unique_ptr<ByteSource> from) : from_(std::move(from)), in_(kBlock) {
    if (lzma_stream_decoder(&stream_, kXzMemory, LZMA_CONCATENATED) != LZMA_OK) {
      throw std::runtime_error("liblzma cannot be started");
    }
  }
  XzSource(const XzSource&) = delete;
  XzSource& operator=(const XzSource&) = delete;
  ~XzSource() override { lzma_end(&stream_); }

  std::size_t Read(char* to, std::size_t size, std::string* problem) override {
    stream_.next_out = reinterpret_cast<std::uint8_t*>(to);
    stream_.avail_out = size;
    while (!done_ && stream_.avail_out != 0) {
      if (stream_.avail_in == 0 && !input_done_) {
        stream_.avail_in = from_->Read(in_.data(), in_.size(), problem);
        if (!problem->empty()) return 0;
        stream_.next_in = reinterpret_cast<std::uint8_t*>(in_.data());
        input_done_ = stream_.avail_in == 0;
      }
      const lzma_ret result = lzma_code(&stream_, input_done_ ? LZMA_FINISH : LZMA_RUN);
      if (result == LZMA_STREAM_END) {
        done_ = true;
      } else if (result != LZMA_OK) {
        *problem = Expected(result);
        return 0;
      }
    }
    return size - stream_.avail_out;
  }

 private:
  static std::string Expected(lzma_ret result) {
    switch (result) {
      case LZMA_FORMAT_ERROR:
        return "xz data (this is something else)";
      case LZMA_BUF_ERROR:
        return "xz data to its end (it is cut short)";
      case LZMA_MEMLIMIT_ERROR:
        return "xz data that need at most 1 GB to decompress";
      default:
        return "undamaged xz data";
    }
  }

  std::unique_ptr<ByteSource> from_;
  std::vector<char> in_;
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool input_done_ = false, done_ = false;
};

}  // namespace

std::string Printable(std::string text) {
  for (char& c : text) c = c >= ' ' && c <= '~' ? c : '?';
  return text;
}

std::unique_ptr<ByteSource> OpenBytes(const std::string& path) {
  std::unique_ptr<ByteSource> file = std::make_unique<FileSource>(path);
  if (EndsWith(path, ".xz")) file = std::make_unique<XzSource>(std::move(file));
  return file;
}

std::unique_ptr<ByteSource> BytesOf(std::string text, bool xz) {
  std::unique_ptr<ByteSource> source = std::make_unique<TextSource>(std::move(text));
  if (xz) source = std::make_unique<XzSource>(std::move(source));
  return source;
}

TraceLines::TraceLines(std::string path, std::unique_ptr<ByteSource> source)
    : path_(std::move(path)), source_(std::move(source)), buffer_(kBlock + kMaxLine) {}

void TraceLines::Fail(const std::string& what, const std::string& expected) const {
  // What a damaged file holds does not go to a terminal as it is.
  const std::string text = Printable(what + ": expected " + expected);
  throw InputError(path_ + ":" + std::to_string(std::max<std::uint64_t>(number_, 1)) + ": " + text);
}

// Moves what is left to the front and reads behind it.
void TraceLines::Fill() {
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  std::string problem;
  const std::size_t n = source_->Read(buffer_.data() + end_, buffer_.size() - end_, &problem);
  if (!problem.empty()) {
    ++number_;
    Fail("file", problem);
  }
  at_end_ = n == 0;
  end_ += n;
}

bool TraceLines::Next() {
  const char* newline = nullptr;
  std::size_t searched = 0;
  for (;;) {
    const char* const from = buffer_.data() + begin_ + searched;
    const std::size_t left = end_ - begin_ - searched;
    newline = left == 0 ? nullptr : static_cast<const char*>(std::memchr(from, '\n', left));
    if (newline != nullptr || at_end_) break;
    searched = end_ - begin_;
    if (searched > kMaxLine) {
      ++number_;
      Fail("line", "at most 65536 characters");
    }
    Fill();
  }
  if (newline == nullptr && begin_ == end_) return false;
  ++number_;
  const char* first = buffer_.data() + begin_;
  const char* last = newline != nullptr ? newline : buffer_.data() + end_;
  begin_ = static_cast<std::size_t>(last - buffer_.data()) + (newline != nullptr ? 1 : 0);
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (first != last && blank(*first)) ++first;
  while (first != last && blank(last[-1])) --last;
  line_ = std::string_view(first, static_cast<std::size_t>(last - first));
  return true;
}

}  // namespace smk
