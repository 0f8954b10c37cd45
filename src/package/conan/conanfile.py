"""The Conan recipe of the library, from this tree: conan create src/package/conan"""

import re
from pathlib import Path

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy


class Libgather(ConanFile):
    name = "libgather"
    license = "Apache-2.0"
    description = "Reads and writes rows, slices and elements of tensors by index, behind a C ABI"
    package_type = "shared-library"
    settings = "os", "arch", "compiler", "build_type"

    def set_version(self):
        header = Path(self.recipe_folder, "../../../include/gather/gather.h").read_text(encoding="utf-8")
        number = int(re.search(r"#define GTH_VERSION (\d+)", header)[1])
        self.version = f"{number // 1000000}.{number // 1000 % 1000}.{number % 1000}"

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "include/*", "src/*"):
            copy(self, pattern, Path(self.recipe_folder, "../../.."), self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        tools = CMakeToolchain(self)
        tools.cache_variables |= dict.fromkeys(("GATHER_CUDA", "GATHER_TESTS", "GATHER_DEMO"), "OFF")
        tools.cache_variables["CMAKE_INSTALL_LIBDIR"] = "lib"
        tools.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_info(self):
        # The package has its own file for CMake, with both targets.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["lib/cmake/gather"]
        self.cpp_info.set_property("pkg_config_name", "gather")
        self.cpp_info.libs = ["gather"]
