{
  "targets": [
    {
      "target_name": "cambium",
      "sources": ["<!@(node scripts/sources.js)"],
      "cflags": ["-Wall", "-Wextra", "-Wno-cast-function-type", "-fvisibility=hidden", "<!@(node scripts/flags.js cflags)"],
      "cflags_cc!": ["-fno-exceptions", "-std=gnu++17", "-std=gnu++20"],
      "cflags_cc": ["-std=c++20", "-fexceptions"],
      "libraries": ["<!@(node scripts/flags.js libs)"]
    }
  ]
}
