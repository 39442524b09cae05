// Minimise: finds a minimum of a function of a few numbers, near a first guess, by the method of Nelder and Mead ("A
// simplex method for function minimization", The Computer Journal 7, 1965). It needs no derivatives. It may end in a
// local minimum, so callers begin at several places.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace cambium::bench {

// `step` is the size of the first simplex. A value that is not finite counts as very large.
template <std::size_t N, typename Function>
std::array<double, N> Minimise(Function function, std::array<double, N> guess, std::array<double, N> step,
                               int rounds_max = 2000, double tolerance = 1e-12) {
  using Point = std::array<double, N>;
  struct Vertex {
    Point at;
    double value;
  };
  const auto evaluate = [&](const Point& at) {
    const double value = function(at);
    return Vertex{at, std::isfinite(value) ? value : 1e300};
  };
  std::array<Vertex, N + 1> simplex;
  simplex[0] = evaluate(guess);
  for (std::size_t i = 0; i < N; ++i) {
    Point at = guess;
    at[i] += step[i];
    simplex[i + 1] = evaluate(at);
  }
  const auto by_value = [](const Vertex& a, const Vertex& b) { return a.value < b.value; };
  for (int round = 0; round < rounds_max; ++round) {
    std::sort(simplex.begin(), simplex.end(), by_value);
    const double spread = simplex[N].value - simplex[0].value;
    double width = 0;
    for (std::size_t j = 0; j < N; ++j) {
      width = std::max(width, std::abs(simplex[N].at[j] - simplex[0].at[j]) / (1 + std::abs(simplex[0].at[j])));
    }
    if (spread <= tolerance * (1 + std::abs(simplex[0].value)) && width < 1e-7) break;
    Point centre{};
    for (std::size_t i = 0; i < N; ++i) {
      for (std::size_t j = 0; j < N; ++j) centre[j] += simplex[i].at[j] / static_cast<double>(N);
    }
    const auto along = [&](double t) {  // 0: the centre, 1: the worst
      Point at;
      for (std::size_t j = 0; j < N; ++j) at[j] = centre[j] + t * (simplex[N].at[j] - centre[j]);
      return evaluate(at);
    };
    const Vertex reflected = along(-1);
    if (reflected.value < simplex[0].value) {
      const Vertex expanded = along(-2);
      simplex[N] = expanded.value < reflected.value ? expanded : reflected;
    } else if (reflected.value < simplex[N - 1].value) {
      simplex[N] = reflected;
    } else {
      const Vertex contracted = along(reflected.value < simplex[N].value ? -0.5 : 0.5);
      if (contracted.value < std::min(reflected.value, simplex[N].value)) {
        simplex[N] = contracted;
      } else {
        for (std::size_t i = 1; i <= N; ++i) {
          Point at;
          for (std::size_t j = 0; j < N; ++j) at[j] = (simplex[i].at[j] + simplex[0].at[j]) / 2;
          simplex[i] = evaluate(at);
        }
      }
    }
  }
  return std::min_element(simplex.begin(), simplex.end(), by_value)->at;
}

}  // namespace cambium::bench
