import fc from 'fast-check';
import { IS_DEEP } from '../../../test/support/depth.js';
import { existing } from '../../common/invariants.js';
import { NOTIFICATION_TYPES } from '../backends/notification-type.js';
import { composeMessage, composeTestMessage, type ComposeInput } from './composer.js';
import { defaultMessagesOf } from './default-messages.js';
import { jobMetadataOf } from './job-metadata.js';
import type { MessageFacts } from './run-facts.js';
import { eventOf } from './message-events.js';
import { exampleFacts, STUB_FACTS } from './stub-context.js';
import { TemplateSandbox } from './template-sandbox.js';

const sandbox = new TemplateSandbox();
afterAll(() => sandbox.onApplicationShutdown());

const compose = (input: Partial<ComposeInput>) =>
  composeMessage(
    { type: 'email', event: { event: 'success' }, messages: null, facts: STUB_FACTS, ...input },
    sandbox,
  );

const NO_LABELS = { count: 0, results: [] };
const SUBJECT = "Job #42 'Stub Job' successful: https://controller.example/#/jobs/playbook/42";

const APPROVAL: MessageFacts = {
  ...STUB_FACTS,
  kind: 'workflow_job',
  nodes: [],
  approval: {
    id: 77,
    nodeName: 'Go "live"',
    status: 'pending',
    workflowUrl: 'https://c.example/#/jobs/workflow/41',
    started: null,
    finished: null,
  },
};

describe('jobMetadataOf', () => {
  it('has the keys of the contract, with totals and counters of each host', () => {
    expect(jobMetadataOf(STUB_FACTS)).toEqual({
      id: 42,
      name: 'Stub Job',
      url: 'https://controller.example/#/jobs/playbook/42',
      created_by: 'admin',
      started: '2019-08-07T21:46:38.362630+00:00',
      finished: '2019-08-07T21:46:45.127433+00:00',
      status: 'successful',
      traceback: '',
      inventory: 'Stub Inventory',
      project: 'Stub Project',
      playbook: 'site.yml',
      credential: 'Stub Credential',
      limit: '',
      extra_vars: '{}',
      hosts: { ok: 1, changed: 1, dark: 0, failures: 0, skipped: 0 },
      host_summaries: { localhost: expect.objectContaining({ processed: 1, failed: false }) },
    });
  });

  it('writes None for a run without a user, and a summary for a workflow', () => {
    const metadata = jobMetadataOf({
      ...STUB_FACTS,
      kind: 'workflow_job',
      representation: { ...STUB_FACTS.representation, summary_fields: {}, started: null },
      nodes: [
        { node: 1, job: { id: 9, name: 'build', status: 'failed' } },
        { node: 2, job: null },
      ],
    });
    expect(metadata).toMatchObject({ created_by: 'None', started: null, inventory: null });
    expect(metadata.body).toBe(
      'Workflow job summary:\n\n- node #1 spawns job #9, "build", which finished with status failed.\n- node #2 spawns no job.',
    );
  });

  it('truncates very long texts, and lists them', () => {
    const huge = { ...STUB_FACTS, traceback: 'x'.repeat(10_000_000), extraVars: '{}' };
    const metadata = jobMetadataOf(huge);
    expect(metadata.truncated).toEqual(['traceback']);
    expect(metadata.traceback).toMatch(/^x+…$/);
    expect(JSON.stringify(metadata).length).toBeLessThan(70_000);
    expect(jobMetadataOf(STUB_FACTS)).not.toHaveProperty('truncated');
  });

  it('shows failed hosts first if there are too many', () => {
    const good = STUB_FACTS.hosts?.localhost;
    if (!good) throw new Error('The stub has a host.');
    const hosts = Object.fromEntries(
      Array.from({ length: 1000 }, (_, i) => [`h${i}`, { ...good, failed: i === 999 }]),
    );
    const metadata = jobMetadataOf({ ...STUB_FACTS, hosts });
    expect(metadata.hosts).toMatchObject({ ok: 1000 });
    expect(metadata.host_summaries).toHaveProperty('h999');
    expect(metadata.host_summaries_omitted).toBe(800);
  });
});

