import { stubContext } from '../../src/notifications/message/stub-context.js';
import { TemplateSandbox } from '../../src/notifications/message/template-sandbox.js';
import { linesOfPython } from '../support/python.js';

/** Renders a template a line, given and returned as JSON; a template that fails becomes null. */
const JINJA = `
import json, sys
from jinja2.sandbox import SandboxedEnvironment
environment = SandboxedEnvironment()
context = json.loads(sys.stdin.readline())
for line in sys.stdin:
    try:
        print(json.dumps(environment.from_string(json.loads(line)).render(context)))
    except Exception:
        print("null")
`;

/** Values, filters, operators, statements and white space that render alike. */
const TEMPLATES = [
  "{{ 'HELLO wORLD' | capitalize }}",
  "{{ '' | capitalize }}",
  "{{ 'éCOLE' | capitalize }}",
  '{{ 5 | capitalize }}',
  "{{ 'hello WORLD it\\'s foo-bar (baz) [x] {y} <z> a_b 3d' | title }}",
  "{{ 'a.b/c:d' | title }}",
  '{{ -7 % 3 }}',
  '{{ 7 % -3 }}',
  '{{ -7.5 % 2 }}',
  '{{ 7 % 3 }}',
  '{{ -6 % 3 }}',
  '{{ 7 // 2 }}',
  '{{ -7 // 2 }}',
  '{{ 7 / 2 }}',
  '{{ 6 / 2 }}',
  '{{ 2 ** 10 }}',
  '{{ 2 ** -1 }}',
  '{{ 1.0 }}',
  '{{ 0.1 + 0.2 }}',
  '{{ 3 * 1.0 }}',
  '{{ 10 * 10 }}',
  '{{ 1.5 + 1.5 }}',
  "{{ 'some long text that is longer than the limit' | truncate(20) }}",
  "{{ 'some long text that is longer than the limit' | truncate(20, true) }}",
  "{{ 'some long text that is longer' | truncate(20, false, '!') }}",
  "{{ 'foo bar baz qux' | truncate(9, leeway=0) }}",
  "{{ 'foo bar baz qux' | truncate(11) }}",
  "{{ 'foo bar baz qux' | truncate(9, true) }}",
  "{{ job.name | truncate(5, end='') }}",
  "{{ 'short' | truncate }}",
  "{{ 'a b/c?d=é&f' | urlencode }}",
  "{{ {'a': 'b c', 'd': 1} | urlencode }}",
  "{{ [['a', 'b c'], ['d', 'e/f']] | urlencode }}",
  '{{ 42 | urlencode }}',
  "{{ '<a href=\"x\">\\'&</a>' | e }}",
  "{{ '<b>' | escape }}",
  '{{ 5 | e }}',
  "{{ ('<b>' | e) ~ '<' }}",
  "{{ '<b>' | e | e }}",
  "{{ '<b>' | forceescape }}",
  "{{ '<b>' | safe | e }}",
  "{{ '%s is %d' | format('a', 4) }}",
  "{{ '%05.2f|%-6s|%6s|%x|%X|%o|%e|%%' | format(3.14159, 'ab', 'cd', 255, 255, 8, 12345.678) }}",
  "{{ '%(a)s-%(b)03d' | format(a='x', b=7) }}",
  "{{ '%s' % 'x' }}",
  "{{ '%s-%s' % ('x', 2) }}",
  "{{ '%s' % 5 }}",
  "{{ '%.3s|%+d|% d|%r' % ('abcdef', 3, 4, 'q') }}",
  "{{ '%s' % none }}",
  "{{ '%s' % true }}",
  "{{ '%s' % [1, 'a'] }}",
  "{{ '%(x)s' % {'x': 1} }}",
  "{{ '%5d|%-5d|%05d' % (42, 42, -42) }}",
  "{{ '%c' % 'z' }}",
  "{{ '%i' % 3.9 }}",
  "{{ '%s %s' % 'x' }}",
  '{{ [1, 2, 3] | sum }}',
  "{{ [{'a': 1}, {'a': 5}] | sum('a') }}",
  "{{ [{'a': 1}, {'a': 5}] | sum(attribute='a', start=10) }}",
  '{{ [] | sum }}',
  '{{ [1.5, 2] | sum }}',
  '{{ [1, 3, 2] | max }}',
  '{{ [1, 3, 2] | min }}',
  "{{ ['b', 'A', 'c'] | max }}",
  "{{ ['b', 'A', 'c'] | min }}",
  "{{ [{'a': 1}, {'a': 5}] | max(attribute='a') }}",
  '{{ [] | max }}',
  "{{ ['a', 'B'] | max(case_sensitive=true) }}",
  "{{ 'one two  three-four it\\'s' | wordcount }}",
  "{{ '' | wordcount }}",
  '{{ 1 | filesizeformat }}',
  '{{ 0 | filesizeformat }}',
  '{{ 999 | filesizeformat }}',
  '{{ 1000 | filesizeformat }}',
  '{{ 13500000 | filesizeformat }}',
  '{{ 13500000 | filesizeformat(true) }}',
  "{{ '1234567890' | filesizeformat }}",
  '{{ 1023 | filesizeformat(binary=true) }}',
  '{{ 12.7 | filesizeformat }}',
  '{% raw %}{{ x }}{% y %}{# z #}{% endraw %}',
  'a {%- raw -%} {{ x }} {%- endraw -%} b',
  '{% raw %}\'q\' "d" \\n{% endraw %}!',
  'x{% raw %}\ny\n{% endraw %}\nz',
  '{{ true }} {{ none }} {{ [1, "a", none, true] }} {{ {"a": [1.5]} }}',
  '{{ "%s" | upper }}',
  "{{ ['it\\'s', 'say \"x\"'] }}",
  '{{ (1, 2) }}',
  '{{ [] }} {{ {} }}',
  '{{ job.elapsed }} {{ job.failed }} {{ job.summary_fields.project }}',
  '{{ job.artifacts }}',
  '{{ host_summaries }}',
  '{{ hosts }}',
  '{{ 2.5 | round }} {{ 3.5 | round }} {{ 2.345 | round(2) }} {{ 2.1 | round(0, "ceil") }} {{ 2.9 | round(method="floor") }} {{ 42 | round }}',
  "{{ 'abc' | reverse }}",
  '{{ [1,2,3] | reverse | list }}',
  "{{ 'a,b' | replace(',', ';') }}",
  "{{ 'aaa' | replace('a', 'b', 2) }}",
  "{{ 'abc' | list }}",
  "{{ {'b': 1, 'a': 2} | dictsort }}",
  "{{ {'b': 1} | items | list }}",
  "{{ [3,1,2] | sort }} {{ ['b','A'] | sort }} {{ [1,2] | sort(reverse=true) }}",
  '{{ [1,1,2] | unique | list }}',
  "{{ 'x' | center(7) }}|",
  '{{ [1,2,3,4,5] | batch(2) | list }}',
  '{{ [1,2,3,4,5] | slice(2) | list }}',
  "{{ [{'t': 1, 'v': 2}] | groupby('t') | list }}",
  "{{ 'abc' | first }}{{ 'abc' | last }}",
  "{{ '3.7' | float }} {{ 'x' | float }} {{ 'x' | int }} {{ 'x' | int(5) }} {{ '0x1A' | int(0, 16) }} {{ 3.9 | int }} {{ -3.9 | int }}",
  '{{ -5 | abs }}',
  "{{ 'a\\nb' | indent(2) }}",
  "{{ 'a\\nb' | indent(2, true) }}",
  '{{ [1,2] | string }}',
  "{{ {'a': 1, 'b': [true, none]} | tojson }}",
  "{{ '<&>\\'' | tojson }}",
  "{{ {'b': 1, 'a': 2} | tojson }}",
  "{{ 'x' | d('y') }}{{ nope | default('z') }}",
  "{{ ['a', 'b'] | join }}{{ [1,2] | join('-') }}",
  "{{ [{'a': 1}] | map(attribute='a') | list }}",
  "{{ [{'a': 1}, {}] | map(attribute='a', default=0) | list }}",
  "{{ [{'a': 1}, {'a': 0}] | selectattr('a') | list }}",
  '{{ [0, 1, 2] | select | list }}',
  "{{ ['a','b'] | map('upper') | list }}",
  "{{ '  x ' | trim }}|{{ 'xxaxx' | trim('x') }}",
  "{{ 'abc' | length }} {{ [1] | count }}",
  "{{ 'a' 'b' }}",
  "{{ 'abc'[1] }} {{ 'abc'[-1] }} {{ 'abc'[1:] }} {{ [1,2,3][::-1] }}",
  "{{ 'a' in 'abc' }} {{ 1 in [1] }} {{ 'x' not in {'x': 1} }}",
  "{{ 'a' * 3 }}",
  '{{ [1] + [2] }}',
  "{{ 1 ~ 'a' ~ none ~ true }}",
  "{{ 'abc'.upper() }} {{ 'a b'.split() }} {{ 'A'.lower() }} {{ 'ab'.startswith('a') }}",
  "{{ 'a-b'.replace('-', '+') }}",
  "{{ 'Title case'.title() }}",
  '{% for i in [1,2,3] %}{{ loop.index }}{{ loop.index0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.revindex }}{% if not loop.last %},{% endif %}{% else %}none{% endfor %}',
  '{% for i in [] %}x{% else %}none{% endfor %}',
  '{% for k, v in {"a": 1}.items() %}{{ k }}={{ v }}{% endfor %}',
  '{% set x = 3 %}{{ x }}',
  '{% set x %}a{{ 1 }}{% endset %}{{ x | upper }}',
  '{% macro m(a, b=2) %}{{ a }}-{{ b }}{% endmacro %}{{ m(1) }}',
  '{% if 0 %}a{% elif 1 %}b{% else %}c{% endif %}',
  '{# c #}x',
  '{% filter upper %}abc{% endfilter %}',
  '{% set ns = namespace(a=1) %}{% set ns.a = 2 %}{{ ns.a }}',
  '{{ loop }}',
  "{{ 'a' if false }}",
  '{{ 1 if true else 2 }}',
  '{{ not true }}',
  '{{ 1 and 2 }} {{ 0 or "x" }}',
  '{{ range(3) | list }}',
  "{{ 'é' | upper }}",
  "{{ 'x' | lower | upper | length }}",
  'a  {%- if true %} b {% endif -%}  c',
  '{{- " x " -}} y',
  'a\n',
  'a\n\n',
  "{{ {'a': 1}.get('a') }} {{ {'a': 1}.get('b', 2) }} {{ {'a': 1}.keys() | list }}",
  '{{ 5 is odd }} {{ 4 is even }} {{ "a" is string }} {{ none is none }} {{ [] is iterable }} {{ {} is mapping }}',
  '{{ x is undefined }} {{ 1 == 1.0 }} {{ 1 == "1" }} {{ [1, [2]] == [1, [2]] }} {{ {"a": 1} != {"a": 2} }}',
  '{{ "%g %g %g" % (0.00001, 12345678901.0, 1.5) }}',
];

