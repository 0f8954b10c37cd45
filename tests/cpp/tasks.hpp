#pragma once

#include <dirent.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>

// The threads of this process as the operating system lists them.
namespace hostile {

inline std::set<pid_t> tasks() {
  std::set<pid_t> result;
  DIR* directory = opendir("/proc/self/task");
  if (!directory) return result;
  while (const dirent* entry = readdir(directory)) {
    if (const pid_t number = std::atoi(entry->d_name)) result.insert(number);
  }
  closedir(directory);
  return result;
}

// Returns the threads that a body starts and that still exist afterwards.
template <class Body>
std::set<pid_t> tasks_started_by(Body&& body) {
  const std::set<pid_t> before = tasks();
  body();
  std::set<pid_t> result = tasks();
  for (pid_t each : before) result.erase(each);
  return result;
}

// Returns a field of a thread's status, such as "SigBlk", or an empty string.
inline std::string status_of(pid_t task, const std::string& name) {
  std::ifstream file("/proc/self/task/" + std::to_string(task) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, name.size() + 2, name + ":\t") == 0) return line.substr(name.size() + 2);
  }
  return "";
}

}  // namespace hostile
