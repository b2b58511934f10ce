// SPDX-License-Identifier: Apache-2.0
// C++17 over libttmem, header only: errors become exceptions, ownership becomes a destructor.
//
//   ttmem::Profile profile = ttmem::Profile::read("model_profile.log");
//   ttmem::Findings findings(profile);
//   for (const ttm_tensor_info &tensor : findings.tensors())
//     if (tensor.alive_at_peak) std::cout << ttmem::text(tensor.name) << '\n';
//   profile.write_report("reports/model", "model");
//
//   ttmem::CaptureGuard guard = ttmem::MemoryUsageTracker::begin_capture();   // ends and clears at the end of the scope
//   ttmem::MemoryUsageTracker::snapshot("MODEL_CREATION");
#ifndef TTMEM_TTMEM_HPP
#define TTMEM_TTMEM_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
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

// A text of the library, borrowed like it.
inline std::string_view text(const ttm_str &str) noexcept { return {str.p, str.n}; }

// Rows of a profile or of findings, made one by one while a loop runs. Borrows its owner; a row lives until the next one.
template <class Info, class Owner>
class Rows {
 public:
  using Count = std::uint32_t (*)(const Owner *);
  using Get = int (*)(const Owner *, std::uint32_t, Info *, ttm_error *);

  Rows(const Owner *owner, Count count, Get get) noexcept : owner_(owner), size_(count(owner)), get_(get) {}
  std::uint32_t size() const noexcept { return size_; }

  // Throws Error for a row past the end.
  Info operator[](std::uint32_t row) const {
    Info info = {};
    ttm_error error = {};
    info.size = sizeof info;
    if (get_(owner_, row, &info, &error) != TTM_OK) throw Error(error);
    return info;
  }

  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Info;
    using difference_type = std::ptrdiff_t;
    using pointer = const Info *;
    using reference = const Info &;

    iterator(const Rows &rows, std::uint32_t row) : rows_(&rows), row_(row) { load(); }
    reference operator*() const noexcept { return info_; }
    pointer operator->() const noexcept { return &info_; }
    iterator &operator++() {
      ++row_;
      load();
      return *this;
    }
    iterator operator++(int) {
      iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const iterator &other) const noexcept { return row_ == other.row_; }
    bool operator!=(const iterator &other) const noexcept { return row_ != other.row_; }

   private:
    void load() {
      if (row_ < rows_->size_) info_ = (*rows_)[row_];
    }
    const Rows *rows_;
    std::uint32_t row_;
    Info info_ = {};
  };
  iterator begin() const { return iterator(*this, 0); }
  iterator end() const { return iterator(*this, size_); }

 private:
  const Owner *owner_;
  std::uint32_t size_;
  Get get_;
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

  // Operations that reports count.
  std::uint64_t operation_count() const noexcept { return ttm_profile_operation_count(raw_.get()); }

  Rows<ttm_operation_info, ttm_profile> operations() const noexcept {
    return {raw_.get(), ttm_operation_count, ttm_operation_get};
  }
  Rows<ttm_state_info, ttm_profile> states() const noexcept { return {raw_.get(), ttm_state_count, ttm_state_get}; }

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
  friend class Feed;
  explicit Profile(ttm_profile *raw) : raw_(raw) {}
  std::unique_ptr<ttm_profile, Free> raw_;
};

// A log that is still being written. Movable, not copyable.
class Feed {
 public:
  explicit Feed(const std::string &name = "-", const ttm_read_options *options = nullptr) {
    ttm_feed *raw = nullptr;
    ttm_error error = {};
    if (ttm_feed_begin(&raw, name.c_str(), options, &error) != TTM_OK) throw Error(error);
    raw_.reset(raw);
  }
  // Any bytes; a line may come in pieces.
  void put(std::string_view bytes) {
    ttm_error error = {};
    if (ttm_feed_put(raw_.get(), bytes.data(), bytes.size(), &error) != TTM_OK) throw Error(error);
  }
  ttm_feed_info now() const {
    ttm_feed_info info = {};
    info.size = sizeof info;
    ttm_feed_get(raw_.get(), &info, nullptr);
    return info;
  }
  // The log is over; the feed is empty afterwards.
  Profile end() {
    ttm_profile *raw = nullptr;
    ttm_error error = {};
    if (ttm_feed_end(raw_.release(), &raw, &error) != TTM_OK) throw Error(error);
    return Profile(raw);
  }

 private:
  struct Free {
    void operator()(ttm_feed *feed) const noexcept { ttm_feed_free(feed); }
  };
  std::unique_ptr<ttm_feed, Free> raw_;
};

// What a profile means. Keeps what it needs of the profile. Movable, not copyable.
class Findings {
 public:
  explicit Findings(const Profile &profile, unsigned threads = 0) {
    ttm_findings *raw = nullptr;
    ttm_error error = {};
    if (ttm_findings_make(&raw, profile.get(), threads, &error) != TTM_OK) throw Error(error);
    raw_.reset(raw);
  }

  Rows<ttm_tensor_info, ttm_findings> tensors() const noexcept {
    return {raw_.get(), ttm_tensor_count, ttm_tensor_get};
  }
  Rows<ttm_incident_info, ttm_findings> incidents() const noexcept {
    return {raw_.get(), ttm_incident_count, ttm_incident_get};
  }
  Rows<ttm_statement_info, ttm_findings> statements() const noexcept {
    return {raw_.get(), ttm_statement_count, ttm_statement_get};
  }
  Rows<ttm_fix_info, ttm_findings> fixes() const noexcept { return {raw_.get(), ttm_fix_count, ttm_fix_get}; }
  Rows<ttm_quantity_info, ttm_findings> quantities() const noexcept {
    return {raw_.get(), ttm_quantity_count, ttm_quantity_get};
  }
  Rows<ttm_point_info, ttm_findings> points() const noexcept { return {raw_.get(), ttm_point_count, ttm_point_get}; }
  ttm_peak_info peak(ttm_memory memory) const {
    ttm_peak_info info = {};
    info.size = sizeof info;
    ttm_error error = {};
    if (ttm_peak_get(raw_.get(), memory, &info, &error) != TTM_OK) throw Error(error);
    return info;
  }
  // The number that reports print, TTM_NONE for operations they leave out.
  std::uint32_t index(std::uint32_t operation) const noexcept { return ttm_findings_index(raw_.get(), operation); }

  // The text of NAME_findings.json.
  std::string json() const {
    char *text = nullptr;
    std::size_t n = 0;
    ttm_error error = {};
    if (ttm_findings_json(raw_.get(), &text, &n, &error) != TTM_OK) throw Error(error);
    std::unique_ptr<char, void (*)(char *)> owned(text, ttm_text_free);
    return std::string(text, n);
  }

  const ttm_findings *get() const noexcept { return raw_.get(); }

 private:
  struct Free {
    void operator()(ttm_findings *findings) const noexcept { ttm_findings_free(findings); }
  };
  std::unique_ptr<ttm_findings, Free> raw_;
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
