// SPDX-License-Identifier: Apache-2.0
// The page of `smk report`, as the build made it, and how data gets into it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace smk::sim {

// The page without data, made by the build (sim/report/page). InputError when it was not built.
std::string EmptyPage();

// The page with `data` in it; nothing of the data can end the element that holds it.
std::string FillPage(const std::string& page, const std::string& title, const std::string& data);

// Writes the page with `data` in it, and who wrote it, when, and from what, into the file `out`.
// InputError when the page was not built or the path is wrong, std::system_error when the disk is
// full.
void WritePage(const std::string& out, const std::string& title, const std::string& source,
               const nlohmann::ordered_json& data);

// As text of HTML or XML.
std::string EscapedText(const std::string& text);

}  // namespace smk::sim
