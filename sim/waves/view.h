// SPDX-License-Identifier: Apache-2.0
// Wave views as files: tb/<name>/wave.toml.
#pragma once

#include <map>
#include <string>

#include "waves/gtkw.h"

namespace smk {

// Texts for the words in braces of a view: {sm} becomes variables["sm"].
using WaveVariables = std::map<std::string, std::string>;

// Reads `dir`/`name`/wave.toml; its format is described in docs/waveforms.md. Throws
// std::runtime_error with file and place.
WaveView ReadWaveView(const std::string& dir, const std::string& name,
                      const WaveVariables& variables = {});

// The view of a block: its file, or one made from the names of its signals when there is none.
WaveView BlockWaveView(const std::string& dir, const std::string& block);

// The view of a whole run, `top`, for the SM that is the first to ask for a context buffer, or SM
// 0.
WaveView RunWaveView(const std::string& dir, const FstFile& fst);

}  // namespace smk
