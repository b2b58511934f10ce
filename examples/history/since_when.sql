-- SPDX-License-Identifier: Apache-2.0
-- In which runs did the DRAM peak of a model rise by more than 1 % against the run before? (`ttmem history` tells steps from noise; this does not.)
SELECT x.model, x.board, x.run, x.peak_bytes - x.before_bytes AS rise
FROM (SELECT r.model AS model, r.board AS board, r.run AS run, p.peak_bytes AS peak_bytes,
             lag(p.peak_bytes, 1, p.peak_bytes) OVER (PARTITION BY r.model, r.board ORDER BY r.time_us, r.run) AS before_bytes
      FROM run r JOIN peak p ON p.run = r.run WHERE p.memory = 'DRAM' AND r.method = 'run') x
WHERE (x.peak_bytes - x.before_bytes) * 100 > x.before_bytes
ORDER BY rise DESC, x.run
LIMIT 20
