// The one-line text form of a problem: printed in one canonical way, read with positions in errors.

#include <charconv>

#include "reference/conv2d/problem.hpp"
#include "reference/core/error.hpp"

namespace sevenloops {
namespace {

// What a dtype accumulates in when nothing is said.
Dtype default_accumulate(Dtype dtype) { return size_in_bytes(dtype) < 4 ? Dtype::f32 : dtype; }

bool dtype_of(std::string_view name, Dtype& dtype) {
  for (const Dtype candidate : {Dtype::f64, Dtype::f32, Dtype::f16, Dtype::bf16}) {
    if (name == name_of(candidate)) {
      dtype = candidate;
      return true;
    }
  }
  return false;
}

// Reads from left to right; every complaint knows where it stands.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Conv2dProblem read() {
    extents("nchw", {&prob_.N, &prob_.C, &prob_.H, &prob_.W});
    expect('_');
    extents("krs", {&prob_.K, &prob_.R, &prob_.S});
    while (position_ < text_.size()) {
      expect('_');
      option();
    }
    if (!accumulate_given_) prob_.accumulate = default_accumulate(prob_.dtype);
    return prob_;
  }

 private:
  [[noreturn]] void fail(std::size_t position, const std::string& complaint) const {
    constexpr std::size_t kBefore = 60, kAfter = 20;  // a screen line's worth of a long text
    const std::size_t start = position > kBefore ? position - kBefore : 0;
    std::string shown(text_.substr(start, position - start + kAfter));
    for (char& c : shown) {
      if (c < ' ' || c > '~') c = '?';
    }
    throw Error("the problem text cannot be read at position " + std::to_string(position + 1) +
                ": " + complaint + "\n  " + shown + "\n  " + std::string(position - start, ' ') +
                "^");
  }

  void expect(char c) {
    if (position_ == text_.size() || text_[position_] != c) {
      fail(position_, std::string("expected \"") + c + "\"");
    }
    ++position_;
  }

  std::int64_t number() {
    std::int64_t value = 0;
    const char* const begin = text_.data() + position_;
    const char* const end = text_.data() + text_.size();
    if (begin == end || *begin < '0' || *begin > '9') fail(position_, "expected a number");
    const auto result = std::from_chars(begin, end, value);
    if (result.ec == std::errc::result_out_of_range) {
      fail(position_, "the number does not fit into 64 bits");
    }
    position_ += result.ptr - begin;
    return value;
  }

  void extents(std::string_view letters, std::initializer_list<std::int64_t*> fields) {
    auto field = fields.begin();
    for (const char letter : letters) {
      expect(letter);
      **field++ = number();
    }
  }

  // "3" or "3x4" or, where four are allowed, "3x4x5x6"; returns how many there were.
  int numbers(std::int64_t (&values)[4], bool four) {
    const std::size_t start = position_;
    int count = 0;
    do {
      if (count == 4) fail(start, "expected at most 4 numbers");
      values[count++] = number();
    } while (position_ < text_.size() && text_[position_] == 'x' && ++position_);
    if (count == 1) {
      values[1] = values[0];
    } else if (count != 2 && !(four && count == 4)) {
      fail(start, four ? "expected 1, 2 or 4 numbers" : "expected 1 or 2 numbers");
    }
    return count;
  }

  void option() {
    const std::size_t start = position_;
    const std::string_view rest = text_.substr(start);
    const std::string_view word = rest.substr(0, rest.find('_'));
    Dtype dtype;
    std::int64_t v[4];
    if (word == "conv" || word == "xcorr") {
      once(mode_given_, start, "the mode");
      prob_.mode = word == "conv" ? ConvMode::convolution : ConvMode::cross_correlation;
      position_ += word.size();
    } else if (dtype_of(word, dtype)) {
      once(dtype_given_, start, "the storage type");
      prob_.dtype = dtype;
      position_ += word.size();
    } else if (word.starts_with('a') && dtype_of(word.substr(1), dtype)) {
      once(accumulate_given_, start, "the accumulation type");
      prob_.accumulate = dtype;
      position_ += word.size();
    } else if (word.starts_with('p')) {
      once(pad_given_, start, "the padding");
      ++position_;
      const bool four = numbers(v, true) == 4;
      prob_.pad_top = v[0];
      prob_.pad_left = v[1];
      prob_.pad_bottom = four ? v[2] : v[0];
      prob_.pad_right = four ? v[3] : v[1];
    } else if (word.starts_with('u')) {
      once(stride_given_, start, "the stride");
      ++position_;
      numbers(v, false);
      prob_.stride_h = v[0];
      prob_.stride_w = v[1];
    } else if (word.starts_with('d')) {
      once(dilation_given_, start, "the dilation");
      ++position_;
      numbers(v, false);
      prob_.dilation_h = v[0];
      prob_.dilation_w = v[1];
    } else if (word.starts_with('g')) {
      once(groups_given_, start, "the number of groups");
      ++position_;
      prob_.groups = number();
    } else {
      fail(start,
           "expected p (padding), u (stride), d (dilation), g (groups), conv, xcorr, a storage "
           "type (f64, f32, f16, bf16) or an accumulation type (af64, af32, af16, abf16)");
    }
  }

  void once(bool& given, std::size_t position, const std::string& what) const {
    if (given) fail(position, what + " is given twice");
    given = true;
  }

  std::string_view text_;
  std::size_t position_ = 0;
  Conv2dProblem prob_;
  bool pad_given_ = false, stride_given_ = false, dilation_given_ = false, groups_given_ = false,
       mode_given_ = false, dtype_given_ = false, accumulate_given_ = false;
};

std::string text_of(std::int64_t value) { return std::to_string(value); }

// "_u2", "_u2x1", or nothing for the default.
std::string pair_text(const char* letter, std::int64_t h, std::int64_t w, std::int64_t standard) {
  if (h == standard && w == standard) return "";
  return letter + text_of(h) + (h == w ? "" : "x" + text_of(w));
}

}  // namespace

std::string print(const Conv2dProblem& prob) {
  std::string text = "n" + text_of(prob.N) + "c" + text_of(prob.C) + "h" + text_of(prob.H) + "w" +
                     text_of(prob.W) + "_k" + text_of(prob.K) + "r" + text_of(prob.R) + "s" +
                     text_of(prob.S);
  if (prob.pad_top == prob.pad_bottom && prob.pad_left == prob.pad_right) {
    text += pair_text("_p", prob.pad_top, prob.pad_left, 0);
  } else {
    text += "_p" + text_of(prob.pad_top) + "x" + text_of(prob.pad_left) + "x" +
            text_of(prob.pad_bottom) + "x" + text_of(prob.pad_right);
  }
  text += pair_text("_u", prob.stride_h, prob.stride_w, 1);
  text += pair_text("_d", prob.dilation_h, prob.dilation_w, 1);
  if (prob.groups != 1) text += "_g" + text_of(prob.groups);
  if (prob.mode == ConvMode::convolution) text += "_conv";
  if (prob.dtype != Dtype::f32) text += "_" + std::string(name_of(prob.dtype));
  if (prob.accumulate != default_accumulate(prob.dtype)) {
    text += "_a" + std::string(name_of(prob.accumulate));
  }
  return text;
}

Conv2dProblem parse_conv2d(std::string_view text) {
  const Conv2dProblem prob = Reader(text).read();
  validate(prob);
  return prob;
}

}  // namespace sevenloops
