// Version 1: a table per kind of record, and a view per table for people.
//
// Tables end in _records and hold what a store must give back; the views have the plain names and
// show times that can be read. Times are nanoseconds since 1970, NULL for "never". Text that is not
// set is NULL. `details`, `tags` and `tasks` are JSON that storage/ writes; `document`, `overrides`
// and `network_configuration` are JSON texts of the API, kept to the letter.
#include "storage/sqlite/migrations/all.h"

namespace berth::storage::sqlite {

const char kMigration0001[] = R"sql(
CREATE TABLE cluster_records (
  sequence    INTEGER PRIMARY KEY,
  name        TEXT NOT NULL,
  status      TEXT NOT NULL,
  created_at  INTEGER,
  tags        TEXT NOT NULL,
  document    TEXT NOT NULL
) STRICT;

-- Outlives its revisions, so that no revision number is ever used twice.
CREATE TABLE family_records (
  name           TEXT PRIMARY KEY,
  last_revision  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE task_definition_records (
  sequence         INTEGER PRIMARY KEY,
  family           TEXT NOT NULL,
  revision         INTEGER NOT NULL,
  status           TEXT NOT NULL,
  registered_at    INTEGER,
  deregistered_at  INTEGER,
  registered_by    TEXT,
  tags             TEXT NOT NULL,
  document         TEXT
) STRICT;

CREATE TABLE container_instance_records (
  sequence         INTEGER PRIMARY KEY,
  id               TEXT NOT NULL,
  cluster          TEXT NOT NULL,
  ec2_instance_id  TEXT,
  status           TEXT NOT NULL,
  status_reason    TEXT,
  version          INTEGER NOT NULL,
  cpu_units        INTEGER NOT NULL,
  memory_mib       INTEGER NOT NULL,
  emulated         INTEGER NOT NULL,
  registered_at    INTEGER,
  deregistered_at  INTEGER,
  details          TEXT NOT NULL
) STRICT;

CREATE TABLE task_records (
  sequence               INTEGER PRIMARY KEY,
  id                     TEXT NOT NULL,
  cluster                TEXT NOT NULL,
  definition             INTEGER NOT NULL
                         REFERENCES task_definition_records (sequence) DEFERRABLE INITIALLY DEFERRED,
  instance               TEXT,
  last_status            TEXT NOT NULL,
  desired_status         TEXT NOT NULL,
  stop_code              TEXT,
  stopped_reason         TEXT,
  version                INTEGER NOT NULL,
  launch_type            TEXT NOT NULL,
  task_group             TEXT,
  started_by             TEXT,
  created_at             INTEGER,
  connectivity_at        INTEGER,
  pull_started_at        INTEGER,
  pull_stopped_at        INTEGER,
  started_at             INTEGER,
  stopping_at            INTEGER,
  execution_stopped_at   INTEGER,
  stopped_at             INTEGER,
  overrides              TEXT,
  network_configuration  TEXT,
  details                TEXT NOT NULL
) STRICT;

-- The one index: without it, deleting a definition would read all tasks to see that none refers to it.
CREATE INDEX task_records_by_definition ON task_records (definition);

-- `sequence` is the store's own. A key of (cluster, token) would put each token, random as it is, on
-- a page of its own, and a commit would write a page for every token in it.
CREATE TABLE client_token_records (
  sequence     INTEGER PRIMARY KEY,
  cluster      TEXT NOT NULL,
  token        TEXT NOT NULL,
  fingerprint  TEXT NOT NULL,
  tasks        TEXT NOT NULL,
  created_at   INTEGER
) STRICT;

CREATE VIEW clusters AS
SELECT name,
       status,
       strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1e9, 'unixepoch') AS created_at,
       tags,
       document
FROM cluster_records;

CREATE VIEW families AS
SELECT name, last_revision
FROM family_records;

CREATE VIEW task_definitions AS
SELECT family || ':' || revision AS definition,
       status,
       strftime('%Y-%m-%dT%H:%M:%fZ', registered_at / 1e9, 'unixepoch') AS registered_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', deregistered_at / 1e9, 'unixepoch') AS deregistered_at,
       registered_by,
       tags,
       document
FROM task_definition_records;

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
       version
FROM container_instance_records;

CREATE VIEW gpus AS
SELECT gpu.value ->> '$.id' AS id,
       instance.cluster,
       instance.id AS instance,
       ifnull(gpu.value ->> '$.memory_mib', 0) AS memory_mib
FROM container_instance_records AS instance,
     json_each(instance.details, '$.gpus') AS gpu;

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
       task.version
FROM task_records AS task
LEFT JOIN task_definition_records AS definition ON definition.sequence = task.definition;

CREATE VIEW containers AS
SELECT task.id AS task,
       task.cluster,
       task.instance,
       task.last_status AS task_status,
       container.value ->> '$.name' AS name,
       ifnull(container.value ->> '$.last_status', 'PENDING') AS last_status,
       ifnull(container.value ->> '$.health_status', 'UNKNOWN') AS health_status,
       container.value ->> '$.exit_code' AS exit_code,
       container.value ->> '$.reason' AS reason,
       (SELECT group_concat(gpu.value)
        FROM json_each(container.value, '$.gpu_ids') AS gpu) AS gpu_ids,
       container.value ->> '$.runtime_id' AS runtime_id,
       container.value ->> '$.image_digest' AS image_digest
FROM task_records AS task,
     json_each(task.details, '$.containers') AS container;

CREATE VIEW client_tokens AS
SELECT cluster,
       token,
       tasks,
       strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1e9, 'unixepoch') AS created_at
FROM client_token_records;
)sql";

}  // namespace berth::storage::sqlite
