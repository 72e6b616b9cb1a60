import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Number of future run ids in the first range, and the minimum size of later ranges. */
const FIRST_AHEAD = 1000;

/** Returns the ranges of run ids with a separate partition. All other events are in the default partition. */
const RANGES = `
  CREATE FUNCTION job_event_ranges() RETURNS TABLE (part regclass, lower bigint, upper bigint)
  LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
    SELECT inhrelid::regclass, bounds[1]::bigint, bounds[2]::bigint
    FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
    CROSS JOIN regexp_match(pg_get_expr(relpartbound, inhrelid),
      'FROM \\(''?(\\d+)''?\\) TO \\(''?(\\d+)''?\\)') AS bounds
    WHERE inhparent = 'job_events'::regclass AND bounds IS NOT NULL
  $$`;

/**
 * Adds the next range when the last one is in use. Its size is the number of run ids of the last `days`.
 * It begins after every existing id, so that no event of it is stored yet. Lock timeouts are short, and the
 * lock order is that of writers of events.
 */
const EXTEND = `
  CREATE FUNCTION extend_job_events(days integer) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp SET lock_timeout = '500ms' AS $$
  DECLARE
    last_id bigint;
    last_range record;
    first_lately bigint;
    begins bigint;
    made text;
  BEGIN
    IF NOT pg_try_advisory_xact_lock(7402) THEN RETURN false; END IF;
    SELECT coalesce(max(id), 0) INTO last_id FROM unified_jobs;
    SELECT lower, upper INTO last_range FROM job_event_ranges() ORDER BY upper DESC LIMIT 1;
    IF last_range.lower > last_id THEN RETURN false; END IF;
    SELECT id INTO first_lately FROM unified_jobs
    WHERE created >= now() - make_interval(days => days) ORDER BY created LIMIT 1;
    begins := greatest(last_range.upper, last_id + 1);
    made := 'job_events_from_' || begins;
    LOCK TABLE job_events_rest IN ACCESS EXCLUSIVE MODE;
    LOCK TABLE unified_jobs, hosts IN SHARE ROW EXCLUSIVE MODE;
    EXECUTE format('CREATE TABLE %I (LIKE job_events INCLUDING DEFAULTS)', made);
    EXECUTE format('ALTER TABLE job_events ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)',
      made, begins, begins + greatest(${FIRST_AHEAD}, last_id - first_lately + 1));
    RETURN true;
  END $$`;

/**
 * Drops the partition of the first range whose runs all ended some days ago. The same transaction corrects
 * the event totals of the runs, before readers and writers have to wait.
 */
const DROP_OLD = `
  CREATE FUNCTION drop_old_job_events(days integer) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp AS $$
  DECLARE
    old record;
    removed bigint;
  BEGIN
    PERFORM pg_advisory_xact_lock(7403);
    SELECT * INTO old FROM job_event_ranges() candidate
    WHERE upper <= (SELECT max(id) FROM unified_jobs) AND NOT EXISTS (
      SELECT FROM unified_jobs run WHERE run.id >= candidate.lower AND run.id < candidate.upper
        AND (run.finished IS NULL OR run.finished >= now() - make_interval(days => days)))
    ORDER BY lower LIMIT 1;
    IF NOT FOUND THEN RETURN NULL; END IF;
    SELECT coalesce(sum(event_total), 0) INTO removed FROM unified_jobs
    WHERE id >= old.lower AND id < old.upper;
    UPDATE unified_jobs SET event_total = 0
    WHERE id >= old.lower AND id < old.upper AND event_total <> 0;
    SET LOCAL lock_timeout = '500ms';
    FOR attempt IN 1..60 LOOP
      BEGIN
        EXECUTE format('DROP TABLE %s', old.part);
        EXIT;
      EXCEPTION WHEN lock_not_available THEN
        IF attempt = 60 THEN RAISE; END IF;
        PERFORM pg_sleep(0.5);
      END;
    END LOOP;
    -- The lock blocks writers from here on. Fails if events were stored before.
    IF EXISTS (
      SELECT FROM unified_jobs
      WHERE id >= old.lower AND id < old.upper AND event_total <> 0) THEN
      RAISE 'Events were stored in % while it was dropped', old.part
        USING ERRCODE = 'serialization_failure';
    END IF;
    RETURN removed;
  END $$`;

/** Autovacuum analyzes the partitions, but not the partitioned table. */
const ANALYZE = `
  CREATE FUNCTION analyze_job_events() RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp SET lock_timeout = '500ms' AS $$
  BEGIN
    IF EXISTS (
      SELECT FROM pg_stat_all_tables
      WHERE relid = 'job_events'::regclass AND last_analyze > now() - interval '1 day')
      OR NOT pg_try_advisory_xact_lock(7402) THEN RETURN false; END IF;
    ANALYZE job_events;
    RETURN true;
  END $$`;

const FUNCTIONS = {
  'job_event_ranges()': RANGES,
  'extend_job_events(integer)': EXTEND,
  'drop_old_job_events(integer)': DROP_OLD,
  'analyze_job_events()': ANALYZE,
} as const;

const INDEXES = [
  `ALTER TABLE "job_events" ADD CONSTRAINT "job_events_pkey" PRIMARY KEY`,
  `CREATE UNIQUE INDEX "job_events_job_counter_key" ON "job_events" ("job_id", "counter")`,
  `CREATE INDEX "job_events_host_id_idx" ON "job_events" ("host_id")`,
] as const;

