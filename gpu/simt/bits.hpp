#pragma once
// One bit a byte: which bytes of a stretch of memory have a property. Words are changed one by one
// without tearing, so that workers may share them.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sevenloops::simt {

/// Calls f(word, mask) for the words that hold bits [first, first + count); stops when f is false.
template <typename F>
bool each_word(std::uint64_t* bits, std::size_t first, std::size_t count, F&& f) {
  while (count > 0) {
    const std::size_t bit = first % 64, part = std::min(count, 64 - bit);
    const std::uint64_t mask = (part == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << part) - 1)
                               << bit;
    if (!f(bits[first / 64], mask)) return false;
    first += part;
    count -= part;
  }
  return true;
}

inline bool all_set(std::uint64_t* bits, std::size_t first, std::size_t count) {
  return each_word(bits, first, count, [](std::uint64_t& word, std::uint64_t mask) {
    return (std::atomic_ref(word).load(std::memory_order_relaxed) & mask) == mask;
  });
}

inline bool none_set(std::uint64_t* bits, std::size_t first, std::size_t count) {
  return each_word(bits, first, count, [](std::uint64_t& word, std::uint64_t mask) {
    return (std::atomic_ref(word).load(std::memory_order_relaxed) & mask) == 0;
  });
}

inline void set_bits(std::uint64_t* bits, std::size_t first, std::size_t count) {
  each_word(bits, first, count, [](std::uint64_t& word, std::uint64_t mask) {
    std::atomic_ref shared(word);
    if (mask == ~std::uint64_t{0}) {
      shared.store(mask, std::memory_order_relaxed);
    } else if ((shared.load(std::memory_order_relaxed) & mask) != mask) {
      shared.fetch_or(mask, std::memory_order_relaxed);
    }
    return true;
  });
}

inline void clear_bits(std::uint64_t* bits, std::size_t first, std::size_t count) {
  each_word(bits, first, count, [](std::uint64_t& word, std::uint64_t mask) {
    std::atomic_ref(word).fetch_and(~mask, std::memory_order_relaxed);
    return true;
  });
}

}  // namespace sevenloops::simt