describe('composeMessage with default texts', () => {
  it.each(NOTIFICATION_TYPES)('%s: has a subject and an object as its body', async (type) => {
    const message = await compose({ type });
    expect(message.subject).toBe(SUBJECT);
    expect(JSON.stringify(message)).not.toContain('could not be rendered');
    expect(typeof message.body).toBe('object');
  });

  it('sends the metadata of a webhook as an object', async () => {
    const { body, text } = await compose({ type: 'webhook' });
    expect(body).toMatchObject({ id: 42, hosts: { ok: 1 } });
    expect(JSON.parse(text)).toEqual(body);
    expect(text).toContain('\n    "id": 42');
  });

  it('writes the metadata below the first sentence of an email', async () => {
    const { body, text } = await compose({ type: 'email' });
    expect(text).toMatch(
      /^Job #42 had status successful, view details at https:\/\/controller.example\/#\/jobs\/playbook\/42\n\n\{\n {4}"id": 42/,
    );
    expect(body).toEqual({ body: text });
  });

  it.each([
    [
      'running',
      'The approval node "Go "live"" needs review. This node can be viewed at: https://c.example/#/jobs/workflow/41',
    ],
    [
      'approved',
      'The approval node "Go "live"" was approved. https://c.example/#/jobs/workflow/41',
    ],
    [
      'timed_out',
      'The approval node "Go "live"" has timed out. https://c.example/#/jobs/workflow/41',
    ],
    ['denied', 'The approval node "Go "live"" was denied. https://c.example/#/jobs/workflow/41'],
  ] as const)('reports that an approval is %s', async (approval, text) => {
    const input = { event: { event: 'workflow_approval', approval } as const, facts: APPROVAL };
    expect((await compose({ type: 'irc', ...input })).subject).toBe(text);
    expect((await compose({ type: 'webhook', ...input })).body).toEqual({ body: text });
    expect((await compose({ type: 'email', ...input })).text).toMatch(/\n\n\{\n {4}"id": 77/);
  });
});

describe('composeMessage with custom texts', () => {
  const custom = (message: string | null, body: string | null = null) => ({
    messages: { success: { message, body } },
  });

  it('renders the custom texts, and the default for an empty part', async () => {
    const message = await compose(custom('{{ job.id }} ü', ''));
    expect(message.subject).toBe('42 ü');
    expect(message.text).toMatch(/^Job #42 had status/);
  });

  it('sets the variables of the workflow job for approvals', async () => {
    const message = await compose({
      event: { event: 'workflow_approval', approval: 'running' },
      messages: {
        workflow_approval: { running: { message: '{{ job.id }} {{ approval_node_name }}' } },
      },
      facts: APPROVAL,
    });
    expect(message.subject).toBe('42 Go "live"');
  });

  it('sends the default with a note if a text cannot be rendered', async () => {
    const broken = custom('{{ job.id', '{{ job.name | nosuchfilter }}');
    const chat = await compose({ type: 'chat_a', ...broken });
    expect(chat.subject).toMatch(/^Job #42 .* \(The custom message could not be rendered/);
    const mail = await compose({ type: 'email', ...broken });
    expect(mail.subject).toBe(SUBJECT);
    expect(mail.text).toMatch(
      /^Job #42 had status[^]*\n\nThe custom message could not be rendered/,
    );
    expect(mail.text).toContain('The custom body could not be rendered');
    const hook = await compose({ type: 'webhook', ...broken });
    expect(hook.body).toMatchObject({ id: 42, note: expect.stringContaining('The custom body') });
    expect(JSON.parse(hook.text)).toEqual(hook.body);
  });

  it('replaces an empty body with a warning of four lines', async () => {
    const mail = await compose({ type: 'email', ...custom(null, '  {{ job.description }}\n') });
    expect(mail.text.split('\r\n')).toHaveLength(4);
    expect(mail.text).toMatch(/^The template rendering return a blank body\./);
    const hook = await compose({ type: 'webhook', ...custom(null, ' {# x #}') });
    expect(hook.body).toEqual({ body: mail.text });
    expect(JSON.parse(hook.text)).toEqual(hook.body);
  });

  it.each([
    ['[1, 2]', { body: '[1, 2]' }],
    ['{"a": {{ job.id }}}', { a: 42 }],
    ['{"a": {{ job.name | tojson }}}', { a: 'Stub Job' }],
    ['{"a": {{ job.failed }}, "b": {{ job.summary_fields.labels }}}', { a: false, b: NO_LABELS }],
  ])('sends the webhook body %s as written', async (text, body) => {
    const hook = await compose({ type: 'webhook', ...custom(null, text) });
    expect(hook.body).toEqual(body);
  });

  it('escapes every value within its JSON string', async () => {
    const text = fc.string({ unit: 'grapheme' }).map((value) => value.toWellFormed());
    const quote = fc.constantFrom('"', '\\', '\n', '", "c": "', '{{ x }}', '\u2028', '"}');
    const values = fc.array(fc.oneof(text, quote)).map((parts) => parts.join(''));
    await fc.assert(
      fc.asyncProperty(values, fc.array(values), async (name, items) => {
        const representation = { ...STUB_FACTS.representation, name, artifacts: { items } };
        const document =
          '{"name": "{{ job.name }}", "both": "{{ job.name }} and \\"{{ job.name | upper }}\\"", ' +
          '"items": [{% for item in job.artifacts["items"] %}"{{ item }}"' +
          '{% if not loop.last %}, {% endif %}{% endfor %}], "all": {{ job.artifacts }}}';
        const hook = await compose({
          type: 'webhook',
          ...custom(null, document),
          facts: { ...STUB_FACTS, representation },
        });
        expect(JSON.parse(hook.text)).toEqual({
          name,
          both: `${name} and "${name.toUpperCase()}"`,
          items,
          all: { items },
        });
      }),
      { numRuns: IS_DEEP ? 2_000 : 100 },
    );
  });

  it.each(['{"a": {{ job.name }}}', 'no json', '{"a": "{{ job.name }}'])(
    'sends the default with a note for the webhook body %s',
    async (text) => {
      const hook = await compose({ type: 'webhook', ...custom(null, text) });
      expect(hook.body.note).toMatch(
        /^The custom body could not be rendered.* it is not valid JSON/,
      );
      expect(JSON.parse(hook.text)).toEqual({
        ...jobMetadataOf(STUB_FACTS),
        note: hook.body.note,
      });
    },
  );

  it.each([['incident_a'], ['dashboard_a']] as const)('sends any text for %s', async (type) => {
    const plain = await compose({ type, ...custom(null, 'He said "{{ approval_node_name }}"') });
    expect(plain.text).toBe('He said ""');
    const approval = { ...custom(null, '{"a": "{{ approval_node_name }}"}'), facts: APPROVAL };
    expect((await compose({ type, ...approval })).body).toEqual({ a: 'Go "live"' });
  });

  it('removes characters that the database cannot store from a record', async () => {
    const escapes = '{{ "\\x00\\ud800" }}';
    const mail = await compose({ type: 'email', ...custom(escapes, `x${escapes}`) });
    expect([mail.subject, mail.text]).toEqual(['\ufffd', 'x\ufffd']);
    const hook = await compose({
      type: 'webhook',
      ...custom(null, '{"a\\u0000": "\\u0000b\\ud800"}'),
    });
    expect(hook.body).toEqual({ a: 'b\ufffd' });
    const deep = `{"a": ${'['.repeat(5000)}${']'.repeat(5000)}}`;
    expect((await compose({ type: 'webhook', ...custom(null, deep) })).body).toEqual({
      body: deep,
    });
  });

  it.each<[string, string]>([
    ['started', 'Job Stub Job: running, 0 failures, approval '],
    ['success', 'Job Stub Job: successful, 0 failures, approval '],
    ['error', 'Job Stub Job: failed, 1 failures, approval '],
    ['workflow_approval.running', 'Workflow Job Stub Job: running, 0 failures, approval pending'],
    ['workflow_approval.approved', 'Workflow Job Stub Job: running, 0 failures, approval approved'],
    ['workflow_approval.denied', 'Workflow Job Stub Job: running, 0 failures, approval denied'],
    [
      'workflow_approval.timed_out',
      'Workflow Job Stub Job: running, 0 failures, approval timed_out',
    ],
  ])('renders tests of %s for an example run at this event', async (name, expected) => {
    const event = existing(eventOf(name), 'a known event');
    const text =
      '{{ job_friendly_name }} {{ job.name }}: {{ job.status }}, {{ hosts.failures }} failures, approval {{ approval_status }}';
    const parts = { message: text, body: null };
    const messages =
      event.event === 'workflow_approval'
        ? { workflow_approval: { [event.approval]: parts } }
        : { [event.event]: parts };
    const message = await compose({ event, messages, facts: exampleFacts(event) });
    expect(message.subject).toBe(expected);
  });
});

describe('composeTestMessage', () => {
  it('has the texts of the contract', () => {
    expect(composeTestMessage('email', 3, 'https://c.example')).toMatchObject({
      subject: 'Notification Test 3 https://c.example',
      text: 'Test Notification 3 https://c.example',
      body: { body: 'Test Notification 3 https://c.example' },
    });
    expect(JSON.parse(composeTestMessage('webhook', 3, 'x').text)).toEqual({
      body: 'Test Notification 3 x',
    });
  });
});

describe('defaultMessagesOf', () => {
  it('has no message for a webhook and no body for a chat', () => {
    expect(defaultMessagesOf('webhook').started).toEqual({ body: '{{ job_metadata }}' });
    expect(defaultMessagesOf('chat_a').error.body).toBeNull();
    expect(defaultMessagesOf('webhook').workflow_approval.running.body).toBe(
      '{"body":"The approval node \\"{{ approval_node_name }}\\" needs review. This node can be viewed at: {{ workflow_url }}"}',
    );
  });
});
