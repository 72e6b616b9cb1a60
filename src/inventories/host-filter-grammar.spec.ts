import { parseHostFilter, type HostFilter } from './host-filter-grammar.js';

/** Returns the text of a filter, with parentheses that show the precedence of the operators. */
const shown = (filter: HostFilter): string =>
  filter.kind === 'condition'
    ? `${filter.key}=${filter.isQuoted ? JSON.stringify(filter.value) : filter.value}`
    : `(${filter.parts.map(shown).join(` ${filter.kind} `)})`;

describe('parseHostFilter', () => {
  it.each([
    ['name=web', 'name=web'],
    [' name = web ', 'name=web'],
    ['name="a (b) = or"', 'name="a (b) = or"'],
    ['name=""', 'name=""'],
    ['"name"="web"', 'name="web"'],
    ['a=1 and b=2 or c=3 and d=4', '((a=1 and b=2) or (c=3 and d=4))'],
    ['a=1 and (b=2 or c=3)', '(a=1 and (b=2 or c=3))'],
    ['a=1and b=2', null],
    ['((a=1))', 'a=1'],
    ['(a=1)or(b=2)', '(a=1 or b=2)'],
    ['a=ü\nor b=ß', '(a=ü or b=ß)'],
    ['or=and', 'or=and'],
  ])('reads %j', (text, expected) => {
    if (expected === null) expect(() => parseHostFilter(text)).toThrow();
    else expect(shown(parseHostFilter(text))).toBe(expected);
  });

  it.each([
    ['', 'a condition is expected at character 1'],
    ['name', '= is expected at character 5'],
    ['name=', 'a value is expected at character 6'],
    ['name=web or', 'a condition is expected at character 12'],
    ['(name=a', 'and, or, or a closing parenthesis is expected at character 8'],
    ['name=a) or anything', 'and, or, or the end is expected at character 7'],
    ['name=a name=b', 'and, or, or the end is expected at character 8'],
    ['not name=a', '= is expected at character 5'],
    ['name=a OR name=b', 'and, or, or the end is expected at character 8'],
    ['name="a', 'a quote is not closed'],
    ['name==a', 'a value is expected at character 6'],
    [`${'('.repeat(21)}a=1${')'.repeat(21)}`, 'more than 20 parentheses are open'],
    [Array(51).fill('a=1').join(' or '), 'it has more than 50 conditions'],
    [`a=${'x'.repeat(4100)}`, 'it has more than 4096 characters'],
  ])('refuses %j', (text, message) => {
    expect(() => parseHostFilter(text)).toThrow(message);
  });
});
