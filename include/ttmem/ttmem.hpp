// SPDX-License-Identifier: Apache-2.0
// C++17 over libttmem, header only: errors become exceptions, ownership becomes a destructor.
//
//   ttmem::Profile profile = ttmem::Profile::read("model_profile.log");
//   profile.write_report("reports/model", "model");
//
//   ttmem::CaptureGuard guard = ttmem::MemoryUsageTracker::begin_capture();   // ends and clears at the end of the scope
//   ttmem::MemoryUsageTracker::snapshot("MODEL_CREATION");
#ifndef TTMEM_TTMEM_HPP
#define TTMEM_TTMEM_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ttmem/ttmem.h"

namespace ttmem {

class Error : public std::runtime_error {
 public:
  explicit Error(const ttm_error &error) : std::runtime_error(error.message), code_(error.code), line_(error.line) {}
  int code() const noexcept { return code_; }           // a ttm_status
  std::uint64_t line() const noexcept { return line_; } // 1-based input line, 0 where none applies

 private:
  int code_;
  std::uint64_t line_;
};

// One run, read once. Movable, not copyable.
class Profile {
 public:
  // A path, or "-" for standard input.
  static Profile read(const std::string &path, const ttm_read_options *options = nullptr) {
    ttm_profile *raw = nullptr;
    ttm_error error = {};
    if (ttm_profile_read_opts(&raw, path.c_str(), options, &error) != TTM_OK) throw Error(error);
    return Profile(raw);
  }

  // A log that is already in memory.
  static Profile parse(std::string_view text, const ttm_read_options *options = nullptr) {
    ttm_profile *raw = nullptr;
    ttm_error error = {};
    if (ttm_profile_read_bytes(&raw, text.data(), text.size(), options, &error) != TTM_OK) throw Error(error);
    return Profile(raw);
  }

  // Operations that are elements of the reports.
  std::uint64_t operation_count() const noexcept { return ttm_profile_operation_count(raw_.get()); }

  // A whole report folder; complete or not at all.
  void write_report(const std::string &folder, const std::string &name) const {
    ttm_error error = {};
    if (ttm_report_write_dir(raw_.get(), folder.c_str(), name.c_str(), nullptr, &error) != TTM_OK) throw Error(error);
  }

  const ttm_profile *get() const noexcept { return raw_.get(); }

 private:
  struct Free {
    void operator()(ttm_profile *profile) const noexcept { ttm_profile_free(profile); }
  };
  explicit Profile(ttm_profile *raw) : raw_(raw) {}
  std::unique_ptr<ttm_profile, Free> raw_;
};

class Tracker;

// Ends and clears a capture when its scope ends, however it ends. Movable, not copyable; must not outlive its tracker.
class CaptureGuard {
 public:
  CaptureGuard(CaptureGuard &&other) noexcept : tracker_(std::exchange(other.tracker_, nullptr)) {}
  CaptureGuard &operator=(CaptureGuard &&other) noexcept {
    if (this != &other) {
      finish();
      tracker_ = std::exchange(other.tracker_, nullptr);
    }
    return *this;
  }
  CaptureGuard(const CaptureGuard &) = delete;
  CaptureGuard &operator=(const CaptureGuard &) = delete;
  ~CaptureGuard() { finish(); }

  // The capture is left alone from now on.
  void release() noexcept { tracker_ = nullptr; }

 private:
  friend class Tracker;
  explicit CaptureGuard(ttm_tracker *tracker) noexcept : tracker_(tracker) {}
  void finish() noexcept {
    if (!tracker_) return;
    ttm_tracker_end(tracker_, nullptr, nullptr);
    ttm_tracker_clear(tracker_);
    tracker_ = nullptr;
  }
  ttm_tracker *tracker_;
};

// Memory of a training run, phase by phase. Safe to use from several threads. Not movable: guards point to it.
class Tracker {
 public:
  Tracker() {
    ttm_error error = {};
    check(ttm_tracker_new(&raw_, &error), error);
  }
  ~Tracker() { ttm_tracker_free(raw_); }
  Tracker(const Tracker &) = delete;
  Tracker &operator=(const Tracker &) = delete;

  [[nodiscard]] CaptureGuard begin_capture(ttm_run_mode mode = TTM_RUN_NORMAL) {
    ttm_error error = {};
    check(ttm_tracker_begin(raw_, mode, &error), error);
    return CaptureGuard(raw_);
  }
  void snapshot(const std::string &name) {
    ttm_error error = {};
    check(ttm_tracker_snapshot(raw_, name.c_str(), &error), error);
  }
  void end_capture(const std::string &name = "END_TRACE") {
    ttm_error error = {};
    check(ttm_tracker_end(raw_, name.c_str(), &error), error);
  }
  void clear() noexcept { ttm_tracker_clear(raw_); }

