import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import type { Row } from '../../src/common/resource/define-resource.js';
import { ApiCalls } from '../faults/support/api-calls.js';
import { Cluster } from '../faults/support/cluster.js';
import type { Json } from '../support/payloads/sample.js';
import { TestRepository } from '../runner/git-servers.js';
import { deliveryHeaders, webhookSample } from '../support/payloads/webhooks.js';

const playbook = (word: string): string => `- hosts: all
  gather_facts: false
  tasks:
    - debug:
        msg: "${word} at {{ svc_webhook_event_ref }} of {{ svc_webhook_event_ref_name }}"
`;

/** An administrator sets up templates by the API; then real events, real git and real playbooks run. */
describe('the ref of an event', () => {
  let cluster: Cluster;
  let repository: string;
  let api: ApiCalls;
  let project: Row;
  let template: Row;

  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
      cwd: repository,
      encoding: 'utf8',
    }).trim();

  /** A commit on top of main that no branch names, as that of a fork. */
  function commit(word: string, ...refs: string[]): string {
    git('checkout', '-q', '--detach', 'main');
    writeFileSync(join(repository, 'site.yml'), playbook(word));
    git('commit', '-qam', word);
    const id = git('rev-parse', 'HEAD');
    for (const ref of refs) git('update-ref', ref, id);
    git('checkout', '-q', 'main');
    return id;
  }

  async function deliver(event: string, payload: Json): Promise<number> {
    const rawBody = Buffer.from(JSON.stringify(payload));
    const { webhook_key: key } = await api.call('GET', `job_templates/${template.id}/webhook_key/`);
    const headers = deliveryHeaders('service_a', event, rawBody, String(key));
    const path = `/api/v2/job_templates/${template.id}/service_a/`;
    const answer = await fetch(api.url + path, { method: 'POST', headers, body: rawBody });
    const body = (await answer.json()) as { job: number };
    expect([answer.status, body]).toEqual([202, expect.objectContaining({ job: body.job })]);
    return body.job;
  }

  /** Waits for the sync that starts with the creation of a project. */
  async function synced({ id }: Row): Promise<void> {
    const { results } = await api.call('GET', `projects/${id}/project_updates/`);
    const [update] = results as [Row];
    await cluster.becomes(update.id, 'successful', 60_000);
  }

  /** An event of a pull request whose head is `sha`. */
  function pullRequest(sha: string): Json {
    const { payload } = webhookSample('service_a', 'pull_request');
    const request = payload.pull_request as Json;
    return { ...payload, pull_request: { ...request, head: { ...(request.head as Json), sha } } };
  }

  const outputOf = async (job: number): Promise<string> => {
    const rows = await cluster.rows<{ stdout: string }>(
      'SELECT stdout FROM job_events WHERE job_id = $1 ORDER BY counter',
      [job],
    );
    return rows.map(({ stdout }) => stdout).join('\n');
  };

  beforeAll(async () => {
    cluster = await Cluster.start();
    repository = join(cluster.folder, 'repository');
    mkdirSync(repository);
    git('init', '-q', '-b', 'main');
    writeFileSync(join(repository, 'site.yml'), playbook('main'));
    git('add', '.');
    git('commit', '-qm', 'main');
    const schemes = {
      ...{ PROJECT_SCM_SCHEMES: 'http,file', PROJECT_FILE_ROOTS: cluster.folder },
      OUTBOUND_ALLOW: '127.0.0.0/8',
    };
    api = await ApiCalls.inside(cluster, schemes);
    await cluster.workerInside(schemes);
    project = await api.call('POST', 'projects/', {
      ...{ name: 'Site', organization: 1, scm_type: 'git', allow_override: true },
      ...{ scm_url: `file://${repository}`, scm_branch: 'main' },
      scm_refspec: '+refs/pull/*:refs/remotes/origin/pull/*',
    });
    await synced(project);
    template = await api.call('POST', 'job_templates/', {
      ...{ name: 'Try a change', project: project.id, inventory: 1, playbook: 'site.yml' },
      ...{ ask_scm_branch_on_launch: true, webhook_service: 'service_a' },
      allow_simultaneous: true,
    });
  });

  afterAll(() => cluster.stop());

  it('of a pull request from a fork is checked out for the job', async () => {
    const head = commit('the change', 'refs/pull/12/head');
    const job = await deliver('pull_request', pullRequest(head));
    const row = await cluster.becomes(job, 'successful', 60_000);
    expect(row).toMatchObject({ scm_branch: head, scm_revision: head });
    expect(await outputOf(job)).toContain(`the change at ${head} of feature/page`);
    expect(git('branch', '--contains', head)).toBe('');
  });

  it('of its next push is fetched without a sync of the project', async () => {
    const syncs = () => cluster.rows(`SELECT 1 FROM unified_jobs WHERE type = 'project_update'`);
    const before = (await syncs()).length;
    const head = commit('the second try', 'refs/pull/12/head');
    const job = await deliver('pull_request', pullRequest(head));
    await cluster.becomes(job, 'successful', 60_000);
    expect(await outputOf(job)).toContain(`the second try at ${head}`);
    expect(await syncs()).toHaveLength(before);
  });

  it('can be a branch or a tag', async () => {
    commit('the branch', 'refs/heads/feature/page');
    const created = webhookSample('service_a', 'create');
    const branch = await deliver('create', created.payload);
    commit('the release', 'refs/tags/v1.2.0');
    const tag = await deliver('release', webhookSample('service_a', 'release').payload);
    await cluster.over([branch, tag]);
    expect(await outputOf(branch)).toContain('the branch at feature/page');
    expect(await outputOf(tag)).toContain('the release at v1.2.0');
  });

  it('is fetched within the timeout of the job', async () => {
    const server = createServer(() => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const set = (id: number, column: string, value: unknown) =>
      cluster.rows(`UPDATE unified_job_templates SET ${column} = $2 WHERE id = $1`, [id, value]);
    await set(project.id, 'scm_url', `http://127.0.0.1:${port}/site.git`);
    await set(template.id, 'timeout', 2);
    const job = await deliver('pull_request', pullRequest('e'.repeat(40)));
    const row = await cluster.becomes(job, 'failed', 20_000).finally(() => {
      server.closeAllConnections();
      server.close();
    });
    expect(row.job_explanation).toBe('Job terminated due to timeout');
    await set(project.id, 'scm_url', `file://${repository}`);
    await set(template.id, 'timeout', 0);
  });

  it('fails the job with an explanation if it no longer exists', async () => {
    const job = await deliver('pull_request', pullRequest('f'.repeat(40)));
    const row = await cluster.becomes(job, 'failed', 60_000);
    expect(row.job_explanation).toContain('does not exist');
  });

  it('is only a variable if the template does not prompt for the branch', async () => {
    await api.call('PATCH', `job_templates/${template.id}/`, { ask_scm_branch_on_launch: false });
    const head = commit('not wanted', 'refs/pull/13/head');
    const job = await deliver('pull_request', pullRequest(head));
    const row = await cluster.becomes(job, 'successful', 60_000);
    expect(row).toMatchObject({ scm_branch: '' });
    expect(await outputOf(job)).toContain(`main at ${head}`);
    await api.call('PATCH', `job_templates/${template.id}/`, { ask_scm_branch_on_launch: true });
  });

  /** Costs a sync and a job. */
  it('includes submodules at the commits of the last sync', async () => {
    const part = await TestRepository.create(join(cluster.folder, 'part'), { 'v.yml': 'v: 1' });
    const site = playbook('tracked').replace('  tasks:', '  vars_files: [part/v.yml]\n  tasks:');
    const whole = await TestRepository.create(join(cluster.folder, 'whole'), {
      'site.yml': site.replace(/msg: .*/, 'msg: "v={{ v }}"'),
    });
    await whole.git('submodule', '--quiet', 'add', '-b', 'main', '../part', 'part');
    await whole.commit({});
    await part.commit({ 'v.yml': 'v: 2' });
    const tracking = await api.call('POST', 'projects/', {
      ...{ name: 'Tracking', organization: 1, scm_type: 'git', scm_track_submodules: true },
      scm_url: whole.url,
    });
    await synced(tracking);
    await part.commit({ 'v.yml': 'v: 3' });
    const { id } = await api.call('POST', 'job_templates/', {
      ...{ name: 'Show it', project: tracking.id, inventory: 1, playbook: 'site.yml' },
    });
    const { job } = await api.call('POST', `job_templates/${id}/launch/`, {});
    await cluster.becomes(Number(job), 'successful', 60_000);
    expect(await outputOf(Number(job))).toContain('v=2');
  });
});
