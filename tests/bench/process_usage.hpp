#pragma once

#include <ctime>
#include <fstream>
#include <stdexcept>
#include <string>

#include <sys/types.h>
#include <unistd.h>

/// CPU time and memory of a process, from the kernel. Works until the process is reaped.
class ProcessUsage {
 public:
  /// The process `id`; by default, this process.
  explicit ProcessUsage(pid_t id = getpid()) : id_(id) {}

  /// Returns the CPU time, user and system, of all threads since the start of the process.
  [[nodiscard]] double CpuSeconds() const {
    clockid_t clock{};
    timespec time{};
    if (clock_getcpuclockid(id_, &clock) != 0 || clock_gettime(clock, &time) != 0) {
      throw std::runtime_error("cannot read the CPU time of process " + std::to_string(id_));
    }
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }
  [[nodiscard]] double ResidentMiB() const { return StatusMiB("VmRSS:"); }
  /// Returns the part of ResidentMiB() that belongs to this process alone: heap, stacks and written
  /// data. The rest are pages of files, which processes share.
  [[nodiscard]] double AnonymousMiB() const { return StatusMiB("RssAnon:"); }
  [[nodiscard]] double PeakResidentMiB() const { return StatusMiB("VmHWM:"); }

 private:
  [[nodiscard]] double StatusMiB(const std::string& field) const {
    const std::string path = "/proc/" + std::to_string(id_) + "/status";
    std::ifstream file(path);
    for (std::string word; file >> word;) {
      double kib = 0;
      if (word == field && file >> kib) return kib / 1024;
    }
    throw std::runtime_error("cannot read " + field + " in " + path);
  }

  pid_t id_;
};
