#include "kv/kv_block_pool.h"

#include <gtest/gtest.h>

#include <random>

#include "kv/block_table.h"

namespace hwtv::kv {
namespace {

TEST(KvBlockPool, TakesEachBlockOnceAndThenNone) {
  KvBlockPool pool(3);
  EXPECT_EQ(pool.take(), 0);
  EXPECT_EQ(pool.take(), 1);
  EXPECT_EQ(pool.take(), 2);
  EXPECT_FALSE(pool.take());
  EXPECT_EQ(pool.n_held(), 3);
}

TEST(KvBlockPool, ASharedBlockIsFreeWhenTheLastHolderLetsGo) {
  KvBlockPool pool(1);
  const int32_t block = *pool.take();
  pool.share(block);
  pool.release(block);
  EXPECT_EQ(pool.n_free(), 0);
  pool.release(block);
  EXPECT_EQ(pool.n_free(), 1);
}

TEST(KvBlockPoolDeathTest, ReleasingAFreeBlockIsABug) {
  KvBlockPool pool(1);
  EXPECT_DEATH(pool.release(0), "CHECK");
}

TEST(BlockTable, GrowsByWholeBlocksAndAllOrNothing) {
  KvBlockPool pool(3);
  BlockTable table(pool, 32, 96);
  EXPECT_TRUE(table.grow(33));
  EXPECT_EQ(table.blocks().size(), 2u);
  EXPECT_TRUE(table.grow(64));
  EXPECT_EQ(table.blocks().size(), 2u);
  BlockTable other(pool, 32, 96);
  EXPECT_FALSE(other.grow(64));
  EXPECT_TRUE(other.blocks().empty());
  table.truncate(32);
  EXPECT_EQ(table.blocks().size(), 1u);
  EXPECT_TRUE(other.grow(64));
}

TEST(BlockTable, RandomUseLeavesEveryBlockAccountedFor) {
  std::mt19937 random(7);
  KvBlockPool pool(40);
  {
    std::vector<BlockTable> tables;
    for (int i = 0; i < 6; ++i) tables.emplace_back(pool, 8, 320);
    for (int round = 0; round < 20000; ++round) {
      BlockTable& table = tables[random() % tables.size()];
      const int64_t n_tokens = static_cast<int64_t>(random() % 120);
      if (random() % 2)
        table.truncate(n_tokens);
      else
        table.grow(n_tokens);
      pool.check_integrity();
    }
  }
  EXPECT_EQ(pool.n_free(), 40);
}

}  // namespace
}  // namespace hwtv::kv
