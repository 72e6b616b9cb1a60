import { combineVariables, metaVariables, type VariableFacts } from './job-variables.js';

const facts: VariableFacts = {
  jobId: 7,
  launchType: 'webhook',
  template: { id: 3, name: 'Deploy' },
  inventory: null,
  schedule: null,
  user: null,
  projectRevision: 'abc',
  projectBranch: '',
  jobBranch: 'refs/heads/topic',
  executionNode: 'node-1',
};

describe('combineVariables', () => {
  const empty = { job: {}, webhook: {}, credentials: {}, meta: {} };

  it('gives the variables of the product precedence over all others', () => {
    const { extraVars } = combineVariables(
      {
        job: { a: 'job', b: 'job', c: 'job', d: 'job' },
        webhook: { b: 'webhook', c: 'webhook', d: 'webhook' },
        credentials: { c: 'credential', d: 'credential' },
        meta: { d: 'meta' },
      },
      {},
    );
    expect(extraVars).toEqual({ a: 'job', b: 'webhook', c: 'credential', d: 'meta' });
  });

  it('trusts only values that are in the template unchanged', () => {
    const template = { same: '{{ x }}', nested: { list: ['{{ y }}'] }, changed: 'plain' };
    const job = {
      ...(JSON.parse(JSON.stringify(template)) as typeof template),
      changed: '{{ lookup("pipe", "id") }}',
      added: 1,
    };
    const { unsafeKeys } = combineVariables({ ...empty, job }, template);
    expect(unsafeKeys).toEqual(['changed', 'added']);
  });

  it('does not trust a key because Object.prototype has that name', () => {
    const job = JSON.parse('{"constructor": "{{ x }}"}') as Record<string, unknown>;
    expect(combineVariables({ ...empty, job }, {}).unsafeKeys).toEqual(['constructor']);
  });
});

describe('metaVariables', () => {
  it('sets every variable with every prefix and omits missing values', () => {
    const one = {
      job_id: 7,
      job_launch_type: 'webhook',
      execution_node: 'node-1',
      job_template_id: 3,
      job_template_name: 'Deploy',
      project_revision: 'abc',
      job_scm_branch: 'refs/heads/topic',
    };
    const expected = Object.entries(one).flatMap(([name, value]) => [
      [`svc_${name}`, value],
      [`awx_${name}`, value],
    ]);
    expect(metaVariables(facts, ['svc_', 'awx_'])).toEqual(Object.fromEntries(expected));
  });

  it('contains the schedule that launched the job', () => {
    const schedule = { id: 4, name: 'Nightly' };
    expect(metaVariables({ ...facts, schedule }, ['svc_'])).toMatchObject({
      svc_schedule_id: 4,
      svc_schedule_name: 'Nightly',
    });
  });

  it('contains the user who launched the job', () => {
    const user = { id: 2, username: 'ann', email: '', first_name: 'Ann', last_name: 'Lee' };
    expect(metaVariables({ ...facts, user }, ['svc_'])).toMatchObject({
      svc_user_id: 2,
      svc_user_name: 'ann',
      svc_user_first_name: 'Ann',
    });
  });
});
