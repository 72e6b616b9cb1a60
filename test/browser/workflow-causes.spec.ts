/**
 * The page of a workflow job explains its failure: the failed node, the path to it, and the message of its
 * run.
 */
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { describePages } from './browser.js';

let test: TestApp;
let workflowJob: Row;
let failed: Row;

/** Text that would be dangerous if a page read it as HTML. */
const MESSAGE = 'No room left <img src=x onerror=alert(1)>';

const run = async (template: Row, status: string, explanation: string): Promise<Row> =>
  (await test.database.row<Row>(sql`
    INSERT INTO unified_jobs (type, name, status, failed, unified_job_template_id, job_template_id,
      organization_id, launch_type, job_explanation, started, finished)
    VALUES ('job', ${template.name}, ${status}, ${status === 'failed'}, ${template.id},
      ${template.id}, ${test.home.organization.id}, 'workflow', ${explanation}, now(), now())
    RETURNING *`))!;

async function node(template: Row, job: Row | null, outcome: string): Promise<number> {
  const made = await test.database.row<Row>(sql`
    INSERT INTO workflow_job_nodes (workflow_job_id, unified_job_template_id, identifier, job_id,
      outcome) VALUES (${workflowJob.id}, ${template.id}, ${template.name}, ${job?.id ?? null},
      ${outcome}) RETURNING id`);
  return made!.id;
}

const edge = (from: number, to: number, kind: string): Promise<number> =>
  test.database.execute(sql`
    INSERT INTO workflow_job_node_edges (parent_id, child_id, kind)
    VALUES (${from}, ${to}, ${kind})`);

beforeAll(async () => {
  test = await boot();
  const workflow = await test.make.row('workflow_job_template', {
    name: 'Release',
    organization: test.home.organization.id,
  });
  workflowJob = (await test.database.row<Row>(sql`
    INSERT INTO unified_jobs (type, name, status, failed, unified_job_template_id, organization_id,
      started, finished, event_processing_finished)
    VALUES ('workflow_job', 'Release', 'failed', true, ${workflow.id},
      ${test.home.organization.id}, now(), now(), true) RETURNING *`))!;
  const [build, north, report] = await Promise.all(
    ['Build', 'Roll out north', 'Report'].map((name) => test.make.jobTemplate({ name })),
  );
  const built = await node(build!, await run(build!, 'successful', ''), 'successful');
  failed = await run(north!, 'failed', 'It ended badly.');
  const rolled = await node(north!, failed, 'failed');
  const reported = await node(report!, null, 'skipped');
  await edge(built, rolled, 'success');
  await edge(rolled, reported, 'success');
  await test.database.execute(sql`
    INSERT INTO job_events (job_id, counter, event, event_data, failed, host_name, play, task,
      stdout, start_line, end_line)
    VALUES (${failed.id}, 1, 'runner_on_failed', ${JSON.stringify({ res: { msg: MESSAGE } })}, true,
      'north-1', 'Shop', 'Unpack', 'fatal: [north-1]', 0, 1)`);
});
afterAll(() => test.close());

describePages(
  'the page of a failed workflow job',
  () => ({ test, user: test.as.users.superuser }),
  (open) => {
    it('names the failed node, the path to it, and the cause of its run', async () => {
      const { page } = open;
      await page.goto(`/api/v2/workflow_jobs/${workflowJob.id}/`);
      const cause = page.locator('.cause');
      await cause.getByRole('heading', { name: 'The workflow failed at Roll out north' }).waitFor();
      expect(await cause.textContent()).toMatch(
        /Build\s+Successful, on success\s+→\s+Roll out north/,
      );
      await cause.getByText('It ended badly.').waitFor();
      await cause.getByText(MESSAGE).waitFor();
      expect(await cause.getByText('Report').count()).toBe(0);
      await cause.getByRole('link', { name: 'Line 1' }).click();
      expect(new URL(page.url()).pathname).toBe(`/api/v2/jobs/${failed.id}/`);
    });
  },
);
