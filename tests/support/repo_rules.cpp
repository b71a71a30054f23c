#include "tests/support/repo_rules.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>

#include "reference/core/error.hpp"
#include "tests/support/problem_list.hpp"

namespace sevenloops::testing {
namespace {

bool is_source(const std::string& path) {
  return path.ends_with(".hpp") || path.ends_with(".cpp") || path.ends_with(".cu");
}

/// "gpu/conv2d/stages.def" for a kernel file of a primitive's folder, "" for any other file.
std::string list_of(const std::string& path) {
  const std::string folder = folder_of(path);
  return path.ends_with(".cu") && folder_of(folder) == "gpu" ? folder + "/stages.def" : "";
}

/// A file's name without folder and ending.
std::string stem_of(const std::string& path) {
  const std::size_t begin = path.rfind('/') + 1;  // 0 when there is no folder
  return path.substr(begin, path.rfind('.') - begin);
}

/// The names in a stages.def, in order.
std::vector<std::string> stages_in(std::string_view list) {
  const std::string_view word = "SEVENLOOPS_STAGE(";
  std::vector<std::string> names;
  for (std::string_view line : lines_of(list)) {
    if (!line.starts_with(word)) continue;
    names.emplace_back(line.substr(word.size(), line.find(')') - word.size()));
  }
  return names;
}

Violations top_level_is_fixed(const Tree& tree) {
  const std::set<std::string> agreed = {"CMakeLists.txt", "CMakePresets.json",
                                        "README.md",      "LICENSE",
                                        "reference",      "gpu",
                                        "lessons",        "tests",
                                        "bench",          "docs"};
  std::set<std::string> there;
  for (const auto& [path, text] : tree) there.insert(path.substr(0, path.find('/')));
  Violations found;
  for (const std::string& name : there) {
    if (!name.starts_with('.') && !agreed.contains(name)) {
      found.push_back(name + ": not one of the agreed entries of the top level");
    }
  }
  for (const std::string& name : agreed) {
    if (!there.contains(name)) found.push_back(name + ": missing from the top level");
  }
  return found;
}

/// The page that names the stages in the order of their lists.
const std::string kPathPage = "lessons/README.md";

Violations stage_lists_are_the_files(const Tree& tree) {
  const std::string path_page = tree.contains(kPathPage) ? tree.at(kPathPage) : "";
  Violations found;
  for (const auto& [path, text] : tree) {
    if (path.ends_with("/stages.def")) {
      std::set<std::string> seen;
      std::size_t at = 0;  // in the page
      for (const std::string& name : stages_in(text)) {
        const std::string file = folder_of(path) + "/" + name + ".cu";
        if (!tree.contains(file)) found.push_back(path + ": there is no " + file);
        if (!seen.insert(name).second) found.push_back(path + ": lists " + name + " twice");
        const std::size_t next = path_page.find("`" + name + "`", at);
        if (next == path_page.npos) found.push_back(kPathPage + ": no `" + name + "` in order");
        at = std::min(next, path_page.size());
      }
    }
    const std::string list = list_of(path);
    if (list.empty()) continue;
    const auto names = tree.contains(list) ? stages_in(tree.at(list)) : std::vector<std::string>();
    if (std::find(names.begin(), names.end(), stem_of(path)) == names.end()) {
      found.push_back(path + ": not in " + list);
    }
  }
  return found;
}

Violations problem_files_parse(const Tree& tree) {
  Violations found;
  for (const auto& [path, text] : tree) {
    if (!path.starts_with("tests/problems/") || !path.ends_with(".txt")) continue;
    try {
      std::istringstream in(text);
      read_problems(in, path);
    } catch (const Error& error) {
      found.push_back(error.what());
    }
  }
  return found;
}

struct Include {
  std::string file;
  std::size_t at;
};

/// What a source includes in quotes.
std::vector<Include> includes_of(std::string_view text) {
  const std::string code = code_only(text);
  const std::string_view word = "#include \"";
  std::vector<Include> includes;
  for (std::string_view line : lines_of(code)) {
    if (!line.starts_with(word)) continue;
    const std::size_t begin = line.data() - code.data() + word.size();
    includes.push_back({std::string(text.substr(begin, text.find('"', begin) - begin)), begin});
  }
  return includes;
}

/// Files include what lies as high as they or below; -1 is what nobody may include.
int height_of(const std::string& path) {
  const std::string folder = folder_of(path);
  if (folder == "reference/core") return 0;
  if (folder.starts_with("reference/")) return 1;
  if (folder == "gpu" || folder == "gpu/simt") return 2;
  if (folder.starts_with("gpu/")) return 3;
  if (path.starts_with("bench/")) return 4;
  if (path.starts_with("tests/")) return 5;  // which tests the benchmarks' code too
  return path.starts_with("docs/") ? 6 : -1;
}

Violations includes_point_down(const Tree& tree) {
  Violations found;
  for (const auto& [path, text] : tree) {
    if (!is_source(path)) continue;
    for (const auto& [file, at] : includes_of(text)) {
      if (file.ends_with(".inc")) continue;  // written by the build
      const int to = height_of(file);
      if (!tree.contains(file)) {
        found.push_back(place(path, text, at) + file + " is not a path from the root");
      } else if (to < 0 || to > height_of(path)) {
        found.push_back(place(path, text, at) + file + " lies above its includer");
      }
    }
  }
  return found;
}

Violations stages_stand_alone(const Tree& tree) {
  Violations found;
  for (const auto& [path, text] : tree) {
    if (list_of(path).empty()) continue;
    std::set<std::string> seen = {path};
    std::vector<std::string> open = {path};
    while (!open.empty()) {
      const std::string file = open.back();
      open.pop_back();
      for (const Include& include : includes_of(tree.contains(file) ? tree.at(file) : "")) {
        if (seen.insert(include.file).second) open.push_back(include.file);
      }
    }
    for (const std::string& file : seen) {
      const bool definition = file.starts_with("reference/") &&
                              !file.starts_with("reference/core/") &&
                              !file.ends_with("/problem.hpp");
      if (definition || (file.ends_with(".cu") && file != path)) {
        found.push_back(path + ": includes " + file + ", directly or through another file");
      }
    }
  }
  return found;
}

Violations device_words_in_place(const Tree& tree) {
  const std::set<std::string> ptx = {"gpu/async_copy.hpp", "gpu/tensor_core.hpp"};
  const std::set<std::string> compiler = {"gpu/cuda.hpp", "gpu/launch.hpp"};
  Violations found;
  for (const auto& [path, text] : tree) {
    if (!is_source(path)) continue;
    const std::string code = code_only(text);
    const auto forbid = [&, &path = path, &text = text](const std::set<std::string>& where,
                                                        const char* word, std::size_t at) {
      if (at != code.npos && !where.contains(path)) {
        found.push_back(place(path, text, at) + word + " belongs in " + *where.begin() + " or " +
                        *where.rbegin());
      }
    };
    forbid(
        ptx, "asm",
        std::min({find_word(code, "asm"), find_word(code, "__asm__"), find_word(code, "__asm")}));
    forbid(compiler, "<<<", code.find("<<<"));
    forbid(compiler, "__CUDACC__", find_word(code, "__CUDACC__"));
  }
  return found;
}

Violations stages_are_read_with_diff(const Tree& tree) {
  Violations found;
  for (const auto& [path, text] : tree) {
    if (list_of(path).empty()) continue;
    const std::size_t last_lines = 250, most_regions = 4;
    if (!text.starts_with("//")) found.push_back(path + ":1: no header comment");
    const std::vector<std::string_view> lines = lines_of(text);
    if (lines.size() > last_lines) found.push_back(path + ":251: more than 250 lines");

    const std::string code = code_only(text);
    std::size_t before = 0;
    for (const std::string part :
         {"__global__ ", "Support supports(", "void launch", "const Stage<"}) {
      if (part == "__global__ " && code.find(".gpu_library") != code.npos) continue;
      const std::size_t at = code.find(part, before);
      if (at == code.npos) {
        found.push_back(path + ": no \"" + part + "\" below what should stand above it");
        break;
      }
      before = at;
    }
    const std::size_t last_kernel = code.rfind("__global__ ");
    if (last_kernel != code.npos && last_kernel > code.find("Support supports(")) {
      found.push_back(path + ": a kernel stands below supports()");
    }
    const std::string name = ".name = \"" + stem_of(path) + "\"";
    if (text.find(name, before) == text.npos) {
      found.push_back(path + ": the Stage object does not say " + name);
    }

    std::map<std::string_view, int> marks;
    for (std::string_view line : lines) {
      const std::size_t mark = line.find("// [");
      if (mark != line.npos && line.ends_with(']')) ++marks[line.substr(mark)];
    }
    if (marks.size() > most_regions) found.push_back(path + ": more than four regions");
    for (const auto& [mark, count] : marks) {
      if (count != 2) found.push_back(path + ": region " + std::string(mark) + " has no two ends");
    }
  }
  return found;
}

}  // namespace

const std::vector<RepoRule>& repo_rules() {
  static const std::vector<RepoRule> rules = {
      {"top_level_is_fixed", "a newcomer learns ten names once", top_level_is_fixed},
      {"stage_lists_are_the_files", "a stage cannot be forgotten", stage_lists_are_the_files},
      {"problem_files_parse", "a line nobody can read tests nothing", problem_files_parse},
      {"includes_point_down", "the definition knows nothing of CUDA", includes_point_down},
      {"stages_stand_alone", "a shared helper hides a shared fault", stages_stand_alone},
      {"links_resolve", "a text cannot drift from its tree", links_resolve},
      {"device_words_in_place", "kernel files run everywhere unchanged", device_words_in_place},
      {"stages_are_read_with_diff", "neighbors differ by their idea alone",
       stages_are_read_with_diff},
      {"headers_introduce_themselves", "a header's second line answers: what is this?",
       headers_introduce_themselves},
      {"names_say_what_is_there", "files are named by idea", names_say_what_is_there},
      {"nothing_is_left_to_do", "what is not done is not here", nothing_is_left_to_do},
      {"spelling_is_american", "one spelling can be searched for", spelling_is_american},
  };
  return rules;
}

}  // namespace sevenloops::testing
