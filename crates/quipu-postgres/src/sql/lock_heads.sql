-- Waits for what is written to any ledger of the user, those that are being built included.
SELECT fence FROM quipu.heads WHERE user_id = $1 ORDER BY fence FOR UPDATE
