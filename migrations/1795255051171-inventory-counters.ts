import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds counters of inventories. Statement triggers keep them exact for every kind of write, so that no page
 * counts a million rows. The triggers lock rows in the order of ids, so that statements over several
 * inventories cannot deadlock.
 */
export class InventoryCounters1795255051171 implements MigrationInterface {
  name = 'InventoryCounters1795255051171';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE FUNCTION host_failure() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        NEW.has_active_failures := COALESCE(
          (SELECT failed FROM job_host_summaries WHERE id = NEW.last_job_host_summary_id), false);
        RETURN NEW;
      END $$`);
    await runner.query(`CREATE TRIGGER hosts_failure
      BEFORE UPDATE OF last_job_host_summary_id ON hosts
      FOR EACH ROW EXECUTE FUNCTION host_failure()`);

    await runner.query(`
      CREATE FUNCTION add_to_inventory(ids integer[], hosts integer[], failures integer[],
        groups integer[]) RETURNS void LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM 1 FROM inventories WHERE id = ANY(ids) ORDER BY id FOR NO KEY UPDATE;
        UPDATE inventories inv SET
          total_hosts = inv.total_hosts + one.hosts,
          hosts_with_active_failures = inv.hosts_with_active_failures + one.failures,
          has_active_failures = inv.hosts_with_active_failures + one.failures > 0,
          total_groups = inv.total_groups + one.groups
        FROM unnest(ids, hosts, failures, groups) AS one (id, hosts, failures, groups)
        WHERE inv.id = one.id AND (one.hosts, one.failures, one.groups) <> (0, 0, 0);
      END $$`);
    await runner.query(`
      CREATE FUNCTION count_hosts() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE
        sign integer := CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END;
      BEGIN
        PERFORM add_to_inventory(array_agg(inventory_id), array_agg(sign * total),
          array_agg(sign * failed), array_agg(0))
        FROM (SELECT inventory_id, count(*)::integer AS total,
                (count(*) FILTER (WHERE has_active_failures))::integer AS failed
              FROM touched GROUP BY inventory_id) AS sums
        HAVING count(*) > 0;
        RETURN NULL;
      END $$`);
    await runner.query(`
      CREATE FUNCTION recount_failures() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM add_to_inventory(array_agg(inventory_id), array_agg(0), array_agg(difference),
          array_agg(0))
        FROM (SELECT now_row.inventory_id,
                sum(now_row.has_active_failures::integer - was_row.has_active_failures::integer)
                  ::integer AS difference
              FROM after_change now_row JOIN before_change was_row ON was_row.id = now_row.id
              WHERE now_row.has_active_failures <> was_row.has_active_failures
              GROUP BY now_row.inventory_id) AS sums
        HAVING count(*) > 0;
        RETURN NULL;
      END $$`);
    await runner.query(`
      CREATE FUNCTION count_groups() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE
        sign integer := CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END;
      BEGIN
        PERFORM add_to_inventory(array_agg(inventory_id), array_agg(0), array_agg(0),
          array_agg(sign * total))
        FROM (SELECT inventory_id, count(*)::integer AS total FROM touched
              GROUP BY inventory_id) AS sums
        HAVING count(*) > 0;
        RETURN NULL;
      END $$`);
    for (const table of ['hosts', 'groups']) {
      await runner.query(`CREATE TRIGGER ${table}_count_added AFTER INSERT ON ${table}
        REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION count_${table}()`);
      await runner.query(`CREATE TRIGGER ${table}_count_removed AFTER DELETE ON ${table}
        REFERENCING OLD TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION count_${table}()`);
    }
    await runner.query(`CREATE TRIGGER hosts_recount_failures AFTER UPDATE ON hosts
      REFERENCING OLD TABLE AS before_change NEW TABLE AS after_change
      FOR EACH STATEMENT EXECUTE FUNCTION recount_failures()`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['hosts', 'groups']) {
      await runner.query(`DROP TRIGGER ${table}_count_added ON ${table}`);
      await runner.query(`DROP TRIGGER ${table}_count_removed ON ${table}`);
    }
    await runner.query(`DROP TRIGGER hosts_recount_failures ON hosts`);
    await runner.query(`DROP TRIGGER hosts_failure ON hosts`);
    await runner.query(`DROP FUNCTION count_groups`);
    await runner.query(`DROP FUNCTION recount_failures`);
    await runner.query(`DROP FUNCTION count_hosts`);
    await runner.query(`DROP FUNCTION add_to_inventory`);
    await runner.query(`DROP FUNCTION host_failure`);
  }
}
