// The files of this folder that go into a report as they are. embed.cmake makes the definitions.
#pragma once

namespace cambium::bench {

extern const char* const kPageCss;
extern const char* const kPlotCss;  // for drawings in the page and in files of their own
extern const char* const kPageJs;

}  // namespace cambium::bench
