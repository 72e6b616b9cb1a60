import { Injectable } from '@nestjs/common';
import { VariablePrefixes, webhookVariables } from '../code-hosts/variables.js';
import { variablesText } from '../common/fields/json-text.js';
import { parseVariables } from '../common/fields/variables.js';
import { resource, type Row } from '../common/resource/define-resource.js';
import type { Extension, RepresentContext, ShownMembers } from '../common/resource/extension.js';
import { querySummaries } from '../common/resource/related-rows.js';
import { ref } from '../common/resource/resource-schema.js';
import { sql } from '../database/sql.js';
import { RunDeliveries, RunWorkflows, type RunDelivery } from './run-causes.js';
import { RunsRepository, type RunFacts } from './runs.repository.js';

/** Fields that the surrounding workflow adds to a run's representation. */
export const SOURCE_WORKFLOW_SHOWS = {
  related: ['source_workflow_job'],
  summary_fields: { source_workflow_job: ref('WorkflowJobSummary') },
} satisfies ShownMembers;

type SourceWorkflow = Required<Pick<Extension, 'related' | 'summary_fields'>>;

const NONE: SourceWorkflow = { related: {}, summary_fields: {} };

/** Loads the data that the representations of all kinds of runs contain besides their columns. */
@Injectable()
export class ShownRuns {
  constructor(
    private readonly runs: RunsRepository,
    private readonly workflows: RunWorkflows,
    private readonly deliveries: RunDeliveries,
    private readonly prefixes: VariablePrefixes,
  ) {}

  /**
   * Returns the facts of a page of runs, by run. The query is batched with concurrent queries.
   */
  async facts(
    rows: readonly Row[],
    { actor, batch }: RepresentContext,
  ): Promise<Map<number, RunFacts>> {
    const ids = rows.map(({ id }) => id);
    const facts = await batch.rows<RunFacts>(this.runs.facts(ids, actor));
    return new Map(facts.map((run) => [run.id, run]));
  }

  /**
   * Returns the workflow job of each run that is a workflow node. The query is batched with concurrent
   * queries.
   */
  async sourceWorkflows(
    rows: readonly Row[],
    context: RepresentContext,
  ): Promise<(run: RunFacts) => SourceWorkflow> {
    const nodeRunIds = rows
      .filter(({ launch_type: type }) => type === 'workflow')
      .map(({ id }) => id);
    if (nodeRunIds.length === 0) return () => NONE;
    const workflows = resource('workflow_job');
    const nodes = this.workflows.nodesOfRuns();
    const summaries = await querySummaries(
      workflows,
      sql`SELECT node.workflow_job_id FROM (${nodes}) node WHERE node.job_id = ANY(${nodeRunIds}::bigint[])`,
      context,
    );
    return ({ source_id: id }) => {
      if (id === null) return NONE;
      const summary = summaries.get(id);
      return {
        related: { source_workflow_job: workflows.url(id) },
        summary_fields: summary ? { source_workflow_job: summary } : {},
      };
    };
  }

  /**
   * Returns `extra_vars` of runs as JSON text, by run. Variables of a webhook come from its delivery.
   * A payload can have 25 MB and is repeated under every prefix, so lists leave out its variables.
   * Only the detail contains the payload, and only for users with permission to see it
   * (docs/contract/webhooks.md#variables).
   */
  async variables(rows: readonly Row[], context: RepresentContext): Promise<Map<number, string>> {
    const deliveries = await this.deliveriesOf(rows, context);
    return new Map(
      rows.map((row) => {
        const variables = parseVariables(String(row.extra_vars ?? ''));
        const delivery = deliveries.get(row.id);
        const all = delivery
          ? { ...variables, ...variablesOf(delivery, this.prefixes.all) }
          : variables;
        return [row.id, variablesText(all)];
      }),
    );
  }

  private async deliveriesOf(
    rows: readonly Row[],
    { detail, actor }: RepresentContext,
  ): Promise<Map<number, RunDelivery>> {
    const candidates = rows.filter(mayHaveDelivery);
    if (candidates.length === 0) return new Map();
    const found = await this.deliveries.ofRuns(
      candidates.map(({ id }) => id),
      detail ? actor : null,
    );
    return new Map(found.map((row) => [row.run_id, row]));
  }
}

function variablesOf(delivery: RunDelivery, prefixes: readonly string[]): Record<string, unknown> {
  const { may_see: isVisible, payload, ...event } = delivery;
  return webhookVariables(isVisible ? { ...event, payload } : event, prefixes);
}

/**
 * Returns true if the run can have a delivery: a webhook launched it, or a workflow that a webhook
 * can have launched.
 */
const mayHaveDelivery = ({ webhook_guid: guid, launch_type: type }: Row): boolean =>
  type === 'workflow' || (guid !== '' && guid !== null);
