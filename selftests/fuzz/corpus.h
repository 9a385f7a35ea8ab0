// SPDX-License-Identifier: GPL-2.0-only
// Inputs that reach something, as files of a directory, one each.
#pragma once

#include <filesystem>
#include <vector>

#include "source.h"

namespace fuzz {

// Every file's bytes, the short ones first; of a directory of evidence (input_log.h) the inputs in
// their order. None if there is no such directory.
std::vector<Input> LoadCorpus(const std::filesystem::path& directory);
// Named by a hash of what it holds: the same input twice is one file.
void SaveInput(const std::filesystem::path& directory, const Input& input);

}  // namespace fuzz
