#include "hw/machine.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "probe/machine_facts.h"

namespace hwtv::hw {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

probe::MachineFacts facts_of(const std::string& name) {
  return probe::read_machine(probe::Root("tests/probe/fixtures/" + name));
}
Machine machine_of(const std::string& name) { return machine_from(facts_of(name)); }

Device cpu_of(const std::string& name) { return machine_of(name).devices.front(); }

TEST(Machine, TheTightestQuotaBindsTheThreads) {
  const Device cpu = cpu_of("cgroup_v1");
  EXPECT_EQ(cpu.n_threads, 2);  // 1.5 CPUs, rounded up
  EXPECT_EQ(cpu.quota_cpus, 1.5);
  EXPECT_EQ(cpu.thread_reason,
            "cgroup v1 cpu /docker/1f2e grants 1.5 CPUs, fewer than 4 physical cores");
}

TEST(Machine, PhysicalCoresBindWhenNoQuotaDoes) {
  const Device v2 = cpu_of("cgroup_v2");
  EXPECT_EQ(v2.n_threads, 3);  // 2.5 CPUs round up to the 3 cores in the affinity
  EXPECT_EQ(v2.thread_reason, "one for each of 3 physical cores");
  const Device hybrid = cpu_of("hybrid");
  EXPECT_EQ(hybrid.n_threads, 6);
  EXPECT_EQ(hybrid.thread_reason,
            "one for each of 6 physical cores (2 cpu_core + 4 cpu_atom) behind 8 usable CPUs");
}

TEST(Machine, TheBindingMemoryLevelIsNamed) {
  const Device v1 = cpu_of("cgroup_v1");
  EXPECT_EQ(v1.available_bytes, 3072 * kMiB);
  EXPECT_EQ(v1.memory_limit, "cgroup v1 memory /, limited to 4.00 GiB");
  const Device v2 = cpu_of("cgroup_v2");
  EXPECT_EQ(v2.available_bytes, 1024 * kMiB);
  EXPECT_EQ(v2.memory_limit, "cgroup v2 /user.slice/run.scope, limited to 2.00 GiB");
  const Device hybrid = cpu_of("hybrid");
  EXPECT_EQ(hybrid.available_bytes, int64_t{9000000} * 1024);
  EXPECT_EQ(hybrid.memory_limit, "what the system has available");
}

TEST(Machine, CachesAreSummedOverTheUsableCpus) {
  const Device cpu = cpu_of("cgroup_v1");
  ASSERT_EQ(cpu.caches.size(), 3u);
  EXPECT_EQ(cpu.caches[0].name, "L1d");
  EXPECT_EQ(cpu.caches[0].total_bytes, 4 * 48 * 1024);
  EXPECT_EQ(cpu.caches[1].total_bytes, 4 * 1280 * 1024);
  EXPECT_EQ(cpu.caches[2].name, "L3");
  EXPECT_EQ(cpu.caches[2].n_instances, 2);
  EXPECT_EQ(cpu.caches[2].n_cpus_sharing, 4);
  const Device hybrid = cpu_of("hybrid");
  EXPECT_EQ(hybrid.caches[1].total_bytes, (2 * 1280 + 2048) * 1024);
  EXPECT_EQ(hybrid.caches[1].instance_bytes, 2048 * 1024);
}

TEST(Machine, LevelsBySize) {
  const Device cpu = cpu_of("cgroup_v1");  // L2 5 MiB, L3 72 MiB in all
  EXPECT_EQ(memory_level(cpu, 4e6), "L2");
  EXPECT_EQ(memory_level(cpu, 30e6), "L3");
  EXPECT_EQ(memory_level(cpu, 99e6), "L3+DRAM");
  EXPECT_EQ(memory_level(cpu, 2e9), "DRAM");
  EXPECT_EQ(memory_level(cpu_of("arm_container"), 2e9), "memory");
}

TEST(Machine, LinksBetweenNodes) {
  const Machine machine = machine_of("cgroup_v1");
  ASSERT_EQ(machine.links.size(), 2u);
  EXPECT_EQ(machine.links[0].to_node, 1);
  EXPECT_EQ(machine.links[0].distance, 21);
  EXPECT_EQ(machine.virtualization, "unnamed (Example Systems, R1)");
}

TEST(Machine, WhatIsUnknownSaysWhy) {
  const Machine machine = machine_of("no_such_machine");
  EXPECT_EQ(machine.cpu().n_threads, 1);
  EXPECT_GT(machine.cpu().available_bytes, 0);
  EXPECT_EQ(machine.cpu().memory_limit, "nothing that could be read");
  const auto& unknown = machine.unknown;
  EXPECT_NE(std::find(unknown.begin(), unknown.end(), "/sys/class/powercap is not present here"),
            unknown.end());
}

TEST(Fingerprint, ChangesWithTheMachineAndNotWithItsLoad) {
  probe::MachineFacts facts = facts_of("cgroup_v1");
  const std::string before = fingerprint_of(facts);
  EXPECT_EQ(before.size(), 16u);
  facts.memory.available_bytes = 1;
  facts.memory.total_bytes = *facts.memory.total_bytes - 4096;
  facts.cgroups.memory.clear();
  EXPECT_EQ(fingerprint_of(facts), before);
  facts.cgroups.cpu.clear();
  EXPECT_NE(fingerprint_of(facts), before);
  EXPECT_NE(fingerprint_of(facts_of("hybrid")), fingerprint_of(facts_of("cgroup_v2")));
  probe::MachineFacts less = facts_of("cgroup_v1");
  less.cpu.flags.pop_back();
  EXPECT_NE(fingerprint_of(less), before);
}

}  // namespace
}  // namespace hwtv::hw
