"""Builds tests/install/outside against the package, and runs it."""

import os

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout


class TestPackage(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps", "VirtualRunEnv"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["USE"] = "shared" if self.dependencies["cambium"].options.shared else "static"
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        if can_run(self):
            database = os.path.join(self.build_folder, "test.db")
            program = os.path.join(self.cpp.build.bindir, "outside")
            self.run(f'rm -rf "{database}" && "{program}" "{database}"', env="conanrun")
