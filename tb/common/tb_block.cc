// SPDX-License-Identifier: Apache-2.0
// The name of a testbench's block. Compiled for each of them.
namespace smk {

extern const char kTbBlock[];
const char kTbBlock[] = SMK_TB_BLOCK;

}  // namespace smk
