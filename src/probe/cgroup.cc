#include "probe/cgroup.h"

#include <algorithm>
#include <optional>

#include "probe/parse.h"

namespace hwtv::probe {
namespace {

// v1 writes "no limit" as the largest multiple of the page size; nothing real comes near.
constexpr int64_t kNoLimitBytes = int64_t{1} << 60;

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Where a controller's hierarchy is mounted, and this process's group in it.
struct Hierarchy {
  std::string prefix;  // of level names: "cgroup v2"
  std::string folder;  // "/sys/fs/cgroup/memory"
  std::string group;   // below `folder`, "" for the folder itself, else "/a/b"
};

// The group's path below the mount.  In a container the mount may show only a part of the hierarchy
// (`mount.root`), and the path may lead outside of it; then the mount's own folder is the innermost
// level that can be seen.
std::string visible_group(const Root& root, const Mount& mount, std::string path) {
  const size_t length = mount.root.size();
  if (mount.root != "/" && path.compare(0, length, mount.root) == 0 &&
      (path.size() == length || path[length] == '/'))
    path.erase(0, length);
  if (path.empty() || path == "/" || path == "/.." || path.compare(0, 4, "/../") == 0) return "";
  return root.has(mount.folder + path) ? path : "";
}

std::vector<Hierarchy> find_hierarchies(const Root& root, const std::string& controller,
                                        const std::vector<CgroupPath>& paths,
                                        const std::vector<Mount>& mounts) {
  std::vector<Hierarchy> found;
  for (const CgroupPath& own : paths) {
    const bool is_v2 = own.controllers.empty();
    if (!is_v2 && !contains(own.controllers, controller)) continue;
    const auto mount = std::find_if(mounts.begin(), mounts.end(), [&](const Mount& candidate) {
      return is_v2 ? candidate.type == "cgroup2"
                   : candidate.type == "cgroup" && contains(candidate.options, controller);
    });
    if (mount == mounts.end()) continue;
    found.push_back({is_v2 ? "cgroup v2" : "cgroup v1 " + controller, mount->folder,
                     visible_group(root, *mount, own.path)});
  }
  return found;
}

// Calls visit(name, folder) for the group and each of its parents.
template <typename Visit>
void for_each_level(const Hierarchy& hierarchy, const Visit& visit) {
  for (std::string group = hierarchy.group;; group.erase(group.rfind('/'))) {
    visit(hierarchy.prefix + " " + (group.empty() ? "/" : group), hierarchy.folder + group);
    if (group.empty()) return;
  }
}

// The number in `path`; none when the file says "max" or is absent, as it is in the v2 root group.
std::optional<int64_t> read_limit(const Root& root, const std::string& path, CgroupFacts& facts) {
  const auto text = root.line(path);
  if (!text) {
    if (text.error().why != Why::absent) facts.unobserved.push_back(text.error());
    return std::nullopt;
  }
  if (*text == "max") return std::nullopt;
  const auto number = root.number(path);
  if (!number) facts.unobserved.push_back(number.error());
  return number ? std::optional(*number) : std::nullopt;
}

void read_memory_level(const Root& root, const std::string& name, const std::string& folder,
                       bool is_v2, CgroupFacts& facts) {
  const auto max =
      read_limit(root, folder + (is_v2 ? "/memory.max" : "/memory.limit_in_bytes"), facts);
  if (!max || *max < 0 || *max >= kNoLimitBytes) return;
  const auto current = root.number(folder + (is_v2 ? "/memory.current" : "/memory.usage_in_bytes"));
  if (!current) facts.unobserved.push_back(current.error());
  const auto stat = root.text(folder + "/memory.stat");
  const auto inactive =
      stat ? parse_flat_field(*stat, is_v2 ? "inactive_file" : "total_inactive_file")
           : std::nullopt;
  if (!inactive)
    facts.unobserved.push_back(stat ? Unobserved{Why::unparsable, folder + "/memory.stat"}
                                    : stat.error());
  MemoryLevel level{name, *max, 0, 0};
  level.current_bytes = std::clamp<int64_t>(current.value_or(0), 0, kNoLimitBytes);
  level.inactive_file_bytes = std::clamp<int64_t>(inactive.value_or(0), 0, level.current_bytes);
  facts.memory.push_back(std::move(level));
}

void read_cpu_level(const Root& root, const std::string& name, const std::string& folder,
                    bool is_v2, CgroupFacts& facts) {
  std::optional<double> quota;
  if (is_v2) {
    const auto text = root.line(folder + "/cpu.max");
    if (!text) return;
    quota = parse_cpu_max(*text);
    if (!quota) facts.unobserved.push_back({Why::unparsable, folder + "/cpu.max"});
  } else {
    const auto quota_us = read_limit(root, folder + "/cpu.cfs_quota_us", facts);
    const auto period_us = read_limit(root, folder + "/cpu.cfs_period_us", facts);
    if (quota_us && period_us && *quota_us > 0 && *period_us > 0)
      quota = static_cast<double>(*quota_us) / static_cast<double>(*period_us);
  }
  if (quota && *quota > 0) facts.cpu.push_back({name, *quota});
}

}  // namespace

CgroupFacts read_cgroups(const Root& root) {
  CgroupFacts facts;
  const auto own = root.text("/proc/self/cgroup");
  const auto mounted = root.text("/proc/self/mountinfo");
  for (const auto* file : {&own, &mounted})
    if (!*file) facts.unobserved.push_back(file->error());
  if (!own || !mounted) return facts;
  const std::vector<CgroupPath> paths = parse_cgroup_paths(*own);
  const std::vector<Mount> mounts = parse_mounts(*mounted);
  for (const Hierarchy& hierarchy : find_hierarchies(root, "memory", paths, mounts))
    for_each_level(hierarchy, [&](const std::string& name, const std::string& folder) {
      read_memory_level(root, name, folder, hierarchy.prefix == "cgroup v2", facts);
    });
  for (const Hierarchy& hierarchy : find_hierarchies(root, "cpu", paths, mounts))
    for_each_level(hierarchy, [&](const std::string& name, const std::string& folder) {
      read_cpu_level(root, name, folder, hierarchy.prefix == "cgroup v2", facts);
    });
  return facts;
}

}  // namespace hwtv::probe
