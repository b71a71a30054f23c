#include "gpu/simt/image.hpp"

#include <cxxabi.h>
#include <elf.h>
#include <link.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "reference/core/error.hpp"

// Its address and its place in the symbol table tell where a thread's variables start.
extern "C" {
__thread char sevenloops_thread_storage_anchor = 1;
}

namespace sevenloops::simt {
namespace {

std::string demangled(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? text.get() : mangled;
}

void erase_all(std::string& text, std::string_view part) {
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part)) {
    text.erase(at, part.size());
  }
}

struct Loaded {
  std::uintptr_t inside, bias = 0, low = 0, high = 0;
  std::string path;
};

int find_loaded(dl_phdr_info* info, std::size_t, void* data) {
  Loaded& found = *static_cast<Loaded*>(data);
  std::uintptr_t low = ~std::uintptr_t{0}, high = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    low = std::min<std::uintptr_t>(low, info->dlpi_addr + part.p_vaddr);
    high = std::max<std::uintptr_t>(high, info->dlpi_addr + part.p_vaddr + part.p_memsz);
  }
  if (found.inside < low || found.inside >= high) return 0;
  found.bias = info->dlpi_addr;
  found.low = low;
  found.high = high;
  found.path = info->dlpi_name[0] == '\0' ? "/proc/self/exe" : info->dlpi_name;
  return 1;
}

// A variable inside a function, neither a red zone (device.hpp) nor a guard of its initialization.
bool is_shared_array(const std::string& mangled) {
  return mangled.starts_with("_ZZ") && mangled.find("sevenloops_red_zone") == mangled.npos;
}

template <typename T>
const T* at(const std::vector<char>& file, std::size_t offset, std::size_t count = 1) {
  if (offset > file.size() || count > (file.size() - offset) / sizeof(T)) {
    throw Error("the emulator cannot read the symbols of its own program: the file is damaged");
  }
  return reinterpret_cast<const T*>(file.data() + offset);
}

}  // namespace

std::string short_name(const std::string& demangled) {
  std::string text = demangled;
  for (const char* part : {"(anonymous namespace)::", "sevenloops::", "build_traced::",
                           "build_plain::", "[abi:cxx11]"}) {
    erase_all(text, part);
  }
  // Up to the parameters, from after the return type and the namespaces; template arguments are
  // jumped over.
  int depth = 0;
  std::size_t first = 0, last = text.size();
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '<') ++depth;
    if (c == '>') --depth;
    if (depth > 0) continue;
    if (c == ' ' || c == ':') first = i + 1;
    if (c == '(') {
      last = i;
      break;
    }
  }
  return text.substr(first, last - first);
}

const Image& Image::get() {
  static const Image image;
  return image;
}

Image::Image() {
  Loaded loaded{.inside = reinterpret_cast<std::uintptr_t>(&find_loaded), .path = ""};
  dl_iterate_phdr(find_loaded, &loaded);
  load_bias_ = loaded.bias;
  low_ = loaded.low;
  high_ = loaded.high;
  path_ = std::filesystem::canonical(loaded.path);
  std::ifstream in(path_, std::ios::binary);
  const std::vector<char> file((std::istreambuf_iterator<char>(in)), {});
  read_symbols(file);
}

void Image::read_symbols(const std::vector<char>& file) {
  bool has_anchor = false;
  const auto& header = *at<ElfW(Ehdr)>(file, 0);
  const auto* sections = at<ElfW(Shdr)>(file, header.e_shoff, header.e_shnum);
  for (int s = 0; s < header.e_shnum; ++s) {
    if (sections[s].sh_type != SHT_SYMTAB) continue;
    const std::size_t count = sections[s].sh_size / sizeof(ElfW(Sym));
    const auto* symbols = at<ElfW(Sym)>(file, sections[s].sh_offset, count);
    const auto& text = sections[sections[s].sh_link];
    const char* names = at<char>(file, text.sh_offset, text.sh_size);
    for (std::size_t i = 0; i < count; ++i) {
      const ElfW(Sym)& symbol = symbols[i];
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= text.sh_size) continue;
      const std::string name = names + symbol.st_name;
      const int type = symbol.st_info & 0xf;
      const bool traced = name.find("12build_traced") != std::string::npos;
      const bool ours = traced || name.find("11build_plain") != std::string::npos;
      if (type == STT_FUNC && ours) functions_.emplace(symbol.st_value, name);
      if (type != STT_TLS) continue;
      if (name == "sevenloops_thread_storage_anchor") {
        anchor_offset_ = symbol.st_value;
        has_anchor = true;
      } else if (ours && is_shared_array(name)) {
        const std::string whole = demangled(name);
        arrays_[traced].push_back(
            {whole.substr(whole.rfind("::") + 2), name, symbol.st_value, symbol.st_size});
      }
    }
  }
  if (!has_anchor) {
    throw Error("the emulator needs its program's symbols: do not strip the file");
  }
}

const std::string* Image::mangled_name(const void* address) const {
  const auto found = functions_.find(reinterpret_cast<std::uintptr_t>(address) - load_bias_);
  return found == functions_.end() ? nullptr : &found->second;
}

std::string Image::kernel_name(const void* address) const {
  const std::string* mangled = mangled_name(address);
  return mangled == nullptr ? "unnamed kernel" : short_name(demangled(*mangled));
}

std::vector<const SharedArray*> Image::shared_arrays_of(const void* address, bool traced) const {
  std::vector<const SharedArray*> own;
  const std::string* mangled = mangled_name(address);
  if (mangled == nullptr) return own;
  const std::string prefix = "_ZZ" + mangled->substr(2) + "E";
  for (const SharedArray& array : arrays_[traced]) {
    if (array.mangled.starts_with(prefix)) own.push_back(&array);
  }
  return own;
}

std::uintptr_t Image::thread_storage() const {
  return reinterpret_cast<std::uintptr_t>(&sevenloops_thread_storage_anchor) - anchor_offset_;
}

}  // namespace sevenloops::simt
