-- SPDX-License-Identifier: Apache-2.0
-- Which programs leave memory behind with each execution? Bytes per bank.
SELECT r.model, g.program, count(*) AS runs, max(g.leak_bytes) AS leak_bytes
FROM program g JOIN run r ON r.run = g.run
WHERE g.leak_bytes > 0
GROUP BY r.model, g.program
ORDER BY leak_bytes DESC, r.model, g.program
