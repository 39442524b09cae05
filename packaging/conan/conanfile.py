"""Cambium for Conan 2.

    conan create packaging/conan                          libraries of Conan
    conan create packaging/conan -o "cambium/*:system=True"   libraries that the system has, found by pkg-config

The recipe builds from the tree that it lies in. docs/INSTALLING.md says what of it has been run.
"""

import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir
from conan.tools.gnu import PkgConfigDeps

TREE = os.path.join("..", "..")


class CambiumRecipe(ConanFile):
    name = "cambium"
    license = "Apache-2.0"
    description = "An embedded key-value store: a B+-tree or an LSM over a log"
    topics = ("database", "key-value", "embedded")
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], "system": [True, False]}
    default_options = {"shared": False, "fPIC": True, "system": False}
    package_type = "library"

    def set_version(self):
        text = load(self, os.path.join(self.recipe_folder, TREE, "CMakeLists.txt"))
        self.version = re.search(r"project\(cambium VERSION ([0-9.]+)", text).group(1)

    def export_sources(self):
        tree = os.path.join(self.recipe_folder, TREE)
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*"):
            copy(self, pattern, tree, self.export_sources_folder)

    def configure(self):
        if self.options.shared:
            self.options.rm_safe("fPIC")

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        if not self.options.system:
            self.requires("zstd/[>=1.5 <1.6]")
            self.requires("lz4/[>=1.9 <2]")
            self.requires("xxhash/[>=0.8 <0.9]")
            self.requires("liburing/[>=2.3 <3]")

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("Cambium needs Linux")
        check_min_cppstd(self, 20)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for option in ("BUILD_TOOLS", "BUILD_BENCH", "BUILD_ROCKSDB", "INSTALL", "WERROR"):
            toolchain.cache_variables[f"CAMBIUM_{option}"] = False
        toolchain.generate()
        if not self.options.system:
            PkgConfigDeps(self).generate()  # the build looks for the four libraries with pkg-config

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build(target="cambium_shared" if self.options.shared else "cambium")

    def package(self):
        cmake = CMake(self)
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        copy(self, "*.h", os.path.join(self.source_folder, "include"), os.path.join(self.package_folder, "include"))
        kind = "libcambium.so*" if self.options.shared else "libcambium.a"
        copy(self, kind, self.build_folder, os.path.join(self.package_folder, "lib"))

    def package_info(self):
        self.cpp_info.libs = ["cambium"]
        self.cpp_info.set_property("cmake_file_name", "cambium")
        shared = self.options.shared
        self.cpp_info.set_property("cmake_target_name", "cambium::shared" if shared else "cambium::cambium")
        self.cpp_info.set_property("pkg_config_name", "cambium" if shared else "cambium-static")
        self.cpp_info.system_libs = ["pthread"]
        if self.options.system:
            self.cpp_info.system_libs += ["zstd", "lz4", "xxhash", "uring"]
