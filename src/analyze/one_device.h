/* SPDX-License-Identifier: Apache-2.0 */
/* What one device of a capture holds. Of several devices that are no mesh a state tells the fullest only, and what runs on all of them is there
 * once for each: who adds up what tensors take must stay with one device, and take that one's levels. */
#ifndef TTM_ANALYZE_ONE_DEVICE_H
#define TTM_ANALYZE_ONE_DEVICE_H

#include "profile/profile.h"

typedef struct ttm_one_device {
  const ttm_profile *profile;
  uint32_t *buffers; /* by tensor: its DRAM buffer on the device, TTM_NONE; NULL for a log, which knows no buffers */
  uint64_t *levels;  /* by state: bytes per bank in DRAM; NULL when the device is the only one: as the states say */
  /* Per bank: what other devices come to at their peaks, so that the highest level is no lower whatever this one saves. Those that come as high
   * as this one do the same, and save the same. UINT64_MAX: more devices than are told apart. */
  uint64_t others_bytes;
} ttm_one_device;

/* 0 or TTM_ENOMEM; freed with ttm_one_device_free in any case. */
int ttm_one_device_make(ttm_one_device *out, const ttm_profile *p, uint32_t device);
void ttm_one_device_free(ttm_one_device *one);

/* The tensor's DRAM buffer there, or NULL. */
const ttm_buffer *ttm_one_device_buffer(const ttm_one_device *one, uint32_t tensor);
/* Bytes per bank in DRAM at a state; false when the state does not tell. */
bool ttm_one_device_level(const ttm_one_device *one, uint32_t state, uint64_t *out);

#endif
