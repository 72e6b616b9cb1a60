/**
 * Every field of a job template has an effect: its value here changes the playbook's arguments, the job or
 * its launch, or a named test shows the effect.
 */
import { readFileSync } from 'node:fs';

import { fieldsOf } from '../../src/common/fields/field.js';
import { isWritable } from '../../src/common/fields/reads.decorator.js';
import type { Row } from '../../src/common/resource/define-resource.js';
import { playbookArguments } from '../../src/execution/runner/playbook-run.js';
import { jobOptions } from '../../src/execution/worker/playbook-job.service.js';
import { JobTemplate } from '../../src/job-templates/job-template.entity.js';
import { JobContextsRepository } from '../../src/runs/job-contexts.repository.js';
import { boot, type TestApp } from '../support/boot.js';

/** Values of a template, with the argument of `ansible-playbook` that each adds. */
const ARGUMENTS: Record<string, [value: unknown, argument: string]> = {
  become_enabled: [true, '--become'],
  diff_mode: [true, '--diff'],
  force_handlers: [true, '--force-handlers'],
  forks: [7, '--forks=7'],
  job_tags: ['deploy', 'deploy'],
  job_type: ['check', '--check'],
  limit: ['web', 'web'],
  skip_tags: ['slow', '--skip-tags=slow'],
  start_at_task: ['copy', '--start-at-task=copy'],
  verbosity: [3, '-vvv'],
};

/** Values of a template that its job receives, as the worker loads or the scheduler reads them. */
const GIVEN: Record<string, unknown> = {
  allow_simultaneous: true,
  playbook: 'other.yml',
  scm_branch: 'stable',
  timeout: 60,
  use_fact_cache: true,
};

const PROMPTS = 'test/api/launch-prompts.e2e-spec.ts';

/** Tests that show the effect of a field which needs more than a launch. */
const SHOWN: Record<string, string> = {
  allow_connection_vars: 'test/security/connection-variables.e2e-spec.ts',
  ask_credential_on_launch: 'test/api/workflow-launch.e2e-spec.ts',
  ask_diff_mode_on_launch: PROMPTS,
  ask_execution_environment_on_launch: 'test/api/execution-environments.e2e-spec.ts',
  ask_forks_on_launch: PROMPTS,
  ask_instance_groups_on_launch: PROMPTS,
  ask_inventory_on_launch: PROMPTS,
  ask_job_slice_count_on_launch: 'test/api/job-slices.e2e-spec.ts',
  ask_job_type_on_launch: PROMPTS,
  ask_labels_on_launch: 'test/api/labels.e2e-spec.ts',
  ask_limit_on_launch: PROMPTS,
  ask_scm_branch_on_launch: 'test/api/launch-repeated.e2e-spec.ts',
  ask_skip_tags_on_launch: PROMPTS,
  ask_tags_on_launch: PROMPTS,
  ask_timeout_on_launch: PROMPTS,
  ask_variables_on_launch: 'test/api/jobs-relaunch.e2e-spec.ts',
  ask_verbosity_on_launch: PROMPTS,
  execution_environment: 'test/api/execution-environments.e2e-spec.ts',
  extra_vars: 'test/queue/runs-variables.spec.ts',
  host_config_key: 'test/api/provisioning-callbacks.e2e-spec.ts',
  inventory: 'test/api/launch.e2e-spec.ts',
  job_slice_count: 'test/queue/job-slices.spec.ts',
  prevent_instance_group_fallback: 'test/queue/instance-groups.spec.ts',
  project: 'test/queue/runs.spec.ts',
  retention_days: 'test/queue/system-jobs.spec.ts',
  retention_runs: 'test/queue/system-jobs.spec.ts',
  survey_enabled: 'test/api/workflow-launch.e2e-spec.ts',
  webhook_coalesce: 'test/api/webhook-coalescing.e2e-spec.ts',
  webhook_credential: 'test/queue/webhook-status-posts.spec.ts',
  webhook_dedupe_body: 'test/security/webhook-outsiders.e2e-spec.ts',
  webhook_filters: 'test/api/webhook-events.e2e-spec.ts',
  webhook_forks: 'test/security/webhook-outsiders.e2e-spec.ts',
  webhook_service: 'test/api/webhook-receiver.e2e-spec.ts',
};

/** Fields that users read, which have no other effect. */
const READ = ['name', 'description'];

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

async function launched(fields: object) {
  const project = await test.make.project({
    ...{ scm_type: 'git', scm_url: 'https://code.invalid/x.git', allow_override: true },
    organization: test.home.organization.id,
  });
  const template = await test.make.jobTemplate({ project: project.id, ...fields });
  const { superuser } = test.as;
  const { body } = await superuser.post(`job_templates/${template.id}/launch/`, {}).expect(201);
  const job = await test.app.get(JobContextsRepository, { strict: false }).load(body.id);
  const options = { ...jobOptions(job, 200), jobId: body.id, attempt: 1, projectDir: '/p' };
  const run = { ...options, inventory: {}, extraVars: {} };
  return { job: { ...body, ...job } as Row, args: playbookArguments(run) };
}

const names = fieldsOf(JobTemplate)
  .filter((field) => isWritable(field))
  .map(({ name }) => name);

it('every writable field has a visible effect', () => {
  const covered = [ARGUMENTS, GIVEN, SHOWN].flatMap((table) => Object.keys(table));
  expect([...covered, ...READ].toSorted()).toEqual(names.toSorted());
  const missing = Object.entries(SHOWN).filter(
    ([name, path]) => !readFileSync(path, 'utf8').includes(name),
  );
  expect(missing).toEqual([]);
});

it('options of a template become arguments of the playbook', async () => {
  const plain = await launched({});
  const values = Object.entries(ARGUMENTS).map(([name, [value]]) => [name, value]);
  const { args } = await launched(Object.fromEntries(values));
  for (const [, argument] of Object.values(ARGUMENTS)) {
    expect(args).toContain(argument);
    expect(plain.args).not.toContain(argument);
  }
});

it('values of a template become those of its job', async () => {
  const plain = await launched({});
  const { job } = await launched(GIVEN);
  expect(job).toMatchObject(GIVEN);
  for (const [name, value] of Object.entries(GIVEN)) expect(plain.job[name]).not.toEqual(value);
});
