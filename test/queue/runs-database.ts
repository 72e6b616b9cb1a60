/**
 * Database with the tables of the scheduler and the run transitions, and these two built on it without the
 * rest of the application. Their signals to other parts are collected in `signals`.
 */
import type { DataSource } from 'typeorm';

import { ActivityRecorder, type ActivityEntry } from '../../src/common/activity/activity.js';
import { Outbox } from '../../src/common/queue/outbox.service.js';
import { OutboxRepository } from '../../src/common/queue/outbox.repository.js';
import { QueuePort } from '../../src/common/queue/queue.port.js';
import { Database } from '../../src/database/database.js';
import { sql } from '../../src/database/sql.js';
import { GroupMembers } from '../../src/instances/group-members.service.js';
import { InstanceGroup } from '../../src/instances/instance-group.entity.js';
import { InstanceGroupsRepository } from '../../src/instances/instance-groups.repository.js';
import { InventoryInputsRepository } from '../../src/inventories/inventory-inputs.repository.js';
import { InventorySourcesRepository } from '../../src/inventory-sources/inventory-sources.repository.js';
import { InventoryUpdateLauncher } from '../../src/inventory-sources/inventory-update-launcher.service.js';
import { InventoryUpdatesRepository } from '../../src/inventory-sources/inventory-updates.repository.js';
import { ProjectUpdateLauncher } from '../../src/projects/project-update-launcher.service.js';
import { ProjectUpdatesRepository } from '../../src/projects/project-updates.repository.js';
import type { RunChange, RunChanges } from '../../src/runs/run-changes.service.js';
import { RunQueueRepository } from '../../src/runs/run-queue.repository.js';
import type { RunSignals } from '../../src/runs/run-signals.service.js';
import { Dependencies } from '../../src/execution/scheduler/dependencies.service.js';
import { Placement } from '../../src/execution/scheduler/placement.service.js';
import { Scheduler } from '../../src/execution/scheduler/scheduler.js';
import type { WorkflowEngine } from '../../src/execution/workflow-engine/workflow-engine.js';
import { RunStatesRepository } from '../../src/runs/run-states.repository.js';
import { RunTransitions } from '../../src/runs/run-transitions.service.js';
import type { Subscriber } from '../../src/execution/worker/subscriber.service.js';
import type { DueSchedules } from '../../src/schedules/due-schedules.service.js';
import { TemplatesRepository } from '../../src/templates/templates.repository.js';
import { createTestDatabase, openDataSource, type TestDatabase } from '../support/test-database.js';
import { InventoryInput } from '../../src/inventories/inventory.entity.js';
import { OutboxEntry } from '../../src/common/queue/outbox-entry.entity.js';
import { UnifiedTemplate } from '../../src/templates/unified-template.entity.js';
import { UnifiedJob } from '../../src/runs/unified-job.entity.js';

/** Columns of a run by name. Missing columns have the values of a launch. */
export type RunFields = Record<string, unknown>;

class SilentQueue extends QueuePort {
  wakes = 0;
  async add(): Promise<void> {}
  wakeScheduler(): void {
    this.wakes += 1;
  }
}

export class RunsDatabase {
  readonly signals: { changes: RunChange[]; cancels: number[]; entries: ActivityEntry[] } = {
    ...{ changes: [], cancels: [], entries: [] },
  };
  readonly queue = new SilentQueue();
  readonly database: Database;
  readonly transitions: RunTransitions;
  readonly scheduler: Scheduler;
  readonly placement: Placement;
  readonly sources: InventorySourcesRepository;

  private constructor(
    private readonly copy: TestDatabase,
    private readonly source: DataSource,
  ) {
    this.database = new Database(source);
    const changes = {
      publish: async (more: RunChange[]) => void this.signals.changes.push(...more),
    } as unknown as RunChanges;
    const signals = {
      announce: () => undefined,
      requestCancel: (ids: number[]) => void this.signals.cancels.push(...ids),
    } as unknown as RunSignals;
    this.transitions = new RunTransitions(
      this.database,
      new RunStatesRepository(this.database.manager.getRepository(UnifiedJob)),
      new TemplatesRepository(this.database.manager.getRepository(UnifiedTemplate)),
      changes,
      signals,
      this.queue,
    );
    const outbox = new Outbox(
      this.database,
      new OutboxRepository(this.database.manager.getRepository(OutboxEntry)),
      this.queue,
    );
    const queue = new RunQueueRepository(this.database.manager.getRepository(UnifiedJob));
    const groups = new InstanceGroupsRepository(this.database.manager.getRepository(InstanceGroup));
    this.placement = new Placement(
      queue,
      groups,
      new GroupMembers(this.database, groups, this.queue),
      this.transitions,
      outbox,
    );
    this.sources = new InventorySourcesRepository(
      this.database.manager.getRepository(UnifiedTemplate),
    );
    const { entries } = this.signals;
    const activity = new (class extends ActivityRecorder {
      record(entry: ActivityEntry): void {
        entries.push(entry);
      }
    })();
    const shared = [this.database, this.transitions, activity] as const;
    const dependencies = new Dependencies(
      queue,
      new ProjectUpdateLauncher(
        ...shared,
        new ProjectUpdatesRepository(this.database.manager.getRepository(UnifiedJob)),
      ),
      new InventoryInputsRepository(this.database.manager.getRepository(InventoryInput)),
      this.sources,
      new InventoryUpdateLauncher(
        ...shared,
        this.sources,
        new InventoryUpdatesRepository(this.database.manager.getRepository(UnifiedJob)),
      ),
      this.transitions,
    );
    const subscriber = { listen: () => undefined } as unknown as Subscriber;
    const workflows = {
      advance: async () => false,
      explain: async () => undefined,
    } as unknown as WorkflowEngine;
    const schedules = { launchDue: async () => false } as unknown as DueSchedules;
    this.scheduler = new Scheduler(
      this.database,
      dependencies,
      this.placement,
      subscriber,
      workflows,
      schedules,
    );
  }

