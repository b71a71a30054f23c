#include "gpu/simt/race_shadow.hpp"

#include <sys/mman.h>

#include <new>

namespace sevenloops::simt {
namespace {

// Zero, and given real memory only where touched.
RaceCell* reserve(std::size_t count) {
  void* memory = mmap(nullptr, count * sizeof(RaceCell), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return static_cast<RaceCell*>(memory);
}

}  // namespace

RaceShadow::RaceShadow(std::size_t bytes, const WarpClock& clock)
    : clock_(clock),
      bytes_((bytes + 7) / 4 * 4),
      cells_(reserve(bytes_ / 4)),
      byte_cells_(reserve(bytes_)) {}

RaceShadow::~RaceShadow() {
  munmap(cells_, bytes_ / 4 * sizeof(RaceCell));
  munmap(byte_cells_, bytes_ * sizeof(RaceCell));
}

void RaceShadow::split_cell(std::size_t word) {
  RaceCell& cell = cells_[word];
  cell.is_split = false;
  for (std::size_t byte = word * 4; byte < word * 4 + 4; ++byte) byte_cells_[byte] = cell;
  cell.is_split = true;
  cell.write_stamp = clock_.now();
}

}  // namespace sevenloops::simt
