#include "probe/machine_facts.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace hwtv::probe {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

Root fixture(const std::string& name) { return Root("tests/probe/fixtures/" + name); }

using Cpus = std::vector<int>;

TEST(MachineFacts, CgroupV1InAContainer) {
  const MachineFacts facts = read_machine(fixture("cgroup_v1"));
  // The memory mount shows only the container's own group; the cpu mount shows the parents too.
  ASSERT_EQ(facts.cgroups.memory.size(), 1u);
  EXPECT_EQ(facts.cgroups.memory[0].name, "cgroup v1 memory /");
  EXPECT_EQ(facts.cgroups.memory[0].available_bytes(), 3072 * kMiB);
  ASSERT_EQ(facts.cgroups.cpu.size(), 2u);
  EXPECT_EQ(facts.cgroups.cpu[0].name, "cgroup v1 cpu /docker/1f2e");
  EXPECT_EQ(facts.cgroups.cpu[0].quota_cpus, 1.5);
  EXPECT_EQ(facts.cgroups.cpu[1].quota_cpus, 6);
  EXPECT_TRUE(facts.cgroups.unobserved.empty());
}

TEST(MachineFacts, CgroupV2EveryLevelWithALimit) {
  const MachineFacts facts = read_machine(fixture("cgroup_v2"));
  ASSERT_EQ(facts.cgroups.memory.size(), 2u);  // the leaf says "max", the root has no file
  EXPECT_EQ(facts.cgroups.memory[0].name, "cgroup v2 /user.slice/run.scope");
  EXPECT_EQ(facts.cgroups.memory[0].available_bytes(), 1024 * kMiB);
  EXPECT_EQ(facts.cgroups.memory[1].available_bytes(), 7168 * kMiB);
  ASSERT_EQ(facts.cgroups.cpu.size(), 1u);
  EXPECT_EQ(facts.cgroups.cpu[0].quota_cpus, 2.5);
  EXPECT_EQ(facts.cpu.usable, (Cpus{0, 1, 3}));
  EXPECT_EQ(facts.cpu.cores.size(), 3u);
  EXPECT_TRUE(facts.cgroups.unobserved.empty());
}

TEST(MachineFacts, APathThatLeadsOutOfTheNamespaceMeansTheMountItself) {
  const MachineFacts facts = read_machine(fixture("arm_container"));
  ASSERT_EQ(facts.cgroups.memory.size(), 1u);
  EXPECT_EQ(facts.cgroups.memory[0].name, "cgroup v2 /");
  EXPECT_EQ(facts.cgroups.memory[0].available_bytes(), 924 * kMiB);
  // No memory.stat, and a cpu.max that says "plenty": both are told, neither is guessed.
  ASSERT_EQ(facts.cgroups.unobserved.size(), 2u);
  EXPECT_EQ(facts.cgroups.unobserved[0].why, Why::absent);
  EXPECT_EQ(facts.cgroups.unobserved[1].why, Why::unparsable);
}