  // Events; see ttmem/tracker.h.
  void allocated(ttm_memory memory, std::uint64_t bytes) noexcept { ttm_tracker_allocated(raw_, memory, bytes); }
  void deallocated(ttm_memory memory, std::uint64_t bytes) noexcept { ttm_tracker_deallocated(raw_, memory, bytes); }
  void buffer_allocated(std::uint64_t id, ttm_memory memory, std::uint64_t bytes) {
    ttm_error error = {};
    check(ttm_tracker_buffer_allocated(raw_, id, memory, bytes, &error), error);
  }
  void buffer_deallocated(std::uint64_t id) noexcept { ttm_tracker_buffer_deallocated(raw_, id); }
  void program_buffer(ttm_program_buffer kind, std::uint64_t bytes, const std::vector<ttm_tracker_cores> &cores = {}) {
    ttm_error error = {};
    check(ttm_tracker_program_buffer(raw_, kind, bytes, cores.data(), cores.size(), &error), error);
  }
  void program_buffers_deallocated() noexcept { ttm_tracker_program_buffers_deallocated(raw_); }

  // A ttnn graph capture as JSON.
  void graph(std::string_view json) {
    ttm_error error = {};
    check(ttm_tracker_graph(raw_, json.data(), json.size(), &error), error);
  }

  // Answers. Names live as long as the tracker.
  std::vector<ttm_phase_usage> phases() const {
    std::vector<ttm_phase_usage> all;
    ttm_phase_usage phase;
    while (ttm_tracker_phase(raw_, all.size(), &phase, nullptr) == TTM_OK) all.push_back(phase);
    return all;
  }
  ttm_phase_usage phase(const std::string &name) const {
    ttm_error error = {};
    ttm_phase_usage found = {};
    check(ttm_tracker_find(raw_, name.c_str(), &found, &error), error);
    return found;
  }
  ttm_dram_usage get_dram_usage(const std::string &name) const { return phase(name).dram; }
  ttm_l1_usage get_l1_usage(const std::string &name) const { return phase(name).l1; }
  std::vector<std::pair<std::string, ttm_dram_usage>> get_dram_usage_all() const {
    std::vector<std::pair<std::string, ttm_dram_usage>> all;
    for (const ttm_phase_usage &p : phases()) all.emplace_back(p.name, p.dram);
    return all;
  }
  std::vector<std::pair<std::string, ttm_l1_usage>> get_l1_usage_all() const {
    std::vector<std::pair<std::string, ttm_l1_usage>> all;
    for (const ttm_phase_usage &p : phases()) all.emplace_back(p.name, p.l1);
    return all;
  }
  std::vector<std::string> get_trace_names() const {
    std::vector<std::string> all;
    for (const ttm_phase_usage &p : phases()) all.emplace_back(p.name);
    return all;
  }
  std::string text() const {
    std::unique_ptr<char, void (*)(char *)> text(ttm_tracker_text(raw_), ttm_text_free);
    if (!text) throw std::bad_alloc();
    return std::string(text.get());
  }
  void print_memory_usage(std::FILE *to = stdout) const { std::fputs(text().c_str(), to); }

  ttm_tracker *get() const noexcept { return raw_; }

 private:
  static void check(int status, const ttm_error &error) {
    if (status != TTM_OK) throw Error(error);
  }
  ttm_tracker *raw_ = nullptr;
};

// One tracker for the whole program, under the names of tt-train's.
class MemoryUsageTracker {
 public:
  static Tracker &instance() {
    static Tracker tracker;
    return tracker;
  }
  [[nodiscard]] static CaptureGuard begin_capture(ttm_run_mode mode = TTM_RUN_NORMAL) {
    return instance().begin_capture(mode);
  }
  static void snapshot(const std::string &name) { instance().snapshot(name); }
  static void end_capture(const std::string &name = "END_TRACE") { instance().end_capture(name); }
  static ttm_dram_usage get_dram_usage(const std::string &name) { return instance().get_dram_usage(name); }
  static ttm_l1_usage get_l1_usage(const std::string &name) { return instance().get_l1_usage(name); }
  static auto get_dram_usage_all() { return instance().get_dram_usage_all(); }
  static auto get_l1_usage_all() { return instance().get_l1_usage_all(); }
  static auto get_trace_names() { return instance().get_trace_names(); }
  static void print_memory_usage() { instance().print_memory_usage(); }
  static void clear() noexcept { instance().clear(); }
};

} // namespace ttmem
#endif
