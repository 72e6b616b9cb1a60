import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import type { Row } from '../common/resource/define-resource.js';
import { findResource } from '../common/resource/registry.js';
import { represent, type Representation } from '../common/resource/represent.js';
import { ResourceService } from '../common/resource/resource.service.js';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import { BaseUrl } from './base-url.js';
import type { MessageEvent } from './message/message-events.js';
import type {
  ApprovalFacts,
  HostCounters,
  RunFacts,
  RunKind,
  WorkflowNodeFacts,
} from './message/run-facts.js';

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
  async load(runId: number, event: MessageEvent): Promise<RunFacts | null> {
    const row = await this.database.row<Row>(sql`SELECT * FROM unified_jobs WHERE id = ${runId}`);
    if (!row) return null;
    if (event.event !== 'workflow_approval') return this.factsOf(row, event.event === 'started');
    const workflow = await this.database.row<Row>(sql`
      SELECT * FROM unified_jobs WHERE id = ${row.workflow_job_id}::int`);
    const facts = workflow && (await this.factsOf(workflow, false));
    return facts
      ? { ...facts, kind: 'workflow_approval', approval: approvalOf(row, event, facts) }
      : null;
  }

  private async factsOf(run: Row, isStart: boolean): Promise<RunFacts | null> {
    const definition = findResource(String(run.type));
    if (!definition) return null;
    // The list's form: the detail of a webhook's job carries the whole payload in its variables.
    const context = this.resources.representContext(SYSTEM, false);
    const [shown] = await represent(definition, [run], context);
    const representation = isStart ? asStarted(shown!) : shown!;
    return {
      kind: run.type as RunKind,
      representation,
      uiUrl: `${await this.baseUrl.get()}${String(shown!.url)}`,
      traceback: textOr(run.result_traceback),
      extraVars: textOr(shown!.extra_vars),
      credential: machineCredentialOf(shown!),
      hosts: run.type === 'job' ? await this.hostsOf(run.id, isStart) : null,
      ...(run.type === 'workflow_job' ? { nodes: await this.nodesOf(run.id, isStart) } : {}),
    };
  }

  private async nodesOf(runId: number, isStart: boolean): Promise<WorkflowNodeFacts[]> {
    if (isStart) return [];
    return this.database.rows<WorkflowNodeFacts & Row>(sql`
      SELECT node.id AS node, CASE WHEN run.id IS NOT NULL THEN
        json_build_object('id', run.id, 'name', run.name, 'status', run.status) END AS job
      FROM workflow_job_nodes node LEFT JOIN unified_jobs run ON run.id = node.job_id
      WHERE node.workflow_job_id = ${runId} ORDER BY node.id`);
  }

  private async hostsOf(runId: number, isStart: boolean): Promise<Record<string, HostCounters>> {
    if (isStart) return {};
    const rows = await this.database.rows<HostCounters & { host_name: string }>(sql`
      SELECT host_name, ok, changed, dark, failures, skipped, processed, rescued, ignored, failed
      FROM job_host_summaries WHERE job_id = ${runId} ORDER BY host_name`);
    return Object.fromEntries(rows.map(({ host_name, ...counters }) => [host_name, counters]));
  }
}

/** What an approval is called in messages, by the event that told of it. */
const APPROVAL_STATUS = {
  running: 'pending',
  approved: 'approved',
  denied: 'denied',
  timed_out: 'timed_out',
} as const;

function approvalOf(
  { id, name, started, finished }: Row,
  { approval }: Extract<MessageEvent, { event: 'workflow_approval' }>,
  { uiUrl }: RunFacts,
): ApprovalFacts {
  return {
    id,
    nodeName: String(name),
    status: APPROVAL_STATUS[approval],
    workflowUrl: uiUrl,
    started: started as string | null,
    finished: approval === 'running' ? null : (finished as string | null),
  };
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
