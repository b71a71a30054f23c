#pragma once
// What the program knows about itself: its symbol table gives kernels and shared arrays their
// names.

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace sevenloops::simt {

/// A `__shared__` array: a thread-local variable inside a function of a traced or plain build.
struct SharedArray {
  std::string name;           ///< as in the source
  std::string mangled;        ///< begins with "_ZZ<function>E"
  std::size_t offset, bytes;  ///< from thread_storage()
};

/// The running program's file, read once.
class Image {
 public:
  /// Throws Error when the file cannot be read or was stripped of its symbols.
  static const Image& get();

  const std::string& path() const { return path_; }
  /// What to subtract from an address to get the file's own terms, which addr2line wants.
  std::uintptr_t load_address() const { return load_bias_; }
  /// Is this an address of the program's code or data?
  bool contains(std::uintptr_t address) const { return address - low_ < high_ - low_; }

  /// Name of the kernel at `address`, without return type, namespaces and parameters.
  std::string kernel_name(const void* address) const;
  /// All shared arrays in the build that is traced, or in the other.
  const std::vector<SharedArray>& shared_arrays(bool traced) const { return arrays_[traced]; }
  /// Those declared in the kernel at `address`.
  std::vector<const SharedArray*> shared_arrays_of(const void* address, bool traced) const;

  /// Start of the calling OS thread's thread-local variables.
  std::uintptr_t thread_storage() const;

 private:
  Image();
  void read_symbols(const std::vector<char>& file);
  const std::string* mangled_name(const void* address) const;

  std::string path_;
  std::uintptr_t load_bias_ = 0, low_ = 0, high_ = 0, anchor_offset_ = 0;
  std::unordered_map<std::uintptr_t, std::string> functions_;  // mangled, by file address
  std::vector<SharedArray> arrays_[2];
};

/// "void sevenloops::build_traced::(anonymous namespace)::direct<float>(int)" -> "direct<float>".
std::string short_name(const std::string& demangled);

}  // namespace sevenloops::simt
