# The formula of Homebrew, from a checkout of this tree whose path is in HOMEBREW_LIBGATHER:
# brew install --HEAD src/package/homebrew/libgather.rb
class Libgather < Formula
  desc "Reads and writes rows, slices and elements of tensors by index"
  license "Apache-2.0"
  head "file://#{ENV.fetch("HOMEBREW_LIBGATHER", Dir.pwd)}", using: :git, branch: "main"

  depends_on "cmake" => :build
  depends_on "ninja" => :build

  def install
    system "cmake", "-G", "Ninja", "-S", ".", "-B", "build", "-DGATHER_CUDA=OFF", "-DGATHER_TESTS=OFF",
           "-DGATHER_DEMO=OFF", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    (testpath/"main.c").write <<~C
      #include <gather/gather.h>
      int main(void) { return gth_abi_version() != GTH_ABI_VERSION; }
    C
    system ENV.cc, "main.c", "-I#{include}", "-L#{lib}", "-lgather", "-o", "main"
    system "./main"
  end
end
