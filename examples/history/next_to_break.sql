-- SPDX-License-Identifier: Apache-2.0
-- Which model has the least headroom in its newest run?
SELECT r.model, r.board, r.run, p.peak_bytes, p.capacity_bytes
FROM (SELECT model, board, run, row_number() OVER (PARTITION BY model, board ORDER BY time_us DESC, run DESC) AS age FROM run WHERE method = 'run') r
JOIN peak p ON p.run = r.run
WHERE r.age = 1 AND p.memory = 'DRAM' AND p.capacity_bytes > 0
ORDER BY p.peak_bytes * 1.0 / p.capacity_bytes DESC, r.model, r.board
LIMIT 20
