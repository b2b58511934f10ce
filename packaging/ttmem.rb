# SPDX-License-Identifier: Apache-2.0
# A formula for Homebrew on Linux, from the clone. Untested: `brew install --HEAD ./packaging/ttmem.rb`
class Ttmem < Formula
  desc "Memory profiler for Tenstorrent accelerators"
  homepage "https://github.com/ttmem/ttmem"
  license "Apache-2.0"
  head "https://github.com/ttmem/ttmem.git", branch: "main"

  depends_on "cmake" => :build
  depends_on "ninja" => :build
  depends_on "node" => :build
  depends_on "pkgconf" => :build
  depends_on "cairo"
  depends_on "libmicrohttpd"
  depends_on "libpq"
  depends_on :linux
  depends_on "ncurses"
  depends_on "sqlite"
  depends_on "tree-sitter"
  depends_on "utf8proc"
  depends_on "xxhash"
  depends_on "zlib"
  depends_on "zstd"

  def install
    system "npm", "ci", "--omit=dev", "--ignore-scripts", "--prefix", "web"
    system "cmake", "-S", ".", "-B", "build/brew", "-G", "Ninja", "-DTTMEM_TESTS=OFF", *std_cmake_args
    system "cmake", "--build", "build/brew"
    system "cmake", "--install", "build/brew"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/ttmem --version") unless head?
    system bin/"ttmem", "cb", "simulate", "16", "16"
  end
end
