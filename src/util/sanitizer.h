// The sanitizer of this build. gcc defines a macro for each, clang has a feature.
#pragma once

namespace cambium {

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CAMBIUM_ADDRESS_SANITIZER 1
#elif __has_feature(thread_sanitizer)
#define CAMBIUM_THREAD_SANITIZER 1
#endif
#endif

#if defined(CAMBIUM_ADDRESS_SANITIZER) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool kUnderAddressSanitizer = true;
#else
inline constexpr bool kUnderAddressSanitizer = false;
#endif

#if defined(CAMBIUM_THREAD_SANITIZER) || defined(__SANITIZE_THREAD__)
inline constexpr bool kUnderThreadSanitizer = true;
#else
inline constexpr bool kUnderThreadSanitizer = false;
#endif

#undef CAMBIUM_ADDRESS_SANITIZER
#undef CAMBIUM_THREAD_SANITIZER

}  // namespace cambium
