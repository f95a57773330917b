// SPDX-License-Identifier: Apache-2.0
// Whether a sweep's database still holds what was stored: bits that a disk has changed are found.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/database.h"

namespace smk::sim {

// Hashes of what a database holds of its runs: every cell of every row, in every table, but the
// hash itself. They are in the column rows_sha256.
class RowHash {
 public:
  explicit RowHash(Database* database);
  std::string Of(const std::string& run);

 private:
  std::vector<Statement> tables_;
};

// The hash of a row of `members`.
std::string MemberHash(const std::string& sweep, const std::string& experiment,
                       const std::string& run);
// Takes away the rows of `members` that do not have theirs.
void RemoveDamagedMembers(Database* database);

// Ids of those runs whose rows do not have their hash, in their order; `runs`: of these only.
// Throws InputError when the file itself is damaged.
std::vector<std::string> DamagedRuns(Database* database,
                                     const std::optional<std::vector<std::string>>& runs = {});

// "the run 0123456789abcdef (sgemm+lbm, smk)" as far as the database can say it.
std::string DescribeRun(Database* database, const std::string& run);

// Throws InputError when a run is damaged, or which runs an experiment has, or the file.
void RefuseDamage(Database* database, const std::optional<std::vector<std::string>>& runs = {});

}  // namespace smk::sim
