// SPDX-License-Identifier: GPL-2.0-only
#include "result.h"

#include <memory>

#include <gtest/gtest.h>

#include "must.h"

namespace result {
namespace {

TEST(Result, HoldsWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> made(std::make_unique<int>(7));
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made.error(), 0);
  EXPECT_EQ(made.message(), "OK");
  const std::unique_ptr<int> taken = *std::move(made);
  EXPECT_EQ(*taken, 7);
}

TEST(Result, PassesAFailureOn) {
  const Result<int> inner = Error{ENOENT, "open"};
  const Result<std::string> outer = inner.failure();
  ASSERT_FALSE(outer);
  EXPECT_EQ(outer.error(), ENOENT);
  EXPECT_EQ(outer.message(), "open: No such file or directory");
}

TEST(Result, StatusIsSuccessUnlessToldOtherwise) {
  EXPECT_TRUE(Status());
  EXPECT_EQ(Status(Error{EINVAL}).message(), "Invalid argument");
  EXPECT_EQ(Status(Error{2, "ip link", "no such device"}).message(), "ip link: no such device");
}

TEST(Result, FailureWithoutErrnoIsNoSuccess) {
  errno = 0;
  EXPECT_EQ(FromErrno("x").code, EIO);
  errno = ENOMEM;
  EXPECT_EQ(FromErrno("x").code, ENOMEM);
}

TEST(Must, GivesTheValueOrThrowsWhereItStands) {
  EXPECT_EQ(*Must(Result<std::unique_ptr<int>>(std::make_unique<int>(7))), 7);
  EXPECT_NO_THROW(Must(Status()));
  EXPECT_THROW(Must(Status(Error{EIO})), SetupFailure);
  const int line = __LINE__ + 2;
  try {
    (void)Must(Result<int>(Error{ENOENT, "open"}));
    FAIL() << "a failure passed";
  } catch (const SetupFailure& failure) {
    EXPECT_EQ(failure.what(), std::string(__FILE__) + ":" + std::to_string(line) +
                                  ": open: No such file or directory");
  }
}

TEST(ResultDeathTest, ReadingWhatIsNotThereAborts) {
  EXPECT_DEATH((void)Result<int>(Error{EIO}).value(), "");
  EXPECT_DEATH((void)Result<int>(1).failure(), "");
}

}  // namespace
}  // namespace result