TEST(MachineFacts, TopologyCachesAndNodesOfAServer) {
  const MachineFacts facts = read_machine(fixture("cgroup_v1"));
  EXPECT_EQ(facts.cpu.cores, (std::vector<Cpus>{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
  ASSERT_TRUE(facts.caches);
  ASSERT_EQ(facts.caches->size(), 14u);  // 4 L1d, 4 L1i, 4 L2, 2 L3
  EXPECT_EQ(facts.caches->back().size_bytes, 36 * kMiB);
  EXPECT_EQ(facts.caches->back().shared_cpus, (Cpus{4, 5, 6, 7}));
  ASSERT_TRUE(facts.numa_nodes);
  ASSERT_EQ(facts.numa_nodes->size(), 2u);
  EXPECT_EQ((*facts.numa_nodes)[1].distances, (Cpus{21, 10}));
  EXPECT_EQ((*facts.numa_nodes)[1].memory_bytes.value(), int64_t{32768000} * 1024);
  EXPECT_EQ(facts.hypervisor.value(), "unnamed");
  EXPECT_EQ(facts.vendor.value(), "Example Systems");
  ASSERT_TRUE(facts.energy);
  EXPECT_EQ(facts.energy->at(0).microjoules.value(), 123456789);
}

TEST(MachineFacts, HybridCores) {
  const MachineFacts facts = read_machine(fixture("hybrid"));
  EXPECT_EQ(facts.cpu.cores, (std::vector<Cpus>{{0, 1}, {2, 3}, {4}, {5}, {6}, {7}}));
  ASSERT_EQ(facts.cpu.kinds.size(), 2u);
  EXPECT_EQ(facts.cpu.kinds[1].name, "cpu_atom");
  EXPECT_EQ(facts.cpu.kinds[1].cpus, (Cpus{4, 5, 6, 7}));
  EXPECT_TRUE(facts.cgroups.memory.empty());
  EXPECT_EQ(facts.hypervisor.value(), "none");
}

TEST(MachineFacts, WhatIsMissingIsAValue) {
  const MachineFacts facts = read_machine(Root("tests/probe/fixtures/no_such_machine"));
  EXPECT_EQ(facts.cpu.usable, Cpus{0});
  EXPECT_EQ(facts.cpu.cores.size(), 1u);
  EXPECT_FALSE(facts.cpu.model);
  EXPECT_FALSE(facts.caches);
  EXPECT_FALSE(facts.numa_nodes);
  EXPECT_FALSE(facts.memory.total_bytes);
  EXPECT_FALSE(facts.energy);
  EXPECT_EQ(describe(facts.energy.error()), "/sys/class/powercap is not present here");
  EXPECT_EQ(facts.cgroups.unobserved.size(), 2u);
}

TEST(MachineFacts, ArmHasNumbersForNames) {
  const MachineFacts facts = read_machine(fixture("arm_container"));
  EXPECT_EQ(facts.cpu.model.value(), "ARM implementer 0x41 part 0xd0c");
  EXPECT_EQ(facts.cpu.flags, (std::vector<std::string>{"fp", "asimd", "asimddp"}));
  EXPECT_FALSE(facts.caches);
  EXPECT_FALSE(facts.hypervisor);
}

TEST(MachineFacts, ThisMachine) {
  const MachineFacts facts = read_machine(Root());
  EXPECT_TRUE(facts.cpu.allowed);
  EXPECT_TRUE(facts.memory.total_bytes);
  EXPECT_TRUE(facts.kernel);
  for (const MemoryLevel& level : facts.cgroups.memory) EXPECT_GT(level.max_bytes, 0) << level.name;
}

TEST(ProcessMemory, AFixture) {
  const ProcessMemory memory = read_process_memory(fixture("cgroup_v1"));
  EXPECT_EQ(memory.anonymous_bytes.value(), 4 * kMiB);
  EXPECT_EQ(memory.file_bytes.value(), 12 * kMiB);
  EXPECT_EQ(memory.peak_bytes.value(), 20 * kMiB);
  EXPECT_EQ(read_disturbance(fixture("cgroup_v1")).stolen_s.value(),
            250.0 / static_cast<double>(::sysconf(_SC_CLK_TCK)));
}

TEST(ProcessMemory, SeesWhatIsTouchedAndNoMore) {
  const size_t size = 64 * kMiB, touched = 16 * kMiB;
  void* at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(at, MAP_FAILED);
  std::memset(at, 1, touched);
  const auto resident = read_resident_bytes(Root(), at, static_cast<int64_t>(size));
  ::munmap(at, size);
  ASSERT_TRUE(resident);
  EXPECT_EQ(*resident, static_cast<int64_t>(touched));
  EXPECT_FALSE(read_resident_bytes(Root(), nullptr, 4096));
}

}  // namespace
}  // namespace hwtv::probe
