import { decodeJwt } from 'jose';

import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import type { WebhookServiceName } from '../../src/code-hosts/services.js';
import { boot, bootWorker, type TestApp } from '../support/boot.js';
import { eventually } from '../support/eventually.js';
import { FakeSecretStores } from '../support/fakes/fake-secret-stores.js';
import { HttpSink } from '../support/fakes/http-sink.js';
import { commitId } from '../support/payloads/sample.js';
import { SERVICE_ROWS } from '../support/payloads/webhooks.js';
import { STATUS_EVENTS, StatusPostBench, TOKEN } from '../support/status-posts.js';
import { newHook, type Hook } from '../support/webhooks.js';

const AUTHORIZATION: Record<WebhookServiceName, [header: string, value: string]> = {
  service_a: ['authorization', `token ${TOKEN}`],
  service_b: ['private-token', TOKEN],
  service_c_dc: ['authorization', `Bearer ${TOKEN}`],
};

let test: TestApp;
let bench: StatusPostBench;

beforeAll(async () => {
  const settings = { BASE_URL: 'https://controller.example.com/', OUTBOUND_ALLOW: '127.0.0.0/8' };
  test = await boot({ settings });
  bench = await StatusPostBench.start(test);
});
afterAll(async () => {
  await bench.close();
  await test.close();
});
beforeEach(() => bench.reset());

describe.each(SERVICE_ROWS)('statuses of %s', (service) => {
  const WORDS: Record<WebhookServiceName, Record<string, string | null>> = {
    service_a: {
      pending: 'pending',
      running: null,
      successful: 'success',
      failed: 'failure',
      error: 'error',
      canceled: 'failure',
    },
    service_b: {
      pending: 'pending',
      running: 'running',
      successful: 'success',
      failed: 'failed',
      error: 'failed',
      canceled: 'canceled',
    },
    service_c_dc: {
      pending: 'INPROGRESS',
      running: 'INPROGRESS',
      successful: 'SUCCESSFUL',
      failed: 'FAILED',
      error: 'FAILED',
      canceled: 'FAILED',
    },
  };

  it.each(['successful', 'failed', 'error', 'canceled'] as const)(
    'are posted from pending to %s, with the texts, headers and keys of the service',
    async (end) => {
      const hook = await bench.hook(service);
      const job = await bench.launch(hook);
      for (const status of ['waiting', 'running', end] as const) {
        await bench.work(job);
        await bench.move(job, status);
      }
      await bench.work(job);
      const steps = ['pending', 'running', end].filter((step) => WORDS[service][step] !== null);
      expect(bench.sink.requests.map(({ body }) => (JSON.parse(body) as Row).state)).toEqual(
        steps.map((step) => WORDS[service][step]),
      );
      const { path } = STATUS_EVENTS[service](bench.sink.url);
      const [header, value] = AUTHORIZATION[service];
      for (const request of bench.sink.requests) {
        expect(request).toMatchObject({ method: 'POST', path });
        expect(request.headers[header]).toBe(value);
        expect(request.headers['content-type']).toBe('application/json');
        expect(request.headers['user-agent']).toBe('automation-controller');
      }
      expect(JSON.parse(bench.sink.last.body)).toEqual(bodyOf(hook, job, end));
      expect(await bench.outcomes(job)).toEqual(steps.map((step) => [step, 'sent']));
      expect(await bench.messages(job)).toEqual([]);
    },
  );

  function bodyOf(hook: Hook, job: number, end: string): Record<string, unknown> {
    const { id, name } = hook.template;
    const context = `automation-controller/${String(name)} (${id})`;
    const words = { successful: 'was successful', failed: 'failed', error: 'ended with an error' };
    const description = `Job ${job} ${words[end as 'failed'] ?? 'was canceled'}.`;
    const url = `https://controller.example.com/api/v2/jobs/${job}/`;
    const state = WORDS[service][end];
    if (service === 'service_a') return { state, target_url: url, description, context };
    if (service === 'service_b') return { state, target_url: url, description, name: context };
    return { state, key: context, name: context, url, description };
  }
});

