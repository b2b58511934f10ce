-- SPDX-License-Identifier: Apache-2.0
-- How often do runs fail, by model and board, and since when?
SELECT model, board, count(*) AS runs, sum(CASE WHEN failures > 0 THEN 1 ELSE 0 END) AS failed, min(CASE WHEN failures > 0 THEN time_us END) AS first_us
FROM run
GROUP BY model, board
HAVING sum(CASE WHEN failures > 0 THEN 1 ELSE 0 END) > 0
ORDER BY failed DESC, model, board
