// SPDX-License-Identifier: Apache-2.0
// SystemC's library brings a main() of its own; this one comes before it.
#include <benchmark/benchmark.h>

BENCHMARK_MAIN();
