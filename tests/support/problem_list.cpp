#include "tests/support/problem_list.hpp"

#include <fstream>
#include <set>

#include "reference/core/error.hpp"

namespace sevenloops::testing {
namespace {

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

ListedProblem parsed(const std::string& line) {
  const auto mark = line.find('#');
  ListedProblem listed;
  if (mark != std::string::npos) listed.reason = trimmed(line.substr(mark + 1));
  if (listed.reason.empty()) throw Error("the problem has no reason behind '#'");
  const std::string text = trimmed(line.substr(0, mark));
  listed.prob = parse_conv2d(text);
  listed.text = print(listed.prob);
  if (listed.text != text) throw Error("the problem", text, "be written " + listed.text);
  return listed;
}

}  // namespace

std::vector<ListedProblem> read_problems(std::istream& in, const std::string& name) {
  std::vector<ListedProblem> problems;
  std::set<std::string> seen;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (trimmed(line).empty() || trimmed(line).front() == '#') continue;
    try {
      problems.push_back(parsed(line));
      const std::string& text = problems.back().text;
      if (!seen.insert(text).second) throw Error("the problem is listed twice: " + text);
    } catch (const Error& error) {
      throw Error(name + ":" + std::to_string(number) + ": " + error.what());
    }
  }
  if (problems.empty()) throw Error(name + " lists no problem");
  return problems;
}

std::vector<ListedProblem> listed_problems(const std::string& file) {
  const std::string path = std::string(SEVENLOOPS_SOURCE_DIR) + "/tests/problems/" + file;
  std::ifstream in(path);
  if (!in) throw Error(path + " cannot be opened");
  return read_problems(in, path);
}

}  // namespace sevenloops::testing
