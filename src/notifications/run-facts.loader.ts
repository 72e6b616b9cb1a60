import { Injectable } from '@nestjs/common';
import { SYSTEM_ACTOR } from '../common/access.js';
import { Batch } from '../common/batch.js';
import { append, listOf, memberOf } from '../common/records.js';
import { findResource, type Row } from '../common/resource/define-resource.js';
import { represent, type Representation } from '../common/resource/representation.js';
import { RepresentContexts } from '../common/resource/represent-contexts.service.js';
import { RunOverviewsRepository } from '../runs/run-overviews.repository.js';
import { BaseUrl } from '../settings/base-url.service.js';
import { isRunKind } from './message/context.js';
import { APPROVAL_STATUS, type MessageEvent } from './message/message-events.js';
import {
  asStarted,
  type ApprovalFacts,
  type HostCounters,
  type MessageFacts,
  type WorkflowNodeFacts,
} from './message/run-facts.js';
import { WorkflowNodes } from './workflow-nodes.js';
import { entryOf, zip } from '../common/invariants.js';

const MACHINE_KIND = 'ssh';

/** Loads the data of a run when a message is rendered. */
@Injectable()
export class RunFactsLoader {
  private readonly batch = new Batch((requests: readonly LoadRequest[]) => this.loadAll(requests));

  constructor(
    private readonly overviews: RunOverviewsRepository,
    private readonly workflows: WorkflowNodes,
    private readonly contexts: RepresentContexts,
    private readonly baseUrl: BaseUrl,
  ) {}

  /** Returns null if the run was deleted. Simultaneous calls are combined. */
  load(runId: number, event: MessageEvent): Promise<MessageFacts | null> {
    return this.batch.run({ runId, event });
  }

  private async loadAll(requests: readonly LoadRequest[]): Promise<(MessageFacts | null)[]> {
    const runsById = await this.runs(requests.map(({ runId }) => runId));
    const workflowsById = await this.runs(
      requests.flatMap(({ runId, event }) => {
        const id = isApproval(event) ? runsById.get(runId)?.workflow_job_id : null;
        return typeof id === 'number' ? [id] : [];
      }),
    );
    const subjects = requests.map(({ runId, event }) => {
      const run = runsById.get(runId);
      return isApproval(event) ? workflowsById.get(Number(run?.workflow_job_id)) : run;
    });
    const facts = await this.factsOf(subjects.filter((run) => run !== undefined));
    return requests.map(({ runId, event }, index) => {
      const found = facts.get(subjects[index]?.id ?? 0);
      if (!found) return null;
      if (event.event !== 'workflow_approval') {
        return event.event === 'started' ? asStarted(found) : found;
      }
      const approval = approvalOf(entryOf(runsById, runId), event, found);
      return { ...found, approval };
    });
  }

  private async runs(ids: readonly number[]): Promise<Map<number, Row>> {
    if (ids.length === 0) return new Map();
    const rows = await this.overviews.complete([...new Set(ids)]);
    return new Map(rows.map((row) => [row.id, row]));
  }

  /** Returns the facts of each run; the runs of one kind are loaded together. */
  private async factsOf(runs: readonly Row[]): Promise<Map<number, MessageFacts>> {
    const byType = new Map<string, Row[]>();
    const distinct = new Map(runs.map((run) => [run.id, run]));
    for (const run of distinct.values()) append(byType, String(run.type), run);
    const facts: [number, MessageFacts][] = [];
    for (const [type, rows] of byType) facts.push(...(await this.factsOfKind(type, rows)));
    return new Map(facts);
  }

  private async factsOfKind(type: string, runs: readonly Row[]): Promise<[number, MessageFacts][]> {
    const definition = findResource(type);
    if (!definition || !isRunKind(type)) return [];
    // Uses the representation of lists: the detail of a webhook's job contains the whole payload in
    // its variables.
    // Messages are not rendered for a user; the allow-list determines their content.
    const context = this.contexts.of(SYSTEM_ACTOR, false);
    const ids = runs.map(({ id }) => id);
    const [representations, hosts, nodes, baseUrl] = await Promise.all([
      represent(definition, runs, context),
      type === 'job' ? this.hostsOf(ids) : null,
      type === 'workflow_job' ? this.nodesOf(ids) : null,
      this.baseUrl.get(),
    ]);
    return zip(runs, representations).map(([run, representation]) => {
      const facts = {
        kind: type,
        representation,
        uiUrl: `${baseUrl}${String(representation.url)}`,
        traceback: textOrEmpty(run.result_traceback),
        extraVars: textOrEmpty(representation.extra_vars),
        credential: machineCredentialOf(representation),
        hosts: hosts?.get(run.id) ?? null,
        ...(nodes ? { nodes: entryOf(nodes, run.id) } : {}),
      };
      return [run.id, facts];
    });
  }

  private async nodesOf(runIds: readonly number[]): Promise<Map<number, WorkflowNodeFacts[]>> {
    const rows = await this.workflows.nodesOf(runIds);
    const nodes = new Map<number, WorkflowNodeFacts[]>(runIds.map((id) => [id, []]));
    for (const { run, ...node } of rows) entryOf(nodes, run).push(node);
    return nodes;
  }

  private async hostsOf(
    runIds: readonly number[],
  ): Promise<Map<number, Record<string, HostCounters>>> {
    const rows = await this.overviews.hostOutcomes(runIds);
    const hosts = new Map<number, [string, HostCounters][]>(runIds.map((id) => [id, []]));
    for (const { job_id: job, host_name: name, ...counters } of rows) {
      entryOf(hosts, job).push([name, counters]);
    }
    return new Map([...hosts].map(([id, counters]) => [id, Object.fromEntries(counters)]));
  }
}

interface LoadRequest {
  runId: number;
  event: MessageEvent;
}

const isApproval = ({ event }: MessageEvent): boolean => event === 'workflow_approval';

function approvalOf(
  { id, name, started, finished }: Row,
  { approval }: Extract<MessageEvent, { event: 'workflow_approval' }>,
  { uiUrl }: MessageFacts,
): ApprovalFacts {
  return {
    id,
    nodeName: String(name),
    status: APPROVAL_STATUS[approval],
    workflowUrl: uiUrl,
    started: textOrNull(started),
    finished: approval === 'running' ? null : textOrNull(finished),
  };
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const textOrEmpty = (value: unknown): string => (typeof value === 'string' ? value : '');

function machineCredentialOf({ summary_fields }: Representation): string | null {
  const credential = listOf(summary_fields.credentials).find(
    (credential) => memberOf(credential, 'kind') === MACHINE_KIND,
  );
  return textOrNull(memberOf(credential, 'name'));
}
