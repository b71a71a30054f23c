// Links in Markdown: each relative one must lead somewhere.

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include "tests/support/repo_rules.hpp"

namespace sevenloops::testing {
namespace {

/// `text` of a Markdown file with fenced blocks, inline code and HTML comments blanked out.
std::string prose_only(std::string_view text) {
  std::string prose(text);
  bool fenced = false;
  for (std::string_view line : lines_of(text)) {
    const std::size_t begin = line.data() - text.data();
    const bool fence =
        line.substr(std::min(line.size(), line.find_first_not_of(' '))).starts_with("```");
    fenced = fenced != fence;
    if (fenced || fence) std::fill_n(prose.begin() + begin, line.size(), ' ');
  }
  const auto blank = [&](std::string_view open, std::string_view close) {
    for (std::size_t at = 0; (at = prose.find(open, at)) != std::string::npos;) {
      const std::size_t end = prose.find(close, at + open.size());
      if (end == std::string::npos) return;
      for (; at < end + close.size(); ++at) {
        if (prose[at] != '\n') prose[at] = ' ';
      }
    }
  };
  blank("<!--", "-->");
  blank("`", "`");
  return prose;
}

/// The anchor that GitHub makes of a heading.
std::string slug(std::string_view heading) {
  std::string anchor;
  for (unsigned char c : heading) {
    if (std::isalnum(c) || c == '-' || c == '_' || c >= 0x80) {
      anchor += static_cast<char>(std::tolower(c));
    } else if (c == ' ') {
      anchor += '-';
    }
  }
  return anchor;
}

std::set<std::string> anchors_of(std::string_view text) {
  std::set<std::string> anchors;
  bool fenced = false;
  for (std::string_view line : lines_of(text)) {
    if (line.starts_with("```")) fenced = !fenced;
    const std::size_t level = line.find_first_not_of('#');
    if (fenced || level == 0 || level > 6 || line[level] != ' ') continue;
    const std::string first = slug(line.substr(level + 1));
    std::string anchor = first;
    for (int again = 1; !anchors.insert(anchor).second; ++again) {
      anchor = first + "-" + std::to_string(again);
    }
  }
  return anchors;
}

bool has_folder(const Tree& tree, const std::string& folder) {
  const auto next = tree.lower_bound(folder + "/");
  return next != tree.end() && next->first.starts_with(folder + "/");
}

/// What is wrong with a link in `path`; empty when it leads somewhere.
std::string fault_of(const Tree& tree, const std::string& path, const std::string& link) {
  const std::size_t hash = std::min(link.find('#'), link.size());
  std::string file = path;
  if (hash > 0) {
    const auto joined = std::filesystem::path(folder_of(path)) / link.substr(0, hash);
    file = joined.lexically_normal().generic_string();
    if (file.ends_with('/')) file.pop_back();
  }
  if (!tree.contains(file)) {
    return has_folder(tree, file) && hash == link.size() ? "" : "there is no " + file;
  }
  if (hash == link.size() || anchors_of(tree.at(file)).contains(link.substr(hash + 1))) return "";
  return file + " has no heading " + link.substr(hash);
}

}  // namespace

Violations links_resolve(const Tree& tree) {
  Violations found;
  for (const auto& [path, text] : tree) {
    if (!path.ends_with(".md")) continue;
    const std::string prose = prose_only(text);
    for (std::size_t at = 0; (at = prose.find("](", at)) != std::string::npos; at += 2) {
      const std::size_t end = prose.find_first_of(") \n", at + 2);
      const std::string link = prose.substr(at + 2, end - at - 2);
      // The documentation's own references, and addresses elsewhere.
      if (link.starts_with("@ref") || link.starts_with("mailto:") ||
          link.find("://") != link.npos) {
        continue;
      }
      const std::string fault = fault_of(tree, path, link);
      if (!fault.empty()) {
        found.push_back(place(path, text, at) + "link " + link + ": " + fault);
      }
    }
  }
  return found;
}

}  // namespace sevenloops::testing
