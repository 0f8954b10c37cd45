# The library as a package of Nix, from this tree: nix-build src/package/nix
{ pkgs ? import <nixpkgs> { } }:
pkgs.stdenv.mkDerivation {
  pname = "libgather";
  version = "0.1.0";
  src = pkgs.lib.cleanSource ../../..;
  nativeBuildInputs = [ pkgs.cmake pkgs.ninja ];
  cmakeFlags = [ "-DGATHER_CUDA=OFF" "-DGATHER_TESTS=OFF" "-DGATHER_DEMO=OFF" ];
  meta = {
    description = "Reads and writes rows, slices and elements of tensors by index, behind a C ABI";
    license = pkgs.lib.licenses.asl20;
    platforms = pkgs.lib.platforms.linux ++ pkgs.lib.platforms.darwin;
  };
}
