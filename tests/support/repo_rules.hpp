#pragma once
// The rules of the repository's shape, as functions over a tree in memory: so each rule is itself
// tested with a tree that breaks it.

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sevenloops::testing {

/// Path from the root ("gpu/conv2d/direct.cu") to text. Folders are implied; files that are not
/// text are there with an empty text.
using Tree = std::map<std::string, std::string>;

/// The files at `root`, but for those that its .gitignore names and those of tools (.git).
Tree read_tree(const std::string& root);

/// Sentences that start with the place: "gpu/a.hpp:3: ...". Empty when the rule holds.
using Violations = std::vector<std::string>;

/// One rule, and why it is one.
struct RepoRule {
  const char* name;
  const char* reason;
  Violations (*check)(const Tree&);
};

/// Every rule there is.
const std::vector<RepoRule>& repo_rules();

/// `text` of a C++ or CUDA file with comments and the contents of literals blanked out; offsets and
/// line breaks stay.
std::string code_only(std::string_view text);

/// Relative links in Markdown files lead to files, folders and headings of the tree.
Violations links_resolve(const Tree& tree);

/// Rules about words: in every header's first lines, in file names, in all texts.
Violations headers_introduce_themselves(const Tree& tree);
Violations names_say_what_is_there(const Tree& tree);
Violations nothing_is_left_to_do(const Tree& tree);
Violations spelling_is_american(const Tree& tree);

/// "path:line: " of offset `at` in `text`.
std::string place(const std::string& path, std::string_view text, std::size_t at);

/// The pieces of `text` between line breaks.
std::vector<std::string_view> lines_of(std::string_view text);

/// Offset of `word` in `code` where it stands alone, npos when it does not.
std::size_t find_word(std::string_view code, std::string_view word);

/// The folder of a path, "" at the top.
std::string folder_of(const std::string& path);

}  // namespace sevenloops::testing
