// SPDX-License-Identifier: Apache-2.0
// SystemC's library brings a main() of its own; this one comes before it.
//
//   bin/smk_bench --built-by     the compiler and its options, by which counts are recorded
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstring>

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--built-by") == 0) {
    std::puts(SMK_BUILT_BY);
    return 0;
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
