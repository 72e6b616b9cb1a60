import { stubContext } from './stub-context.js';
import { MAX_TEMPLATE_LENGTH, TemplateSandbox } from './template-sandbox.js';

// On a busy machine, the timeout must not be reached before the limits under test.
const sandbox = new TemplateSandbox(30_000);
afterAll(() => sandbox.onApplicationShutdown());

const lenient = async (template: string) =>
  (await sandbox.render([{ template, strict: false }], stubContext()))[0];
const strict = async (template: string) =>
  (await sandbox.render([{ template, strict: true }], stubContext()))[0];

describe('TemplateSandbox', () => {
  it.each([
    ['plain', 'plain'],
    ['{{ job.id }} {{ job.name }}', '42 Stub Job'],
    ["{{ job['name'] }}", 'Stub Job'],
    ['{{ job.summary_fields.inventory.name }}', 'Stub Inventory'],
    ['{{ hosts.ok }}/{{ hosts.dark }}', '1/0'],
    [
      '{% for name, host in host_summaries.items() %}{{ name }}={{ host.ok }}{% endfor %}',
      'localhost=1',
    ],
    ['{% if job.failed %}bad{% else %}good{% endif %}', 'good'],
    ["{{ 'yes' if job.status == 'successful' else 'no' }}", 'yes'],
    ['{{ job.name | upper }} {{ job.name | lower }}', 'STUB JOB stub job'],
    ["{{ job.name | replace('Stub', 'Real') }}", 'Real Job'],
    ['{{ job.name | length }}', '8'],
    ["{{ ['a', 'b'] | join(', ') }}", 'a, b'],
    ["{{ ['a', 'b'] | first }}{{ ['a', 'b'] | last }}{{ 'xyz' | first }}", 'abx'],
    ["{{ ['a', 'b'] | map('upper') | join }}", 'AB'],
    ["{{ [1, 2, 3] | select('odd') | join(',') }}", '1,3'],
    ["{{ [1, 2, 3] | reject('odd') | join(',') }}", '2'],
    ["{{ ['a', none] | select('string') | join }}{{ [] | select('odd') | length }}", 'a0'],
    [
      '{{ job.summary_fields.project | tojson }}',
      '{"description": "", "id": 2, "name": "Stub Project", "scm_type": "git", "status": "successful"}',
    ],
    ["{{ ' a ' | trim }}{{ 'a b' | title }}{{ 'abc' | capitalize }}", 'aA BAbc'],
    ["{{ '42' | int + 1 }}", '43'],
    ['{{ job.elapsed | round(1) }} {{ job.elapsed | int }}', '6.8 6'],
    ["{{ job.description | default('none', true) }}", 'none'],
    ["{{ job.artifacts.version | default('0') }}", '0'],
    ['{{ job.artifacts.version }}', ''],
    ["{{ job['artifacts']['version'] }}", ''],
    ['{% if nothing is defined %}x{% endif %}', ''],
    ['{% for _ in [1, 2] %}x{% endfor %}', 'xx'],
    ["{{ nothing | default('fallback') }}", 'fallback'],
    ['{{ job.id | upper }}', '42'],
    ['{{ [] | first }}{{ [] | max }}{{ job.summary_fields.labels.results | last }}', ''],
    ["{{ [{}] | map(attribute='a') | join }}", ''],
    ["{{ (job.name * 6000) | length }} {{ ('äb' * 20000) | first }}", '48000 ä'],
    ['{% for i in range(3) %}{{ i }}{% endfor %}', '012'],
    [
      '{% set ns = namespace(all=[]) %}{% for i in range(700) %}{% set ns.all = ns.all + [i] %}{% endfor %}{{ ns.all | length }}',
      '700',
    ],
    [
      "{{ 'a-b-c'.replace('-', '') }}{{ 'a b'.split() | last }}{{ 'a\n\nb' | indent(1, true) }}",
      'abcb a\n\n b',
    ],
    ['a\n{% if true %}\nb\n{% endif %}\nc', 'a\n\nb\n\nc'],
    ['Grüße 🚀 {{ job.id }}', 'Grüße 🚀 42'],
  ])('renders %s when it is saved and when it is sent', async (template, text) => {
    expect(await strict(template)).toEqual({ text });
    expect(await lenient(template)).toEqual({ text });
  });

  it.each([
    ['{{ foo }}', 'foo'],
    ['{{ job.foo }}', 'foo'],
    ['{{ job.summary_fields.foo.bar }}', 'foo'],
    ['{% if foo %}x{% endif %}', 'foo'],
    ['{{ foo | upper }}', 'foo'],
    ['{% for x in foo %}{% endfor %}', 'foo'],
    ['{{ job.extra_vars }}', 'extra_vars'],
    ['{{ job.id ~ foo }}', 'foo'],
  ])('reports the unknown variable of %s when it is saved', async (template, reason) => {
    expect(await strict(template)).toEqual({ fault: 'undefined', reason });
  });

  it.each(['{{ foo }}', '{{ foo.bar.baz }}', '{{ job.foo | upper }}', '{{ foo | length }}'])(
    'renders the unknown variable of %s as empty when it is sent',
    async (template) => {
      expect(await lenient(template)).toHaveProperty('text');
    },
  );

  it.each(['{{ job.id', '{% if %}', '{% for %}', '{{ }', '{% endif %}', '{{ 1 + }}'])(
    'reports the syntax error of %s',
    async (template) => {
      expect(await strict(template)).toMatchObject({ fault: 'syntax' });
    },
  );

  it.each([
    '{{ job.__class__ }}',
    '{{ job.__class__.__mro__ }}',
    '{{ job.constructor }}',
    "{{ job['constructor'] }}",
    "{{ job['__proto__'] }}",
    '{{ __proto__ }}',
    "{{ ''.constructor.constructor('return process')() }}",
    '{{ range.__globals__ }}',
    '{{ job._private }}',
  ])('refuses access to internals by %s', async (template) => {
    expect(await strict(template)).toMatchObject({ fault: 'security' });
  });

  it.each([
    "{{ job['con' ~ 'structor'] }}",
    "{{ job | attr('constructor') }}",
    "{{ [job] | map(attribute='constructor') | join }}",
    "{{ [job] | map(attribute='__proto__.constructor') | join }}",
    "{{ job.get('constructor') }}",
    '{{ range.constructor }}',
    '{{ process.env }}',
    '{{ globalThis.process }}',
    "{{ require('fs') }}",
  ])('does not expose JavaScript to %s', async (template) => {
    const output = await lenient(template);
    expect(JSON.stringify(output)).not.toMatch(/native code|\[Function|PATH|node_modules/);
  });

  it.each([
    ['{% for i in range(999999999) %}x{% endfor %}', 'range'],
    ['{% for i in range(0, 10, 0) %}x{% endfor %}', 'range'],
    ['{% for a in range(9999) %}{% for b in range(9999) %}x{% endfor %}{% endfor %}', 'steps'],
    [
      "{% set ns = namespace(x='ab') %}{% for i in range(60) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
      'long',
    ],
    [`{{ ${'('.repeat(8000)}1${')'.repeat(8000)} }}`, 'nested'],
    ['{% macro m(f) %}{{ f(f) }}{% endmacro %}{{ m(m) }}', 'nested'],
  ])('stops %.60s', async (template, reason) => {
    expect(await lenient(template)).toEqual({
      fault: 'limit',
      reason: expect.stringContaining(reason),
    });
  });

  const doubled = '{% set a = a + a %}';
  const shared = `{% set a = [1] %}${'{% set a = [a, a] %}'.repeat(40)}`;
  const long = "{% set a = 'a' * 2000 %}{% set b = 'b' * 260000 %}";
  it.each([
    [`{% set a = range(10000) %}${doubled.repeat(12)}x`, 'steps'],
    [
      `{% set a = [1] %}${doubled.repeat(15)}${'{% for i in a %}'.repeat(5)}${'{% endfor %}'.repeat(5)}`,
      'steps',
    ],
    [`${shared}{{ a }}`, 'long'],
    [`${shared}{{ '' + a }}`, 'long'],
    [`${shared}{{ a | tojson }}`, 'long'],
    [`${shared}{{ a | urlencode }}`, 'long'],
    [`${shared}{{ [a] | unique | length }}`, 'long'],
    ['{{ range(10000) | tojson(indent=10000) }}', 'long'],
    [`${long}{{ a | replace('a', b) }}`, 'long'],
    [`${long}{{ a.replace('a', b) }}`, 'long'],
    [`${long}{{ b.split('b') | length }}`, 'long'],
    [`${long}{{ range(10000) | join(b) }}`, 'long'],
    ["{{ ('\n' * 260000) | indent(10000, true, true) }}", 'long'],
    [`${long}{{ ('%(b)s' * 40000) % {'b': b} }}`, 'long'],
  ])('refuses the size of %.60s before it takes memory', async (template, reason) => {
    expect(await lenient(template)).toMatchObject({ reason: expect.stringContaining(reason) });
  });

  it('reports an unknown filter when it is sent', async () => {
    expect(await lenient('{{ job.name | nothing }}')).toEqual({
      ...{ fault: expect.any(String), reason: expect.stringContaining('nothing') },
    });
  });

  it('refuses a JSON document whose values are too long together', async () => {
    const template = `${long}{% set a = [b] %}{% for i in range(3000) %}{{ a }}{% endfor %}`;
    const outputs = await sandbox.render(
      [{ template, strict: false, isJson: true }],
      stubContext(),
    );
    expect(outputs).toMatchObject([{ reason: 'the text is too long' }]);
  });

  it.each([
    '{{ [1] | tojson(indent=900000000) }}',
    "{{ 'a\nb' | indent(900000000) }}",
    "{{ range(9999) | join('x' * 9) }}",
    `{{ '${'a'.repeat(15000)}' | replace('a', '${'b'.repeat(15000)}') }}`,
    `${' '.repeat(32000)}{`,
  ])('completes %.40s', async (template) => {
    expect(await lenient(template)).toBeDefined();
    expect(await lenient('{{ job.id }}')).toEqual({ text: '42' });
  });

  it('terminates a slow evaluation without blocking, and continues', async () => {
    const hasty = new TemplateSandbox(1);
    let ticks = 0;
    const timer = setInterval(() => ticks++, 1);
    const bomb = '{% for a in range(9999) %}{{ job_metadata | upper | lower }}{% endfor %}';
    const [output] = await hasty.render([{ template: bomb, strict: false }], stubContext());
    clearInterval(timer);
    expect(output).toMatchObject({ fault: 'limit' });
    expect(ticks).toBeGreaterThan(0);
    await hasty.onApplicationShutdown();
  });

  it('does not evaluate a terminated template again for a while', async () => {
    const hasty = new TemplateSandbox(20);
    const loop = {
      template: '{% for i in range(n) %}{{ job_metadata | upper }}{% endfor %}',
      strict: false,
    };
    const [first] = await hasty.render([loop], { ...stubContext(), n: 5000 });
    expect(first).toEqual({ fault: 'limit', reason: 'it takes too long' });
    // With n = 0 the template would be rendered quickly, but it is blocked.
    const [second] = await hasty.render([loop], { ...stubContext(), n: 0 });
    expect(second).toEqual(first);
    await hasty.onApplicationShutdown();
  });

  it('refuses a template that is too long, and renders the others', async () => {
    const templates = ['x'.repeat(MAX_TEMPLATE_LENGTH + 1), 'short'];
    const inputs = templates.map((template) => ({ template, strict: true }));
    expect(await sandbox.render(inputs, stubContext())).toEqual([
      { fault: 'limit', reason: 'it has 16385 characters, at most 16384 are allowed' },
      { text: 'short' },
    ]);
  });

  it('keeps the results of simultaneous calls apart', async () => {
    const outputs = await Promise.all(
      Array.from({ length: 20 }, (_, i) => lenient(`${i} {{ job.id }}`)),
    );
    expect(outputs).toEqual(outputs.map((_, i) => ({ text: `${i} 42` })));
  });

  it('renders the valid templates of a call if another one is invalid', async () => {
    const outputs = await sandbox.render(
      [
        { template: '{{ job.id', strict: false },
        { template: 'ok', strict: false },
      ],
      stubContext(),
    );
    expect(outputs).toMatchObject([{ fault: 'syntax' }, { text: 'ok' }]);
  });
});
