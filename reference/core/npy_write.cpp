#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <type_traits>
#include <vector>

#include "reference/core/error.hpp"
#include "reference/core/npy.hpp"
#include "reference/core/numerics.hpp"

namespace sevenloops {
namespace {

// A file that takes its final name only when it is complete, and vanishes otherwise.
class NewFile {
 public:
  explicit NewFile(const std::string& path) : path_(path) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (std::filesystem::exists(status)) {
      // A directory or a device must not be replaced, nor a file that may not be written.
      if (!std::filesystem::is_regular_file(status)) fail("it is not a file");
      if (access(path.c_str(), W_OK) != 0) fail(std::strerror(errno));
      path_ = std::filesystem::canonical(path, error).string();  // through symbolic links
    }
    temporary_ = path_ + "." + std::to_string(getpid()) + ".part";
    descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail(std::strerror(errno));
  }

  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  ~NewFile() {
    if (descriptor_ >= 0) {
      close(descriptor_);
      unlink(temporary_.c_str());
    }
  }

  void append(const void* from, std::size_t bytes) {
    const char* const begin = static_cast<const char*>(from);
    pending_.insert(pending_.end(), begin, begin + bytes);
    if (pending_.size() >= kPendingBytes) flush();
  }

  void finish() {
    flush();
    if (fsync(descriptor_) != 0) fail(std::strerror(errno));
    if (rename(temporary_.c_str(), path_.c_str()) != 0) fail(std::strerror(errno));
    close(descriptor_);
    descriptor_ = -1;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw Error(path_ + " cannot be written: " + why);
  }

  void flush() {
    for (std::size_t done = 0; done < pending_.size();) {
      const ssize_t count = write(descriptor_, &pending_[done], pending_.size() - done);
      if (count < 0 && errno != EINTR) fail(std::strerror(errno));
      if (count > 0) done += static_cast<std::size_t>(count);
    }
    pending_.clear();
  }

  static constexpr std::size_t kPendingBytes = std::size_t{1} << 20;
  std::string path_, temporary_;
  std::vector<char> pending_;
  int descriptor_ = -1;
};

std::string header_of(const char* descr, const Extents& extents, int rank) {
  std::string shape;
  for (int axis = 4 - rank; axis < 4; ++axis) {
    shape += (shape.empty() ? "" : ", ") + std::to_string(extents[axis]);
  }
  if (rank == 1) shape += ",";
  std::string text =
      "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  // Magic, version and length take 10 bytes; NumPy wants the data to start at a multiple of 64.
  while ((10 + text.size() + 1) % 64 != 0) text += ' ';
  text += '\n';
  std::string head("\x93NUMPY\x01\x00", 8);
  head += static_cast<char>(text.size() & 0xFF);
  head += static_cast<char>(text.size() >> 8);
  return head + text;
}

}  // namespace

template <typename T>
void write_npy(const std::string& path, TensorView<const T> tensor, int rank) {
  if (rank < 1 || rank > 4) throw Error("rank", rank, "be 1 to 4");
  for (int axis = 0; axis < 4 - rank; ++axis) {
    if (tensor.extent(axis) != 1) {
      throw Error("extent " + std::to_string(axis) + " of the array for " + path,
                  tensor.extent(axis), "be 1 to be left out");
    }
  }
  using Stored = std::conditional_t<std::is_same_v<T, Bfloat16>, float, T>;
  const std::string descr = "<f" + std::to_string(sizeof(Stored));
  NewFile file(path);
  const std::string header = header_of(descr.c_str(), tensor.extents, rank);
  file.append(header.data(), header.size());
  for_each_index(tensor.extents, [&](auto n, auto c, auto h, auto w) {
    const Stored element = static_cast<Stored>(tensor(n, c, h, w));
    file.append(&element, sizeof element);
  });
  file.finish();
}

template void write_npy(const std::string&, TensorView<const double>, int);
template void write_npy(const std::string&, TensorView<const float>, int);
template void write_npy(const std::string&, TensorView<const Half>, int);
template void write_npy(const std::string&, TensorView<const Bfloat16>, int);

}  // namespace sevenloops
