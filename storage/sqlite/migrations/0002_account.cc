// Version 2: access keys and account settings; when clusters and task definitions were deleted, how
// long tasks are protected, and who registered a container instance (in its details).
#include "storage/sqlite/migrations/all.h"

namespace berth::storage::sqlite {

const char kMigration0002[] = R"sql(
ALTER TABLE cluster_records ADD COLUMN deleted_at INTEGER;
ALTER TABLE task_definition_records ADD COLUMN delete_requested_at INTEGER;
ALTER TABLE task_records ADD COLUMN protected_until INTEGER;

CREATE TABLE account_setting_records (
  principal_arn  TEXT NOT NULL,
  name           TEXT NOT NULL,
  value          TEXT NOT NULL,
  PRIMARY KEY (principal_arn, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE access_key_records (
  sequence       INTEGER PRIMARY KEY,
  id             TEXT NOT NULL,
  user           TEXT NOT NULL,
  role           TEXT NOT NULL,
  policy         TEXT,
  sealed_secret  TEXT NOT NULL,
  created_at     INTEGER,
  revoked_at     INTEGER
) STRICT;

DROP VIEW clusters;
CREATE VIEW clusters AS
SELECT name,
       status,
       strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1e9, 'unixepoch') AS created_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', deleted_at / 1e9, 'unixepoch') AS deleted_at,
       tags,
       document
FROM cluster_records;

DROP VIEW task_definitions;
CREATE VIEW task_definitions AS
SELECT family || ':' || revision AS definition,
       status,
       strftime('%Y-%m-%dT%H:%M:%fZ', registered_at / 1e9, 'unixepoch') AS registered_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', deregistered_at / 1e9, 'unixepoch') AS deregistered_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', delete_requested_at / 1e9, 'unixepoch') AS delete_requested_at,
       registered_by,
       tags,
       document
FROM task_definition_records;

DROP VIEW container_instances;
CREATE VIEW container_instances AS
SELECT id,
       cluster,
       ec2_instance_id,
       status,
       status_reason,
       cpu_units,
       memory_mib,
       ifnull(json_array_length(details, '$.gpus'), 0) AS gpus,
       details ->> '$.version_info.agent_version' AS agent_version,
       iif(emulated, 'emulated', 'agent') AS run_by,
       strftime('%Y-%m-%dT%H:%M:%fZ', registered_at / 1e9, 'unixepoch') AS registered_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', deregistered_at / 1e9, 'unixepoch') AS deregistered_at,
       details ->> '$.registered_by' AS registered_by,
       version
FROM container_instance_records;

DROP VIEW tasks;
CREATE VIEW tasks AS
SELECT task.id,
       task.cluster,
       definition.family || ':' || definition.revision AS definition,
       task.instance,
       (SELECT group_concat(DISTINCT gpu.value)
        FROM json_each(task.details, '$.containers') AS container,
             json_each(container.value, '$.gpu_ids') AS gpu) AS gpu_ids,
       task.last_status,
       task.desired_status,
       task.stop_code,
       task.stopped_reason,
       task.launch_type,
       task.task_group,
       task.started_by,
       strftime('%Y-%m-%dT%H:%M:%fZ', task.created_at / 1e9, 'unixepoch') AS created_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', task.started_at / 1e9, 'unixepoch') AS started_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', task.stopping_at / 1e9, 'unixepoch') AS stopping_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', task.stopped_at / 1e9, 'unixepoch') AS stopped_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', task.protected_until / 1e9, 'unixepoch') AS protected_until,
       task.version
FROM task_records AS task
LEFT JOIN task_definition_records AS definition ON definition.sequence = task.definition;

CREATE VIEW account_settings AS
SELECT principal_arn, name, value
FROM account_setting_records;

-- Without the secret, sealed as it is.
CREATE VIEW access_keys AS
SELECT id,
       user,
       role,
       policy,
       strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1e9, 'unixepoch') AS created_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', revoked_at / 1e9, 'unixepoch') AS revoked_at
FROM access_key_records;
)sql";

}  // namespace berth::storage::sqlite
