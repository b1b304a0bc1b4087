#!/usr/bin/env bash
# grpc/build.sh DIR: build the gRPC peer as DIR/peer. Needs libgrpc++-dev, protobuf-compiler and
# protobuf-compiler-grpc.
set -euo pipefail
source_dir=$(cd "$(dirname "$0")" && pwd)
build_dir=${1:?usage: build.sh DIR}
mkdir -p "$build_dir"
protoc -I "$source_dir" --cpp_out="$build_dir" --grpc_out="$build_dir" \
    --plugin=protoc-gen-grpc="$(command -v grpc_cpp_plugin)" pool.proto
# shellcheck disable=SC2046
"${CXX:-g++}" -std=c++17 -O2 -I "$build_dir" "$source_dir/peer.cc" "$build_dir/pool.pb.cc" \
    "$build_dir/pool.grpc.pb.cc" -o "$build_dir/peer" $(pkg-config --cflags --libs grpc++ protobuf) -pthread
