import { checkMessages } from './check-messages.js';
import { TemplateSandbox } from './template-sandbox.js';

// On a busy machine, the timeout must not be reached before the limits under test.
const sandbox = new TemplateSandbox(30_000);
afterAll(() => sandbox.onApplicationShutdown());

const check = (message: string) => checkMessages('chat_a', { started: { message } }, sandbox);

describe('checkMessages', () => {
  it('accepts every variable of the contract', async () => {
    const text = '{{ job.id }} {{ job_friendly_name }} {{ url }} {{ job_metadata }} {{ hosts.ok }}';
    await expect(check(text)).resolves.toEqual([]);
    await expect(check('{{ approval_node_name }} {{ workflow_url }}')).resolves.toEqual([]);
    await expect(check('{{ job.summary_fields.labels.count }}')).resolves.toEqual([]);
    await expect(check('{{ job.host_status_counts.dark }}')).resolves.toEqual([]);
  });

  it.each([
    ['{{ foo }}', "Field 'foo' unavailable"],
    ['{{ job.foo }}', "Field 'foo' unavailable"],
    ['{{ job.extra_vars }}', "Field 'extra_vars' unavailable"],
    ['{{ job.__class__ }}', "Security error due to field '__class__'"],
  ])('%s: %s', async (text, error) => {
    await expect(check(text)).resolves.toEqual([error]);
  });

  it('refuses texts that are too long to render in time', async () => {
    const parts = { message: ' '.repeat(16_384), body: ' '.repeat(16_384) };
    await expect(checkMessages('chat_a', { started: parts }, sandbox)).resolves.toEqual([]);
    const messages = { started: parts, success: parts, error: { message: 'x' } };
    await expect(checkMessages('chat_a', messages, sandbox)).resolves.toEqual([
      'All messages together may not have more than 65536 characters.',
    ]);
  });

  it('quotes an invalid template', async () => {
    await expect(check('{{ job.id')).resolves.toEqual([
      expect.stringMatching(/^Unable to render message '\{\{ job\.id': .+/),
    ]);
  });

  it('has its own error text for the body of a webhook', async () => {
    const messages = { success: { body: '{{ job.id' } };
    await expect(checkMessages('webhook', messages, sandbox)).resolves.toEqual([
      expect.stringMatching(
        /^Webhook body for 'success' is not valid\. The following gave an error \(.+\)\.$/,
      ),
    ]);
  });

  it('does not require JSON in a webhook body, and reports shape and templates together', async () => {
    const messages = { started: { body: 'no json' }, x: {}, error: { message: '{{ foo }}' } };
    const errors = await checkMessages('webhook', messages, sandbox);
    expect(errors).toHaveLength(2);
  });

  it('refuses a template that does not terminate', async () => {
    const bomb = '{% for a in range(9999) %}{% for b in range(9999) %}x{% endfor %}{% endfor %}';
    await expect(check(bomb)).resolves.toHaveLength(1);
  });
});