describe('statuses of syncs', () => {
  it('are posted like those of jobs, and name the sync', async () => {
    const project = await test.make.row('project', {
      ...{ name: 'Posting', organization: test.home.organization.id },
      ...{ scm_type: 'git', scm_url: 'https://code.invalid/p.git' },
    });
    const hook = await bench.hook('service_b', { host: bench.sink.url }, project);
    const update = await bench.launch(hook);
    for (const status of ['waiting', 'running', 'successful'] as const) {
      await bench.move(update, status);
    }
    await bench.work(update);
    expect(bench.sink.requests.map(({ body }) => (JSON.parse(body) as Row).state)).toEqual([
      'pending',
      'running',
      'success',
    ]);
    expect(JSON.parse(bench.sink.last.body)).toEqual({
      state: 'success',
      target_url: `https://controller.example.com/api/v2/project_updates/${update}/`,
      description: `Project Update ${update} was successful.`,
      name: `automation-controller/Posting (${project.id})`,
    });
    const path = `project_updates/${update}/webhook_status_posts/`;
    const { body } = await test.as.orgAdmin.get(path).expect(200);
    expect(body.count).toBe(3);
  });
});

describe('a push that a newer push replaced', () => {
  it('gets a final status at its commit, and the newer one at its own', async () => {
    const template = await test.make.jobTemplate({ webhook_coalesce: true });
    const hook = await bench.hook('service_b', { host: bench.sink.url }, template);
    const { event, payload } = STATUS_EVENTS.service_b(bench.sink.url);
    const push = async (word: string): Promise<number> => {
      const commit = commitId(word);
      const sent = { ...payload, ref: 'refs/heads/main', checkout_sha: commit };
      return (await hook.send({ event, payload: sent }).expect(202)).body.job as number;
    };
    const [old, newest] = [await push('older'), await push('newer')];
    await bench.work(old);
    await bench.work(newest);
    const posts = bench.sink.requests.map(({ path, body }) => [
      path.split('/').at(-1),
      (JSON.parse(body) as Row).state,
    ]);
    expect(posts).toEqual([
      [commitId('older'), 'pending'],
      [commitId('older'), 'canceled'],
      [commitId('newer'), 'pending'],
    ]);
  });
});

describe('contexts', () => {
  it('are different for two templates with the same name', async () => {
    const name = 'Deploy';
    const elsewhere = await test.make.project({ organization: test.home.otherOrganization.id });
    const hooks = [
      await bench.hook('service_a', undefined, await test.make.jobTemplate({ name })),
      await bench.hook(
        'service_a',
        undefined,
        await test.make.jobTemplate({ name, project: elsewhere.id }),
      ),
    ];
    for (const hook of hooks) await bench.work(await bench.launch(hook));
    const contexts = bench.sink.requests.map(({ body }) => (JSON.parse(body) as Row).context);
    expect(contexts).toEqual(
      hooks.map(({ template }) => `automation-controller/Deploy (${template.id})`),
    );
  });

  it('stay the same for a run whose template gets another name meanwhile', async () => {
    const hook = await bench.hook(
      'service_a',
      undefined,
      await test.make.jobTemplate({ name: 'Before' }),
    );
    const job = await bench.launch(hook);
    await bench.work(job);
    await test.as.superuser
      .patch(`job_templates/${hook.template.id}/`, { name: 'After' })
      .expect(200);
    await bench.move(job, 'canceled');
    await bench.work(job);
    const posts = bench.sink.requests.map(({ body }) => JSON.parse(body) as Row);
    const context = `automation-controller/Before (${hook.template.id})`;
    expect(posts).toMatchObject([
      { state: 'pending', context },
      { state: 'failure', context },
    ]);
  });
});

