import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import type { TestApp } from './boot.js';

export type BulkLaunches = Awaited<ReturnType<typeof bulkLaunches>>;

/** Creates two templates that a member of the organization may launch, and returns requests of bulk launches. */
export async function bulkLaunches({ make, home, as, database }: TestApp) {
  const organization = home.organization.id;
  const project = (await make.project({ organization })).id;
  const inventory = (await make.inventory({ organization })).id;
  const template = await make.jobTemplate({
    project,
    inventory,
    allow_simultaneous: true,
    ask_limit_on_launch: true,
    ask_variables_on_launch: true,
    ask_inventory_on_launch: true,
    ask_credential_on_launch: true,
  });
  /** Template without prompts at launch. */
  const closed = await make.jobTemplate({ project, inventory, allow_simultaneous: true });
  for (const launched of [template, closed]) {
    await make.grant('job_template', launched, 'execute_role', { user: as.users.orgMember });
  }
  return {
    template,
    closed,
    launch: (jobs: unknown, extra: object = {}, query = '') =>
      as.orgMember.post(`bulk/job_launch/${query}`, { name: 'Bulk', jobs, ...extra }),
    node: (fields: object = {}, of: Row = template) => ({ unified_job_template: of.id, ...fields }),
    nodesOf: async (workflow: { workflow_nodes: string }) => {
      const { body } = await as.superuser.get(workflow.workflow_nodes).expect(200);
      return body.results as Record<string, unknown>[];
    },
    runs: async (): Promise<number> =>
      (await database.row<{ n: number }>(sql`SELECT count(*)::int AS n FROM unified_jobs`))!.n,
  };
}
