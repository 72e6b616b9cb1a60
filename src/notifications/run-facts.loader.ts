import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import type { Row } from '../common/resource/define-resource.js';
import { findResource } from '../common/resource/registry.js';
import { represent, type Representation } from '../common/resource/represent.js';
import { ResourceService } from '../common/resource/resource.service.js';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import { BaseUrl } from './base-url.js';
import type { RunEvent } from './message/message-events.js';
import type { HostCounters, RunFacts, RunKind, WorkflowNodeFacts } from './message/run-facts.js';

/** Messages are made on nobody's behalf; the allow-list decides what they may say. */
const SYSTEM: Actor = { id: 0, username: '', isSuperuser: true, isSystemAuditor: false };
const MACHINE_KIND = 'ssh';

/** Gathers what a message says about a run, when the message is made. */
@Injectable()
export class RunFactsLoader {
  constructor(
    private readonly database: Database,
    private readonly resources: ResourceService,
    private readonly baseUrl: BaseUrl,
  ) {}

  /** Null when the run is gone. */
  async load(runId: number, event: RunEvent): Promise<RunFacts | null> {
    const run = await this.database.row<Row>(sql`SELECT * FROM unified_jobs WHERE id = ${runId}`);
    const definition = run && findResource(String(run.type));
    if (!definition) return null;
    // The list's form: the detail of a webhook's job carries the whole payload in its variables.
    const context = this.resources.representContext(SYSTEM, false);
    const [shown] = await represent(definition, [run], context);
    const representation = event === 'started' ? asStarted(shown!) : shown!;
    return {
      kind: run.type as RunKind,
      representation,
      uiUrl: `${await this.baseUrl.get()}${String(shown!.url)}`,
      traceback: textOr(run.result_traceback),
      extraVars: textOr(shown!.extra_vars),
      credential: machineCredentialOf(shown!),
      hosts: run.type === 'job' ? await this.hostsOf(runId, event) : null,
      ...(run.type === 'workflow_job' ? { nodes: await this.nodesOf(runId) } : {}),
    };
  }

  private async nodesOf(runId: number): Promise<WorkflowNodeFacts[]> {
    const rows = await this.database.rows<{
      node: number;
      id: number | null;
      name: string;
      status: string;
    }>(sql`
      SELECT node.id AS node, run.id, run.name, run.status
      FROM workflow_job_nodes node LEFT JOIN unified_jobs run ON run.id = node.job_id
      WHERE node.workflow_job_id = ${runId} ORDER BY node.id`);
    return rows.map(({ node, id, name, status }) => ({
      node,
      job: id === null ? null : { id, name, status },
    }));
  }

  private async hostsOf(runId: number, event: RunEvent): Promise<Record<string, HostCounters>> {
    if (event === 'started') return {};
    const rows = await this.database.rows<HostCounters & { host_name: string }>(sql`
      SELECT host_name, ok, changed, dark, failures, skipped, processed, rescued, ignored, failed
      FROM job_host_summaries WHERE job_id = ${runId} ORDER BY host_name`);
    return Object.fromEntries(rows.map(({ host_name, ...counters }) => [host_name, counters]));
  }
}

/** A fast run may be over by the time its start is told; the message still tells of the start. */
function asStarted(shown: Representation): Representation {
  const start = { status: 'running', failed: false, finished: null, elapsed: 0 };
  return { ...shown, ...start, job_explanation: '' };
}

const textOr = (value: unknown): string => (typeof value === 'string' ? value : '');

function machineCredentialOf({ summary_fields }: Representation): string | null {
  const { credentials } = summary_fields as { credentials?: { kind?: string; name?: string }[] };
  return credentials?.find(({ kind }) => kind === MACHINE_KIND)?.name ?? null;
}
