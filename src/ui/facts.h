/* SPDX-License-Identifier: Apache-2.0 */
/* A report whose log is gone: what its findings still tell. */
#ifndef TTM_UI_FACTS_H
#define TTM_UI_FACTS_H

#include "store/catalog.h"
#include "ui/panel.h"

ttm_panel *ttm_facts_panel(const ttm_screen *screen, const ttm_catalog *catalog, const ttm_catalog_entry *entry);

#endif