const REFERENCES = [
  ['job_id', 'unified_jobs', 'CASCADE'],
  ['host_id', 'hosts', 'SET NULL'],
] as const;

const TRIGGERS = {
  insert: 'AFTER INSERT ON job_events REFERENCING NEW TABLE AS changed',
  delete: 'AFTER DELETE ON job_events REFERENCING OLD TABLE AS changed',
} as const;

/**
 * Partitions events by ranges of run ids, which increase with time, and changes their ids to `bigint`
 * (docs/decisions/0118-event-partitions.md). The table becomes the first partition: PostgreSQL rewrites it
 * once, for the ids, and builds its indexes once.
 *
 * SECURITY DEFINER functions do what only the owner of the tables can do, because the service only has
 * privileges on rows.
 */
export class PartitionEvents1795540000000 implements MigrationInterface {
  name = 'PartitionEvents1795540000000';

  async up(runner: QueryRunner): Promise<void> {
    const next = await nextId(runner);
    const [{ end }] = (await runner.query(`
      SELECT coalesce(max(id), 0) + 1 + ${FIRST_AHEAD} AS end FROM unified_jobs`)) as [
      { end: number },
    ];
    for (const event of Object.keys(TRIGGERS)) {
      await runner.query(`DROP TRIGGER job_events_count_events_${event} ON job_events`);
    }
    await runner.query(`DROP INDEX "job_events_job_counter_key", "job_events_host_id_idx"`);
    await runner.query(`ALTER TABLE "job_events" RENAME TO "job_events_from_0"`);
    await runner.query(`ALTER TABLE "job_events_from_0" DROP CONSTRAINT "job_events_pkey",
      ALTER COLUMN "id" DROP IDENTITY, ALTER COLUMN "id" TYPE bigint,
      ALTER COLUMN "job_id" TYPE bigint,
      ADD CONSTRAINT "job_events_bounds" CHECK ("job_id" >= 0 AND "job_id" < ${end})`);
    await runner.query(`CREATE TABLE "job_events" (LIKE "job_events_from_0" INCLUDING DEFAULTS)
      PARTITION BY RANGE ("job_id")`);
    await complete(runner, '("id", "job_id")', next);
    await runner.query(`ALTER TABLE "job_events" ATTACH PARTITION "job_events_from_0"
      FOR VALUES FROM (0) TO (${end})`);
    await runner.query(`ALTER TABLE "job_events_from_0" DROP CONSTRAINT "job_events_bounds"`);
    await runner.query(`CREATE TABLE "job_events_rest" PARTITION OF "job_events" DEFAULT`);
    for (const [name, definition] of Object.entries(FUNCTIONS)) {
      await runner.query(definition);
      await runner.query(`REVOKE ALL ON FUNCTION ${name} FROM PUBLIC`);
    }
    await runner.query(`ANALYZE "job_events"`);
  }

  /** Fails if an id exceeds 2^31. */
  async down(runner: QueryRunner): Promise<void> {
    for (const name of Object.keys(FUNCTIONS).reverse()) {
      await runner.query(`DROP FUNCTION ${name}`);
    }
    const next = await nextId(runner);
    await runner.query(`ALTER TABLE "job_events" RENAME TO "job_events_parts"`);
    await runner.query(`CREATE TABLE "job_events" (LIKE "job_events_parts" INCLUDING DEFAULTS)`);
    await runner.query(`ALTER TABLE "job_events" ALTER COLUMN "id" TYPE integer,
      ALTER COLUMN "job_id" TYPE integer`);
    await runner.query(`INSERT INTO "job_events" SELECT * FROM "job_events_parts"`);
    await runner.query(`DROP TABLE "job_events_parts"`);
    await complete(runner, '("id")', next);
    await runner.query(`ANALYZE "job_events"`);
  }
}

/** Returns the id of the next event. */
async function nextId(runner: QueryRunner): Promise<number> {
  const [{ name }] = (await runner.query(
    `SELECT pg_get_serial_sequence('job_events', 'id') AS name`,
  )) as [{ name: string }];
  const [{ next }] = (await runner.query(
    `SELECT last_value + is_called::integer AS next FROM ${name}`,
  )) as [{ next: number }];
  return next;
}

/** Adds the identity, indexes, foreign keys and triggers of a table of events. */
async function complete(runner: QueryRunner, key: string, next: number): Promise<void> {
  await runner.query(`ALTER TABLE "job_events" ALTER COLUMN "id"
    ADD GENERATED BY DEFAULT AS IDENTITY (START WITH ${next})`);
  const [primary, ...others] = INDEXES;
  for (const statement of [`${primary} ${key}`, ...others]) await runner.query(statement);
  for (const [column, table, action] of REFERENCES) {
    await runner.query(`ALTER TABLE "job_events" ADD CONSTRAINT "job_events_${column}_fkey"
      FOREIGN KEY ("${column}") REFERENCES "${table}"("id") ON DELETE ${action} DEFERRABLE`);
  }
  for (const [event, when] of Object.entries(TRIGGERS)) {
    await runner.query(`CREATE TRIGGER job_events_count_events_${event} ${when}
      FOR EACH STATEMENT EXECUTE FUNCTION count_events_${event}()`);
  }
}
