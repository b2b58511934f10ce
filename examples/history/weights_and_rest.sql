-- SPDX-License-Identifier: Apache-2.0
-- What does the newest run of each model hold at its DRAM peak, by class? Bytes per bank.
SELECT r.model, r.board, a.class, sum(a.bytes) AS held_bytes
FROM (SELECT model, board, run, row_number() OVER (PARTITION BY model, board ORDER BY time_us DESC, run DESC) AS age FROM run WHERE method = 'run') r
JOIN live_at_peak a ON a.run = r.run
WHERE r.age = 1 AND a.memory = 'DRAM'
GROUP BY r.model, r.board, a.class
ORDER BY r.model, r.board, a.class