/** Templates that only Jinja renders: the product refuses them when they are saved. */
const REFUSED = [
  '{{ 1e3 }}',
  "{{ '%g %g %g' % (0.00001, 1e10, 1.5) }}",
  '{{ 1e30 | filesizeformat }}',
  '{{ (1,) }}',
  "{{ 'abc' | wordwrap(2) }}",
  "{{ 'a b c d e f' | wordwrap(5) }}",
  "{{ '<b>x</b> y' | striptags }}",
  "{{ {'a': 1} | xmlattr }}",
  "{{ 'a b' | urlize }}",
  "{{ 'abc' | pprint }}",
  "{{ {'a': 1} | attr('a') }}",
  '{{ [1,2,3] | random is number }}',
  "{{ ','.join(['a', 'b']) }}",
  "{{ '{} {}'.format(1, 'a') }}",
  '{% with a=1 %}{{ a }}{% endwith %}',
  '{{ 1 < 2 < 3 }}',
  '{{ dict(a=1) }}',
  "{{ cycler('a', 'b').next() }}",
  '{{ 6 is divisibleby 3 }}',
];

const sandbox = new TemplateSandbox(30_000);
afterAll(() => sandbox.onApplicationShutdown());

const rendered = (templates: readonly string[]) =>
  sandbox.render(
    templates.map((template) => ({ template, strict: false })),
    stubContext(),
  );

