import { until } from './connection.mjs';
import { FINAL, createInventory, createOrganization, syncProject } from './objects.mjs';
import { done, expect, note, request, step } from './narrator.mjs';
import { pushEvent, signedHeaders } from './push-event.mjs';
import { createRepository } from './repository.mjs';
import { httpSink, smtpSink } from './sinks.mjs';

const playbook = (version) => `---
- name: Deploy the application
  hosts: all
  gather_facts: false
  tasks:
    - name: Show the version that is checked out
      ansible.builtin.debug:
        msg: "checked out: ${version}"
    - name: Show the variables of the webhook
      ansible.builtin.debug:
        msg: "event {{ svc_webhook_event_type | default('none') }} for {{ svc_webhook_event_ref | default('none') }} pushed by {{ svc_webhook_payload.pusher.name | default('nobody') }}"
`;

const EVENTS = ['playbook_on_start', 'runner_on_start', 'runner_on_ok', 'playbook_on_stats'];

/** Shows a signed webhook, its job with events, the notifications, and the posted statuses. */
export async function runMainJob(api) {
  const repository = await createRepository({ 'deploy.yml': playbook('1.0') });
  const [chat, codeHost, mail] = await Promise.all([httpSink(), httpSink(), smtpSink()]);
  try {
    const name = `demo ${Date.now()}`;
    const organization = await createOrganization(api, name);
    const project = await syncProject(api, name, organization, repository);
    const template = await createTemplate(api, name, organization, project, codeHost);
    await addNotifications(api, name, organization, template, { chat, mail });
    const key = (await api.get(`/api/v2/job_templates/${template.id}/webhook_key/`)).webhook_key;
    done(`the key has ${key.length} characters; it goes into the code host's webhook settings`);
    const delivery = await deliverPush(api, template, repository, codeHost, key);
    const job = await watchJob(api, delivery.job);
    await showEvents(api, job);
    await showVariables(api, job, delivery.commit);
    await showNotifications(api, job, { chat, mail });
    await showStatusPosts(codeHost);
    await deliverAgain(api, template, delivery);
    await deliverForged(api, template, delivery);
    note('');
    done(`Open the result: ${api.url}/api/v2/jobs/${job.id}/`);
  } finally {
    chat.close();
    codeHost.close();
    mail.close();
    await repository.remove();
  }
}

async function createTemplate(api, name, organization, project, codeHost) {
  const inventory = await createInventory(api, name, organization);
  step('A credential for status posts to the code host');
  const types = await api.get('/api/v2/credential_types/?namespace=service_a_token');
  const credential = await api.post('/api/v2/credentials/', {
    name,
    organization: organization.id,
    credential_type: types.results[0].id,
    inputs: { token: 'demo-token', host: `http://127.0.0.1:${codeHost.port}` },
  });
  done(`credential ${credential.id}; its token is shown as ${credential.inputs.token}`);

  step('A job template that webhooks of service A launch');
  const template = await api.post('/api/v2/job_templates/', {
    name,
    inventory: inventory.id,
    project: project.id,
    playbook: 'deploy.yml',
    ask_scm_branch_on_launch: true,
    webhook_service: 'service_a',
    webhook_credential: credential.id,
  });
  done(`job template ${template.id}, receiver ${template.related.webhook_receiver}`);
  return template;
}

async function addNotifications(api, name, organization, template, { chat, mail }) {
  step('Two notification templates: a webhook and a mail, attached to success');
  const create = (kind, notification_type, notification_configuration) =>
    api.post('/api/v2/notification_templates/', {
      name: `${name} ${kind}`,
      organization: organization.id,
      notification_type,
      notification_configuration,
    });
  const webhook = await create('webhook', 'webhook', {
    url: `http://127.0.0.1:${chat.port}/hooks/team`,
    http_method: 'POST',
    headers: {},
  });
  const email = await create('mail', 'email', {
    host: '127.0.0.1',
    port: mail.port,
    username: '',
    password: '',
    use_tls: false,
    use_ssl: false,
    sender: 'controller@example.com',
    recipients: ['team@example.com'],
  });
  for (const { id } of [webhook, email]) {
    await api.post(`/api/v2/job_templates/${template.id}/notification_templates_success/`, { id });
  }
  done('attached');
}

async function deliverPush(api, template, repository, codeHost, key) {
  step('A user pushes a new commit; the code host sends a signed event');
  const commit = await repository.commit({ 'deploy.yml': playbook('2.0') }, 'Set version 2.0');
  const event = pushEvent({
    before: repository.first,
    after: commit,
    apiUrl: `http://127.0.0.1:${codeHost.port}`,
  });
  const path = `/api/v2/job_templates/${template.id}/service_a/`;
  const headers = signedHeaders(event, key);
  request('POST', path, event.body, headers);
  const response = await api.send('POST', path, event.body, headers);
  expect(response.status === 202, `The receiver returned ${response.status}: ${response.text}`);
  done(`${response.status} ${response.text}`);
  return { job: response.body.job, commit, event, headers, key };
}

