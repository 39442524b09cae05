// The files beside this one that go into a report as they are. embed.cmake makes what is declared here.
#pragma once

namespace cambium::bench {

extern const char* const kPageCss;
extern const char* const kPlotCss;  // of drawings, in the page and as files of their own
extern const char* const kPageJs;

}  // namespace cambium::bench
