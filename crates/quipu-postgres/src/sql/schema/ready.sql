SELECT current_setting('server_version'),
       pg_is_in_recovery() OR current_setting('default_transaction_read_only') = 'on'
