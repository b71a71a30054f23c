#pragma once
// Where in the source an instruction comes from.

#include <cstdint>
#include <string>
#include <vector>

namespace sevenloops::simt {

/// "direct.cu:42" for each of `pcs`, return addresses in the program's file. Of functions inlined
/// into each other the innermost that stands in a .cu file counts. Runs addr2line once for those
/// not known yet; where it knows nothing, or is missing, the address itself is the name: "pc
/// 0x1234".
std::vector<std::string> source_lines(const std::vector<std::uint32_t>& pcs);

}  // namespace sevenloops::simt
