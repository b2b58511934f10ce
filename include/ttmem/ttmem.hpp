// SPDX-License-Identifier: Apache-2.0
// C++17 over libttmem, header only: errors become exceptions, ownership becomes a destructor.
//
//   ttmem::Profile profile = ttmem::Profile::read("model_profile.log");
//   profile.write_report("reports/model", "model");
#ifndef TTMEM_TTMEM_HPP
#define TTMEM_TTMEM_HPP

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "ttmem/ttmem.h"

namespace ttmem {

class Error : public std::runtime_error {
public:
  explicit Error(const ttm_error &error) : std::runtime_error(error.message), code_(error.code), line_(error.line) {}
  int code() const noexcept { return code_; }            // a ttm_status
  std::uint64_t line() const noexcept { return line_; }  // 1-based input line, 0 where none applies

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

}  // namespace ttmem
#endif
