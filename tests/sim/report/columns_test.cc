// SPDX-License-Identifier: Apache-2.0
// The host's files as the page draws them.
#include <gmock/gmock.h>

#include "report/data.h"
#include "sim/refusal.h"
#include "sim/scratch.h"

namespace smk::sim {
namespace {

using nlohmann::ordered_json;

constexpr char kJobs[] =
    "job,name,client,arrival,ready,start,finish,last_tb_end,turnaround,slices_completed,"
    "tbs_completed\n";
constexpr char kLaunches[] = "job,name,launch,kernel,kernel_slot,first_tb,tb_count,start,end\n";
constexpr char kShares[] = "time_ns,window_ns,client,allocated_ns,kernel_ns\n";

class ReportColumns : public ScratchTest {
 protected:
  void SetUp() override {
    ScratchTest::SetUp();
    Write("run/jobs.csv", std::string(kJobs) + "0,tea,\"a, b\",5,7,9,,,,0,3\n");
    Write("run/launches.csv", std::string(kLaunches) + "0,tea,1,encrypt,2,0,84,9,\n");
    Write("run/shares.csv", std::string(kShares) + "1000,1000,a,600,500\n");
  }
};

TEST_F(ReportColumns, WhatIsNotThereIsNull) {
  const ordered_json j = ReadStream(Path("run"));
  EXPECT_EQ(j["jobs"]["total"], 1);
  EXPECT_EQ(j["jobs"]["client"], ordered_json({"a, b"}));
  EXPECT_EQ(j["jobs"]["start"], ordered_json({9}));
  EXPECT_EQ(j["jobs"]["finish"], ordered_json({nullptr}));
  EXPECT_EQ(j["launches"]["kernel"], ordered_json({"encrypt"}));
  EXPECT_EQ(j["launches"]["end"], ordered_json({nullptr}));
  EXPECT_TRUE(j["copies"].is_null());
  Write("run/copies.csv", "job,name,direction,bytes,start,end\n0,tea,in,64,5,7\n");
  EXPECT_EQ(ReadStream(Path("run"))["copies"]["direction"], ordered_json({"in"}));
}

TEST_F(ReportColumns, ClientsMayHaveNoTokens) {
  const ordered_json j = ReadShares(Path("run"));
  EXPECT_EQ(j["shares"]["kernel_ns"], ordered_json({500}));
  EXPECT_TRUE(j["tokens"].is_null());
  Write("run/tokens.csv",
        "client,requested_ns,granted_ns,start_ns,quota_ns,end_ns,overuse_ns,kernels,reason\n"
        "a,1,2,3,4,,0,5,\n");
  EXPECT_EQ(ReadShares(Path("run"))["tokens"]["end_ns"], ordered_json({nullptr}));
}

TEST_F(ReportColumns, RowsAreCountedBeyondTheLimit) {
  std::string rows = kLaunches;
  for (std::size_t i = 0; i < kReportLogRows + 5; ++i) rows += "0,tea,1,encrypt,0,0,84,9,10\n";
  Write("run/launches.csv", rows);
  const ordered_json launches = ReadStream(Path("run"))["launches"];
  EXPECT_EQ(launches["total"], kReportLogRows + 5);
  EXPECT_EQ(launches["start"].size(), kReportLogRows);
}

TEST_F(ReportColumns, DamageIsNamed) {
  Write("run/jobs.csv", std::string(kJobs) + "0,tea,a,x,7,9,,,,0,3\n");
  EXPECT_EQ(Refusal([&] { ReadStream(Path("run")); }),
            Path("run/jobs.csv") + ":2: arrival: expected a whole number, got 'x'");
  Write("run/shares.csv", "time_ns,window_ns,client\n");
  EXPECT_EQ(Refusal([&] { ReadShares(Path("run")); }),
            Path("run/shares.csv") + ":1: no column 'allocated_ns'");
}

}  // namespace
}  // namespace smk::sim
