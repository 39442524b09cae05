// A target needs a source; its precompiled header is what others reuse.