it('statuses of a workflow job link to it, and those of its jobs are not posted', async () => {
  const workflow = await test.make.workflowTemplate();
  const template = await test.make.jobTemplate();
  await test.make.workflowNode(workflow, { unified_job_template: template.id });
  const hook = await bench.hook('service_a', { host: bench.sink.url }, workflow);
  const run = await bench.launch(hook);
  await bench.move(run, 'running', 'successful');
  await bench.work(run);
  expect(bench.sink.requests.map(({ body }) => JSON.parse(body) as Row)).toMatchObject([
    { state: 'pending' },
    {
      state: 'success',
      target_url: `https://controller.example.com/api/v2/workflow_jobs/${run}/`,
      context: `automation-controller/${String(workflow.name)} (${workflow.id})`,
    },
  ]);
  const { body } = await test.as.superuser
    .get(`workflow_jobs/${run}/webhook_status_posts/`)
    .expect(200);
  expect(body.count).toBe(2);
});

describe('the token', () => {
  it('is looked up with the identity of the run, and the login ends after the post', async () => {
    const stores = await FakeSecretStores.start();
    stores.logins.jwt = 'any';
    stores.secrets['kv/data/bot'] = { data: { token: TOKEN } };
    const hook = await bench.hook('service_a');
    const store = await test.make.credential({
      ...{ organization: test.home.organization.id, namespace: 'hashivault-kv-oidc' },
      inputs: { url: stores.url, api_version: 'v2', jwt_role: 'bots', jwt_aud: stores.url },
    });
    const template = await test.as.superuser.get(`job_templates/${hook.template.id}/`).expect(200);
    await test.as.superuser
      .post(`credentials/${template.body.webhook_credential as number}/input_sources/`, {
        ...{ input_field_name: 'token', source_credential: store.id },
        metadata: { secret_backend: 'kv', secret_path: 'bot', secret_key: 'token' },
      })
      .expect(201);
    const job = await bench.launch(hook);
    await bench.work(job);
    expect(await bench.outcomes(job)).toEqual([['pending', 'sent']]);
    const { jwt } = stores.requests[0]!.body as { jwt: string };
    expect(decodeJwt(jwt)).toMatchObject({ job: String(job), template: String(hook.template.id) });
    expect(stores.takeLines()).toEqual([
      'POST /v1/auth/jwt/login',
      'GET /v1/kv/data/bot',
      'POST /v1/auth/token/revoke-self',
    ]);
    await stores.close();
  });

  it.each([
    ['the host of the credential is another', { host: 'https://git.example.com' }],
    ['neither credential nor setting name the host', {}],
    ['the port is another', { host: 'http://127.0.0.1:1' }],
  ])('is not sent if %s', async (_name, inputs) => {
    const job = await bench.launch(await bench.hook('service_a', inputs));
    await bench.work(job);
    expect(bench.sink.requests).toEqual([]);
    expect(await bench.posts(job)).toEqual([
      expect.objectContaining({
        outcome: 'failed',
        attempts: [],
        reason: expect.stringContaining('may not be sent to the host'),
      }),
    ]);
  });

  it.each([301, 302, 303, 307, 308])(
    'is not sent after a redirect to another host (%d), which is logged',
    async (status) => {
      const thief = await HttpSink.start();
      bench.sink.reply({ status, headers: { Location: `${thief.url}/take` } });
      const job = await bench.launch(await bench.hook('service_a'));
      await bench.work(job);
      expect(thief.requests).toEqual([]);
      const [post] = await bench.posts(job);
      expect(post).toMatchObject({ outcome: 'failed', attempts: [{ number: 1 }] });
      expect(String(post!.reason)).toMatch(/redirect|answered 30/i);
      expect(JSON.stringify(post)).not.toContain(TOKEN);
      await thief.close();
    },
  );

  it('is not recorded, even if the service repeats it', async () => {
    bench.sink.reply({
      status: 403,
      body: `no access for ${TOKEN} at ${bench.sink.url}/secret/path?${TOKEN}`,
    });
    const job = await bench.launch(await bench.hook('service_a'));
    await bench.work(job);
    expect(JSON.stringify(await bench.posts(job))).not.toContain(TOKEN);
  });

  it('is not sent if it contains invalid header characters', async () => {
    const job = await bench.launch(
      await bench.hook('service_a', { host: bench.sink.url, token: 'töken' }),
    );
    await bench.work(job);
    expect(bench.sink.requests).toEqual([]);
    expect(await bench.outcomes(job)).toEqual([['pending', 'failed']]);
  });

  it('is deleted with its credential', async () => {
    const hook = await bench.hook('service_a');
    const job = await bench.launch(hook);
    await test.database.execute(sql`
      DELETE FROM credentials WHERE id = (
        SELECT webhook_credential_id FROM unified_job_templates WHERE id = ${hook.template.id})`);
    await bench.work(job);
    expect(await bench.posts(job)).toEqual([
      expect.objectContaining({ outcome: 'failed', reason: 'The webhook credential was deleted.' }),
    ]);
  });
});

