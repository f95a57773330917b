// SPDX-License-Identifier: Apache-2.0
#include "trace/index.h"

#include <cstring>
#include <type_traits>

namespace smk {
namespace {

static_assert(std::is_trivially_copyable_v<Instruction> &&
              std::is_trivially_copyable_v<TraceCounts>);

// Appends to the bytes. Fields() names what is written and read; both sides share it.
class Writer {
 public:
  template <typename T>
  void operator()(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    Bytes(&value, sizeof value);
  }
  void operator()(const std::string& text) {
    (*this)(static_cast<std::uint64_t>(text.size()));
    Bytes(text.data(), text.size());
  }
  template <typename T>
  void operator()(const std::vector<T>& values) {
    (*this)(static_cast<std::uint64_t>(values.size()));
    if constexpr (std::is_trivially_copyable_v<T>) {
      Bytes(values.data(), values.size() * sizeof(T));
    } else {
      for (const T& value : values) Fields(*this, value);
    }
  }
  std::vector<std::uint8_t> Take() { return std::move(bytes_); }

 private:
  void Bytes(const void* from, std::size_t size) {
    const auto* const begin = static_cast<const std::uint8_t*>(from);
    bytes_.insert(bytes_.end(), begin, begin + size);
  }
  std::vector<std::uint8_t> bytes_;
};

// Takes from the bytes; good() is false once there were too few of them.
class Reader {
 public:
  Reader(const std::uint8_t* bytes, std::uint64_t size) : at_(bytes), left_(size) {}
  bool good() const { return good_; }

  template <typename T>
  void operator()(T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    Bytes(&value, 1, sizeof value);
  }
  void operator()(std::string& text) {
    text.resize(Count(1));
    Bytes(text.data(), text.size(), 1);
  }
  template <typename T>
  void operator()(std::vector<T>& values) {
    values.resize(Count(std::is_trivially_copyable_v<T> ? sizeof(T) : 1));
    if constexpr (std::is_trivially_copyable_v<T>) {
      Bytes(values.data(), values.size(), sizeof(T));
    } else {
      for (T& value : values) Fields(*this, value);
    }
  }

 private:
  // Number of elements, of which each takes at least `size` bytes.
  std::size_t Count(std::size_t size) {
    std::uint64_t count = 0;
    (*this)(count);
    if (count <= left_ / size) return count;
    good_ = false;
    return 0;
  }
  void Bytes(void* to, std::size_t count, std::size_t size) {
    if (!good_ || count * size > left_) {
      good_ = false;
      return;
    }
    if (count != 0) std::memcpy(to, at_, count * size);
    at_ += count * size;
    left_ -= count * size;
  }
  const std::uint8_t* at_;
  std::uint64_t left_;
  bool good_ = true;
};

template <typename Archive, typename Unknown>
void UnknownFields(Archive& archive, Unknown& unknown) {
  archive(unknown.opcode);
  archive(unknown.where);
  archive(unknown.count);
}

template <typename Archive, typename Kernel>
void KernelFields(Archive& archive, Kernel& kernel) {
  auto& header = kernel.header;
  archive(header.name);
  archive(header.id);
  archive(header.grid);
  archive(header.block);
  archive(header.shared_memory);
  archive(header.registers);
  archive(header.binary_version);
  archive(header.stream);
  archive(header.shared_base);
  archive(header.local_base);
  archive(header.tracer_version);
  archive(header.line_info);
  archive(kernel.nodes);
  archive(kernel.after);
  archive(kernel.code);
  archive(kernel.tbs);
  archive(kernel.tb_table);
  archive(kernel.counts);
  archive(kernel.unknown);
}

void Fields(Writer& archive, const UnknownOpcode& unknown) { UnknownFields(archive, unknown); }
void Fields(Reader& archive, UnknownOpcode& unknown) { UnknownFields(archive, unknown); }
void Fields(Writer& archive, const TraceKernel& kernel) { KernelFields(archive, kernel); }
void Fields(Reader& archive, TraceKernel& kernel) { KernelFields(archive, kernel); }

}  // namespace

std::vector<std::uint8_t> EncodeTraceIndex(const std::vector<TraceKernel>& kernels) {
  Writer writer;
  writer(kernels);
  return writer.Take();
}

bool DecodeTraceIndex(const std::uint8_t* bytes, std::uint64_t size,
                      std::vector<TraceKernel>* kernels) {
  Reader reader(bytes, size);
  reader(*kernels);
  if (!reader.good()) return false;
  for (const TraceKernel& kernel : *kernels) {
    const std::size_t nodes = kernel.nodes.size();
    if (nodes == 0 || kernel.after.size() != nodes || kernel.code.size() != nodes) return false;
    if (kernel.tbs != kernel.header.tbs()) return false;
  }
  return true;
}

}  // namespace smk
