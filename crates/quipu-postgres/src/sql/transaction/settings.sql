-- The user of the transaction, and limits that end with it. A server that acknowledges commits before they are durable is
-- asked to wait.
SELECT set_config('quipu.user_id', $1, true),
       set_config('statement_timeout', $2, true),
       set_config('idle_in_transaction_session_timeout', $3, true),
       set_config('synchronous_commit', CASE current_setting('synchronous_commit')
           WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, true)
