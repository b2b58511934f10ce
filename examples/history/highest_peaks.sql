-- SPDX-License-Identifier: Apache-2.0
-- The highest and the lowest DRAM peak of each model on each board, bytes per bank.
SELECT r.model, r.board, count(*) AS runs, min(p.peak_bytes) AS lowest, max(p.peak_bytes) AS highest
FROM run r JOIN peak p ON p.run = r.run
WHERE p.memory = 'DRAM'
GROUP BY r.model, r.board
ORDER BY highest DESC, r.model, r.board
