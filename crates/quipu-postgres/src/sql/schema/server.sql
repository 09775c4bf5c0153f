SELECT current_setting('server_version'),
       current_setting('fsync') = 'on',
       current_setting('full_page_writes') = 'on',
       current_setting('synchronous_commit'),
       pg_is_in_recovery() OR current_setting('default_transaction_read_only') = 'on',
       (SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user),
       pg_database_size(current_database())
