// The system call filter for ffmpeg.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// System calls of a program that reads a file, computes in threads and writes. All others fail with ENOSYS, as on a kernel
// without them, which C libraries expect. Among the others are all calls that create sockets, processes, mounts, links or
// namespaces, change permissions or owners, inspect other processes or signal them.
inline constexpr int ALLOWED_CALLS[] = {
    __NR_read, __NR_write, __NR_futex, __NR_lseek, __NR_mmap, __NR_munmap, __NR_mprotect, __NR_mremap, __NR_madvise,
    __NR_brk, __NR_mlock, __NR_munlock, __NR_readv, __NR_writev, __NR_pread64, __NR_pwrite64, __NR_close, __NR_openat,
    __NR_fstat, __NR_newfstatat, __NR_statx, __NR_faccessat, __NR_ftruncate, __NR_fallocate, __NR_fadvise64, __NR_fsync,
    __NR_fdatasync, __NR_dup, __NR_dup3, __NR_pipe2, __NR_ppoll, __NR_pselect6, __NR_clock_gettime, __NR_clock_getres, __NR_clock_nanosleep,
    __NR_nanosleep, __NR_gettimeofday, __NR_getrusage, __NR_times, __NR_getpid, __NR_getppid, __NR_gettid, __NR_getuid,
    __NR_geteuid, __NR_getgid, __NR_getegid, __NR_uname, __NR_sysinfo, __NR_getrandom, __NR_getcpu, __NR_sched_yield,
    __NR_sched_getaffinity, __NR_sched_getparam, __NR_sched_getscheduler, __NR_sched_get_priority_max,
    __NR_sched_get_priority_min, __NR_set_robust_list, __NR_set_tid_address, __NR_rt_sigaction, __NR_rt_sigprocmask,
    __NR_rt_sigreturn, __NR_sigaltstack, __NR_restart_syscall, __NR_exit, __NR_exit_group, __NR_execve,
#ifdef __NR_rseq
    __NR_rseq,
#endif
#ifdef __NR_faccessat2
    __NR_faccessat2,
#endif
#ifdef __x86_64__
    __NR_open, __NR_stat, __NR_lstat, __NR_access, __NR_dup2, __NR_pipe, __NR_poll, __NR_select, __NR_time,
    __NR_getrlimit, __NR_arch_prctl,
#endif
};

#if defined(__x86_64__)
inline constexpr uint32_t ARCHITECTURE = AUDIT_ARCH_X86_64;
#else
inline constexpr uint32_t ARCHITECTURE = AUDIT_ARCH_AARCH64;
#endif

// Builds a system call filter as a program for the kernel (seccomp(2)).
class CallFilter {
 public:
  CallFilter() {
    load(offsetof(seccomp_data, arch));
    jumpUnlessEqual(ARCHITECTURE, 0, 1);
    add(BPF_JMP | BPF_JA, 1);
    end(SECCOMP_RET_KILL_PROCESS);
    load(offsetof(seccomp_data, nr));
  }

  void allow(int call) {
    jumpUnlessEqual(static_cast<uint32_t>(call), 0, 1);
    end(SECCOMP_RET_ALLOW);
  }

  // Allows a call whose argument has one of these values. The kernel compares 32 bits of each argument.
  template <size_t count>
  void allow(int call, int argument, const uint32_t (&values)[count]) {
    jumpUnlessEqual(static_cast<uint32_t>(call), 0, 2 * count + 2);
    load(offsetof(seccomp_data, args) + sizeof(uint64_t) * argument);
    for (const uint32_t value : values) {
      jumpUnlessEqual(value, 0, 1);
      end(SECCOMP_RET_ALLOW);
    }
    end(SECCOMP_RET_ERRNO | EPERM);
  }

  // Allows a call whose argument has this bit set.
  void allowWithBit(int call, int argument, uint32_t bit) {
    jumpUnlessEqual(static_cast<uint32_t>(call), 0, 4);
    load(offsetof(seccomp_data, args) + sizeof(uint64_t) * argument);
    code_[length_++] = BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bit, 0, 1);
    end(SECCOMP_RET_ALLOW);
    end(SECCOMP_RET_ERRNO | EPERM);
  }

  bool install() {
    end(SECCOMP_RET_ERRNO | ENOSYS);
    sock_fprog program = {static_cast<unsigned short>(length_), code_};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
  }

 private:
  void add(uint16_t code, uint32_t value) { code_[length_++] = BPF_STMT(code, value); }
  // Both supported architectures are little-endian: the low half of an argument comes first.
  void load(size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset)); }
  void end(uint32_t action) { add(BPF_RET | BPF_K, action); }
  void jumpUnlessEqual(uint32_t value, size_t equal, size_t other) {
    code_[length_++] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, static_cast<uint8_t>(equal), static_cast<uint8_t>(other));
  }

  sock_filter code_[256];
  size_t length_ = 0;
};

// Applies the filter to this process and the program that it becomes. Returns whether it is active.
inline bool confineCalls() {
  CallFilter filter;
  for (const int call : ALLOWED_CALLS) filter.allow(call);
  // Threads only. A process would escape the server's count, and a filter cannot see clone3's flags.
  filter.allowWithBit(__NR_clone, 0, CLONE_THREAD);
  // Never for another process: F_SETOWN lets a descriptor signal one, and prlimit sets the limits of one.
  filter.allow(__NR_fcntl, 1, {F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC});
  filter.allow(__NR_prlimit64, 0, {0});
  filter.allow(__NR_tgkill, 0, {static_cast<uint32_t>(getpid())});
  filter.allow(__NR_prctl, 0, {PR_SET_NAME, PR_GET_NAME});
  filter.allow(__NR_ioctl, 1, {TCGETS});
  return filter.install();
}