const renderedByJinja = (templates: readonly string[]): (string | null)[] =>
  linesOfPython(
    JINJA,
    [stubContext(), ...templates].map((value) => JSON.stringify(value)),
  ).map((line) => JSON.parse(line) as string | null);

/** Pairs each template with its text, null where the template fails. */
const textsOf = (templates: readonly string[], texts: readonly (string | null)[]) =>
  Object.fromEntries(templates.map((template, index) => [template, texts[index]]));

describe('message templates', () => {
  it('render as Jinja renders them', async () => {
    const outputs = await rendered(TEMPLATES);
    const texts = outputs.map((output) => ('text' in output ? output.text : null));
    expect(textsOf(TEMPLATES, texts)).toEqual(textsOf(TEMPLATES, renderedByJinja(TEMPLATES)));
  });

  it('format numbers as Jinja formats them', async () => {
    const numbers = [
      0, 0.5, 1.5, 2.5, -2.5, 2.675, 4.35, 0.285, 1e-7, 123456.789, -0.001, 99999.95,
    ];
    const formats = [
      '%d',
      '%.0f',
      '%.1f',
      '%8.2f',
      '%-8.2f|',
      '%+08.3f',
      '%e',
      '%.2E',
      '%g',
      '%.3G',
    ];
    const templates = numbers.flatMap((number) => {
      // The engine reads no exponents.
      const value = `(${Number(number).toFixed(8)})`;
      return [
        ...formats.map((format) => `{{ '${format}' % ${value} }}`),
        ...[0, 1, 2].map((digits) => `{{ ${value} | round(${digits}) }}`),
        `{{ ${value} % 0.75 }} {{ ${value} // 0.75 }} {{ ${value} % -3 }} {{ ${value} }}`,
      ];
    });
    const outputs = await rendered(templates);
    const texts = outputs.map((output) => ('text' in output ? output.text : null));
    expect(textsOf(templates, texts)).toEqual(textsOf(templates, renderedByJinja(templates)));
  });

  it('are refused if they cannot be rendered', async () => {
    expect(renderedByJinja(REFUSED)).not.toContain(null);
    const outputs = await rendered(REFUSED);
    expect(
      textsOf(
        REFUSED,
        outputs.map((output) => ('fault' in output ? null : output.text)),
      ),
    ).toEqual(textsOf(REFUSED, Array<null>(REFUSED.length).fill(null)));
  });
});
