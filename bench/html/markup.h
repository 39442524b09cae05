// Markup: HTML and SVG in which everything is escaped that is not a literal of this program.
#pragma once

#include <concepts>
#include <string>
#include <utility>

#include "html/escape.h"

namespace cambium::bench {

// A Literal is a constant of the source code, which may be markup.
class Literal {
 public:
  consteval Literal(const char* text) : text_(text) {}  // implicit: no other string converts
  [[nodiscard]] const char* text() const { return text_; }

 private:
  const char* text_;
};

// Markup grows by literals and markup, as they are, and by strings, escaped. Nothing else compiles.
class Markup {
 public:
  // `text` is markup although it is no literal, such as a style sheet.
  static Markup Trusted(std::string text) {
    Markup markup;
    markup.text_ = std::move(text);
    return markup;
  }

  Markup& operator<<(Literal literal) {
    text_ += literal.text();
    return *this;
  }
  Markup& operator<<(const Markup& other) {
    text_ += other.text_;
    return *this;
  }
  Markup& operator<<(const std::same_as<std::string> auto& text) {
    text_ += Escape(text);
    return *this;
  }

  [[nodiscard]] bool empty() const { return text_.empty(); }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

inline Literal If(bool condition, Literal literal) { return condition ? literal : Literal(""); }

}  // namespace cambium::bench
