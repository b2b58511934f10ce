# SPDX-License-Identifier: Apache-2.0
# Untested: nix-build -E '(import <nixpkgs> { }).callPackage ./packaging/ttmem.nix { }' in the clone.
# The C++ grammar of tree-sitter is an archive of npm, given to CMake as a file; npmDepsHash is filled in by the first build's message.
{ lib, stdenv, buildNpmPackage, fetchurl, cmake, ninja, pkg-config, nodejs, python3, zlib, zstd, utf8proc, xxHash, cairo, libmicrohttpd, sqlite, libpq, ncurses, tree-sitter }:

let
  grammar = fetchurl {
    url = "https://registry.npmjs.org/tree-sitter-cpp/-/tree-sitter-cpp-0.23.4.tgz";
    sha256 = "615d152f70e7a6bed8f15a93c3c0c264c40dc71c1b6a1445646fff9439e776bc";
  };
  page = buildNpmPackage {
    name = "ttmem-page";
    src = ../web;
    npmDepsHash = lib.fakeHash;
    dontNpmBuild = true;
    installPhase = "cp -r node_modules $out";
  };
in
stdenv.mkDerivation {
  pname = "ttmem";
  version = "0.2.0";
  src = ../.;
  nativeBuildInputs = [ cmake ninja pkg-config nodejs python3 ];
  buildInputs = [ zlib zstd utf8proc xxHash cairo libmicrohttpd sqlite libpq ncurses tree-sitter ];
  preConfigure = ''
    patchShebangs scripts
    ln -s ${page} web/node_modules
    mkdir -p build/downloads
    cp ${grammar} build/downloads/tree-sitter-cpp-0.23.4.tgz
  '';
  cmakeFlags = [ "-DTTMEM_TESTS=OFF" ];
  meta = {
    description = "Memory profiler for Tenstorrent accelerators";
    license = lib.licenses.asl20;
    mainProgram = "ttmem";
    platforms = lib.platforms.linux;
  };
}