  static async open(): Promise<RunsDatabase> {
    const copy = await createTestDatabase();
    return new RunsDatabase(copy, await openDataSource(copy.url));
  }

  get url(): string {
    return this.copy.url;
  }

  async close(): Promise<void> {
    await this.source.destroy();
    await this.copy.drop();
  }

  /** Resets the tables to a single worker with the given capacity for runs. */
  async reset(capacity = 100): Promise<void> {
    await this.database.execute(sql`DELETE FROM unified_jobs`);
    await this.database.execute(sql`DELETE FROM unified_job_templates`);
    await this.database.execute(sql`DELETE FROM outbox`);
    await this.database.execute(sql`DELETE FROM worker_nodes`);
    await this.database.execute(sql`
      INSERT INTO instances (hostname, cpu_capacity, mem_capacity) VALUES ('one', 100000, 100000)
      ON CONFLICT DO NOTHING`);
    await this.addWorker(capacity);
    this.signals.changes.length = 0;
    this.signals.cancels.length = 0;
    this.signals.entries.length = 0;
  }

  async addWorker(capacity: number, secondsAgo = 0): Promise<void> {
    await this.database.execute(sql`
      INSERT INTO worker_nodes (name, hostname, host_key, pid, start_time, capacity, last_seen)
      VALUES (gen_random_uuid()::text, 'one', 'key', 1, '1', ${capacity},
        now() - make_interval(secs => ${secondsAgo}))`);
  }

  async project(fields: RunFields = {}): Promise<number> {
    return this.insert('unified_job_templates', {
      type: 'project',
      name: `Project ${Math.random()}`,
      scm_type: 'git',
      scm_url: 'https://example.com/repository.git',
      scm_revision: 'a'.repeat(40),
      ...fields,
    });
  }

  async template(fields: RunFields = {}): Promise<number> {
    const name = `Template ${Math.random()}`;
    return this.insert('unified_job_templates', { type: 'job_template', name, ...fields });
  }

  async job(template: number | null, fields: RunFields = {}): Promise<number> {
    return this.insert('unified_jobs', {
      type: 'job',
      name: 'job',
      status: 'pending',
      unified_job_template_id: template,
      ...fields,
    });
  }

  async update(project: number, fields: RunFields = {}): Promise<number> {
    return this.insert('unified_jobs', {
      type: 'project_update',
      name: 'sync',
      status: 'pending',
      unified_job_template_id: project,
      project_id: project,
      ...fields,
    });
  }

  async inventory(fields: RunFields = {}): Promise<number> {
    const organization = await this.insert('organizations', { name: `Org ${Math.random()}` });
    return this.insert('inventories', {
      ...{ name: 'inventory', organization_id: organization },
      ...fields,
    });
  }

  async inventorySource(inventory: number, fields: RunFields = {}): Promise<number> {
    return this.insert('unified_job_templates', {
      ...{ type: 'inventory_source', name: `Source ${Math.random()}`, source: 'ec2' },
      ...{ inventory_id: inventory, update_cache_timeout: 0, update_on_launch: true },
      ...fields,
    });
  }

  async input(inventory: number, input: number): Promise<void> {
    await this.insert('inventory_inputs', { inventory_id: inventory, input_id: input });
  }

  async inventoryUpdate(source: number, fields: RunFields = {}): Promise<number> {
    const { inventory_id, source: kind } = await this.row('unified_job_templates', source);
    return this.insert('unified_jobs', {
      ...{ type: 'inventory_update', name: 'update', status: 'pending', source: kind },
      ...{ unified_job_template_id: source, inventory_source_id: source, inventory_id },
      ...fields,
    });
  }

  async command(inventory: number, fields: RunFields = {}): Promise<number> {
    return this.insert('unified_jobs', {
      type: 'ad_hoc_command',
      name: 'command: true',
      status: 'pending',
      inventory_id: inventory,
      ...fields,
    });
  }

  async run(id: number): Promise<Record<string, unknown>> {
    const row = await this.database.row(sql`SELECT * FROM unified_jobs WHERE id = ${id}`);
    if (!row) throw new Error(`No run ${id}`);
    return row;
  }

  async row(table: 'unified_job_templates', id: number): Promise<Record<string, unknown>> {
    const text = `SELECT * FROM ${table} WHERE id = $1`;
    return (await this.database.row({ text, values: [id] })) ?? {};
  }

  /** Returns the ids of the runs with a status, in order. */
  async withStatus(status: string): Promise<number[]> {
    const rows = await this.database.rows<{ id: number }>(
      sql`SELECT id FROM unified_jobs WHERE status = ${status} ORDER BY id`,
    );
    return rows.map(({ id }) => id);
  }

  async set(ids: readonly number[], status: string): Promise<void> {
    await this.database.execute(sql`
      UPDATE unified_jobs SET status = ${status},
        finished = CASE WHEN ${status} IN ('successful', 'failed', 'canceled') THEN now() END
      WHERE id = ANY(${ids}::bigint[])`);
  }

  private async insert(table: string, fields: RunFields): Promise<number> {
    const names = Object.keys(fields);
    const places = names.map((_, index) => `$${index + 1}`);
    const row = await this.database.row<{ id: number }>({
      text: `INSERT INTO ${table} (${names.join(', ')}) VALUES (${places.join(', ')}) RETURNING id`,
      values: Object.values(fields),
    });
    return row!.id;
  }
}
