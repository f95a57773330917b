// SPDX-License-Identifier: Apache-2.0

// SystemC's library refers to sc_main because its own main() would call it. Our programs have their
// own main() and start the simulation by sc_start(), so this one is never reached.
extern "C" int sc_main(int /*argc*/, char* /*argv*/[]) { return 1; }