describe('no status is posted', () => {
  it('without a credential', async () => {
    const hook = await newHook(test, 'service_a');
    const job = await bench.launch(hook);
    await bench.move(job, 'canceled');
    expect(await bench.posts(job)).toEqual([]);
  });

  it('for an event without a status URL', async () => {
    const hook = await bench.hook('service_a');
    const { body } = await hook.send({
      event: 'release',
      payload: { release: { tag_name: 'v1' } },
    });
    expect(await bench.posts(body.job as number)).toEqual([]);
  });

  it('for a job without a webhook, even if its template has one', async () => {
    const hook = await bench.hook('service_a');
    const launched = await bench.launch(hook);
    const [row] = await test.database.rows<{ id: number }>(sql`
      INSERT INTO unified_jobs (type, name, status, unified_job_template_id, job_template_id)
      SELECT 'job', name, 'pending', id, id FROM unified_job_templates
      WHERE id = ${hook.template.id} RETURNING id`);
    await bench.move(row!.id, 'canceled');
    expect(await bench.posts(row!.id)).toEqual([]);
    expect(await bench.posts(launched)).toHaveLength(1);
  });
});

describe('the log', () => {
  it('is listed below the job, for its readers', async () => {
    const job = await bench.launch(await bench.hook('service_a'));
    await bench.work(job);
    const path = `jobs/${job}/webhook_status_posts/`;
    const { body } = await test.as.superuser.get(path).expect(200);
    expect(body.results).toEqual([
      expect.objectContaining({
        type: 'webhook_status_post',
        job,
        status: 'pending',
        state: 'pending',
        outcome: 'sent',
        attempts: [
          {
            number: 1,
            at: expect.any(String),
            answer: 200,
            detail: '{}',
            duration_ms: expect.any(Number),
          },
        ],
      }),
    ]);
    expect(JSON.stringify(body)).not.toContain(bench.sink.url);
    await test.as.superuser.get(body.results[0].url as string).expect(200);
    await test.as.outsider.get(path).expect(403);
    await test.as.outsider.get(body.results[0].url as string).expect(403);
    await test.as.anonymous.get(path).expect(401);
    const shown = await test.as.superuser.get(`jobs/${job}/`).expect(200);
    expect(shown.body.related.webhook_status_posts).toBe(`/api/v2/${path}`);
  });
});

describe('a worker process', () => {
  it('posts every status of a job in order', async () => {
    const worker = await bootWorker(test);
    try {
      const job = await bench.launch(await bench.hook('service_b'));
      // The project has no folder, so the run ends as soon as it has started.
      await eventually(async () => {
        expect(await bench.outcomes(job)).toEqual([
          ['pending', 'sent'],
          ['running', 'sent'],
          ['error', 'sent'],
        ]);
      }, 20_000);
      const states = bench.sink.requests.map(({ body }) => (JSON.parse(body) as Row).state);
      expect(states).toEqual(['pending', 'running', 'failed']);
    } finally {
      await worker.close();
    }
  });
});
