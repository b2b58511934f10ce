/* SPDX-License-Identifier: Apache-2.0 */
/* Zip archives, read member by member: stored and deflated ones, zip64 too. Total: sizes and places in the file are believed only as far as they agree with each other, a member gives
 * no byte more than it says and all members together are stored in no more bytes than the file has, so that none can be read twice under two names. Several threads may read at once. */
#ifndef TTM_BASE_ZIP_H
#define TTM_BASE_ZIP_H

#include "base/source.h"
#include "base/vec.h"

typedef struct ttm_zip_member {
  char *name;            /* as it stands there, to its first NUL: foreign, and no path of this machine */
  uint64_t at;           /* of its local header */
  uint64_t stored, size; /* bytes in the archive, and of the member */
  uint32_t crc;
  uint16_t method;
  bool encrypted;
} ttm_zip_member;

typedef struct ttm_zip {
  const char *path; /* borrowed */
  ttm_source *source;
  uint64_t end; /* where the members end and the directory begins */
  TTM_VEC(ttm_zip_member) members;
} ttm_zip;

/* TTM_EFORMAT when it is no archive, cut or contradicts itself; TTM_EIO, TTM_ENOMEM. Freed with ttm_zip_close in any case. */
int ttm_zip_open(ttm_zip *out, const char *path, ttm_error *err);
void ttm_zip_close(ttm_zip *zip);

/* Takes the next bytes of a member; anything but 0 ends the reading and is what it returns. */
typedef int ttm_zip_take(void *context, const char *bytes, size_t n, ttm_error *err);
/* All bytes of a member. TTM_EFORMAT when it is damaged, encrypted or packed in another way. */
int ttm_zip_read(const ttm_zip *zip, size_t member, ttm_zip_take *take, void *context, ttm_error *err);

#endif
