-- SPDX-License-Identifier: Apache-2.0
-- Which operations add most to DRAM, over all models? The largest that each run tells.
SELECT operation_name, count(DISTINCT run) AS runs, max(added_bytes) AS most_bytes
FROM operation_effect
WHERE memory = 'DRAM' AND position = 0
GROUP BY operation_name
ORDER BY most_bytes DESC, operation_name