async function watchJob(api, id) {
  step('The job runs');
  const seen = [];
  const job = await until(
    async () => {
      const found = await api.get(`/api/v2/jobs/${id}/`, { quiet: true });
      if (seen.at(-1) !== found.status) seen.push(found.status);
      return found;
    },
    ({ status }) => FINAL.includes(status),
    { everyMs: 5 },
  );
  done(seen.join(' > '));
  expect(job.status === 'successful', `The job ended with ${job.status}. ${job.job_explanation}`);
  expect(job.launch_type === 'webhook', 'The launch type of the job is not webhook.');
  return job;
}

async function showEvents(api, job) {
  step('The events of the job');
  const path = `/api/v2/jobs/${job.id}/job_events/?order_by=counter&page_size=200`;
  const events = await api.get(path);
  for (const { counter, event, event_display, task } of events.results) {
    if (EVENTS.includes(event)) note(`${String(counter).padStart(3)} ${event_display} ${task}`);
  }
  const names = new Set(events.results.map(({ event }) => event));
  for (const name of EVENTS) expect(names.has(name), `There is no ${name} event.`);
  done(`${events.count} events stored`);
}

async function showVariables(api, job, commit) {
  step('The variables of the playbook');
  const path = `/api/v2/jobs/${job.id}/stdout/?format=txt`;
  request('GET', path, undefined, { Authorization: 'Bearer $TOKEN' });
  const { text } = await api.send('GET', path, undefined, { Authorization: `Bearer ${api.token}` });
  for (const line of text.split('\n')) if (line.includes('"msg"')) note(line.trim());
  expect(text.includes('checked out: 2.0'), 'The checkout is not the commit of the event.');
  expect(text.includes(commit), 'The playbook did not receive the ref of the event.');
  expect(text.includes('pushed by octo'), 'The playbook did not receive the payload.');
  expect(job.scm_revision === commit, 'The job does not record the revision of its checkout.');
  done(`checked out at ${commit.slice(0, 12)}, a commit that the project had not synced yet`);
}

async function showNotifications(api, job, { chat, mail }) {
  step('The notifications');
  const list = await until(
    () => api.get(`/api/v2/jobs/${job.id}/notifications/`, { quiet: true }),
    ({ count, results }) => count === 2 && results.every(({ status }) => status === 'successful'),
  );
  for (const { id } of list.results) {
    const one = await api.get(`/api/v2/notifications/${id}/`);
    note(`${one.notification_type.padEnd(8)} ${one.status}  to ${one.recipients}`);
  }
  expect(chat.received.length === 1, 'The chat did not receive exactly one message.');
  expect(mail.received.length === 1, 'There is not exactly one mail.');
  note(`chat received: ${chat.received[0].text.slice(0, 100)}…`);
  note(
    `mail received: ${/^Subject: .*(?:\r?\n[ \t].*)*/m.exec(mail.received[0].text)?.[0].replace(/\s+/g, ' ') ?? ''}`,
  );
  done('both sent, with records in /api/v2/notifications/');
}

async function showStatusPosts(codeHost) {
  step('The statuses that the code host received');
  await until(
    async () => codeHost.received.map(({ text }) => JSON.parse(text).state),
    (states) => states.includes('success'),
    { seconds: 20 },
  );
  for (const { path, text } of codeHost.received) note(`POST ${path.slice(0, 48)}… ${text}`);
  done('in order, with the token of the credential');
}

async function deliverAgain(api, template, { event, headers, job }) {
  step('The code host delivers the same event again');
  const path = `/api/v2/job_templates/${template.id}/service_a/`;
  const response = await api.send('POST', path, event.body, headers);
  const jobs = await api.get(`/api/v2/job_templates/${template.id}/jobs/`);
  expect(response.status === 202, `The receiver returned ${response.status}.`);
  expect(jobs.count === 1 && jobs.results[0].id === job, 'A second job was launched.');
  done(`${response.status} ${response.text}; still one job`);
}

async function deliverForged(api, template, { event, key }) {
  step('Another sender sends an event with a wrong signature');
  const path = `/api/v2/job_templates/${template.id}/service_a/`;
  const headers = signedHeaders({ ...event, delivery: 'forged' }, `${key}x`);
  const response = await api.send('POST', path, event.body, headers);
  expect(response.status === 403, `The receiver returned ${response.status}.`);
  done(`${response.status} ${response.text}`);
}
