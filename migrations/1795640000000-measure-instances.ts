import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the capacity of instances, and their health checks (docs/contract/resources.md#instances). */
export class MeasureInstances1795640000000 implements MigrationInterface {
  name = 'MeasureInstances1795640000000';

  async up(runner: QueryRunner): Promise<void> {
    for (const column of [
      `"cpu_capacity" integer NOT NULL DEFAULT 0`,
      `"mem_capacity" integer NOT NULL DEFAULT 0`,
      `"capacity_adjustment" double precision NOT NULL DEFAULT 1`,
      `"container_engine" text NOT NULL DEFAULT ''`,
      `"health_check_started" timestamp with time zone`,
      `"last_health_check" timestamp with time zone`,
    ]) {
      await runner.query(`ALTER TABLE "instances" ADD ${column}`);
    }
    // Running workers of the previous version do not report their capacity.
    await runner.query(`
      UPDATE instances SET cpu_capacity = greatest(1, cpu * 4),
        mem_capacity = greatest(1, (memory / 1048576 - 2048) / 100)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const column of [
      'last_health_check',
      'health_check_started',
      'container_engine',
      'capacity_adjustment',
      'mem_capacity',
      'cpu_capacity',
    ]) {
      await runner.query(`ALTER TABLE "instances" DROP COLUMN "${column}"`);
    }
  }
}
