// Empty, because a target needs a source file. Other targets reuse only its precompiled header.
