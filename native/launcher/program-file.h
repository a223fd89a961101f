// The file of the product: this launcher, the packed parts, the packed inner program, and a trailer that describes it.
// tools/build/program-file.ts writes it, and src/program/program-file.ts reads it, too.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

[[noreturn]] inline void fail(const char* message) {
  fprintf(stderr, "transcribe: %s\n", message);
  exit(1);
}

[[noreturn]] inline void failDamaged() {
  fail("this program's file is damaged: copy it again and compare it with SHA256SUMS");
}

// The last bytes of the file. All supported architectures are little-endian.
struct Trailer {
  char magic[16];
  // The inner program's zstd frame.
  uint64_t offset;
  uint64_t packedBytes;
  // The inner program itself: its size and SHA-256.
  uint64_t bytes;
  uint8_t sha256[32];
};
static_assert(sizeof(Trailer) == 72);

constexpr char MAGIC[16] = {'t', 'r', 'a', 'n', 's', 'c', 'r', 'i', 'b', 'e', ' ', 'f', 'i', 'l', 'e', '1'};

// Value of errno for a damaged file.
constexpr int DAMAGED = EBADMSG;

// Characters of an inner program's directory name: the first half of its SHA-256.
constexpr size_t NAME_LENGTH = 32;

// Memory of the decoder. scripts/build compresses with a window of 8 MiB or less.
constexpr int MOST_WINDOW_LOG = 23;

class ProgramFile {
 public:
  // Opens the file that this process was started from. Ends the process if it is damaged.
  ProgramFile() {
    descriptor_ = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) {
      fprintf(stderr, "transcribe: this program cannot read its own file: %s; it needs /proc, and the right to read it\n",
              strerror(errno));
      exit(1);
    }
    struct stat status;
    const uint64_t size = fstat(descriptor_, &status) == 0 ? static_cast<uint64_t>(status.st_size) : 0;
    if (size < sizeof trailer_ || !read(&trailer_, sizeof trailer_, size - sizeof trailer_)) failDamaged();
    if (memcmp(trailer_.magic, MAGIC, sizeof MAGIC) != 0) failDamaged();
    const uint64_t end = size - sizeof trailer_;
    if (trailer_.offset > end || trailer_.packedBytes != end - trailer_.offset) failDamaged();
    for (size_t at = 0; at < NAME_LENGTH / 2; at++) snprintf(name_ + 2 * at, 3, "%02x", trailer_.sha256[at]);
  }

  // Name of the inner program's directory.
  const char* name() const { return name_; }
  uint64_t innerBytes() const { return trailer_.bytes; }

  // Writes the inner program into an empty file. Returns false, with errno, if that is impossible; errno is DAMAGED if the
  // frame differs from its checksum or cannot be read.
  bool unpack(int target) const {
    ZSTD_DStream* stream = ZSTD_createDStream();
    if (stream == nullptr) {
      errno = ENOMEM;
      return false;
    }
    ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, MOST_WINDOW_LOG);
    const bool written = unpackWith(stream, target);
    const int reason = errno;
    ZSTD_freeDStream(stream);
    errno = reason;
    return written;
  }

 private:
  bool read(void* into, size_t bytes, uint64_t at) const {
    auto* next = static_cast<char*>(into);
    while (bytes > 0) {
      const ssize_t length = pread(descriptor_, next, bytes, static_cast<off_t>(at));
      if (length < 0 && errno == EINTR) continue;
      if (length <= 0) return false;
      next += length;
      at += static_cast<uint64_t>(length);
      bytes -= static_cast<size_t>(length);
    }
    return true;
  }

  bool unpackWith(ZSTD_DStream* stream, int target) const {
    static char packed[1 << 17];
    static char unpacked[1 << 17];
    uint64_t done = 0;
    uint64_t written = 0;
    size_t expected = 1;
    while (done < trailer_.packedBytes) {
      const uint64_t left = trailer_.packedBytes - done;
      ZSTD_inBuffer input = {packed, left < sizeof packed ? static_cast<size_t>(left) : sizeof packed, 0};
      if (!read(packed, input.size, trailer_.offset + done)) return damaged();
      done += input.size;
      ZSTD_outBuffer output;
      do {
        output = {unpacked, sizeof unpacked, 0};
        expected = ZSTD_decompressStream(stream, &output, &input);
        written += output.pos;
        if (ZSTD_isError(expected) || written > trailer_.bytes) return damaged();
        if (!writeAll(target, unpacked, output.pos)) return false;
        // Zero is the end of the frame. Otherwise a full buffer may not have been all.
      } while (input.pos < input.size || (expected != 0 && output.pos == output.size));
    }
    return (expected == 0 && written == trailer_.bytes) || damaged();
  }

  static bool damaged() {
    errno = DAMAGED;
    return false;
  }

  static bool writeAll(int target, const char* bytes, size_t count) {
    while (count > 0) {
      const ssize_t length = write(target, bytes, count);
      if (length < 0 && errno == EINTR) continue;
      if (length < 0) return false;
      bytes += length;
      count -= static_cast<size_t>(length);
    }
    return true;
  }

  int descriptor_;
  Trailer trailer_;
  char name_[NAME_LENGTH + 1];
};
