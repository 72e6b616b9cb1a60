import { readHostLines } from './host-lines.js';

describe('lines of hosts', () => {
  it('contain names, with or without variables', () => {
    const { hosts, lines, faults } = readHostLines(
      'web1\n\n# spare\nweb2 ansible_host=10.0.0.5 port=8080\n  db1 owner="the \\"shop\\"" active=true \n',
    );
    expect(hosts).toEqual([
      { name: 'web1' },
      { name: 'web2', variables: { ansible_host: '10.0.0.5', port: 8080 } },
      { name: 'db1', variables: { owner: 'the "shop"', active: true } },
    ]);
    expect(lines).toEqual([1, 4, 5]);
    expect(faults).toEqual([]);
  });

  it.each([
    ['a=007', '007'],
    ["a='1'", '1'],
    ['a=-2.5', -2.5],
    ['a=x=y', 'x=y'],
    ['a=', ''],
    ['a=yes', 'yes'],
    ['a=12345678901234567890', '12345678901234567890'],
  ])('set the expected value for %s', (word, value) => {
    expect(readHostLines(`web1 ${word}`).hosts).toEqual([
      { name: 'web1', variables: { a: value } },
    ]);
  });

  it('cause an error that names the invalid variable and its line', () => {
    expect(readHostLines('web1\nweb2 web3').faults).toEqual([
      { line: 2, text: '“web3” is not a variable. Write name=value.' },
    ]);
  });

  it('cannot change the prototype of the request body', () => {
    const [host] = readHostLines('web1 __proto__=x').hosts;
    expect(Object.keys(host?.variables ?? {})).toEqual(['__proto__']);
  });

  it('can contain many escaped quotes', () => {
    const line = `web1 a="${'\\"'.repeat(200_000)}`;
    const start = performance.now();
    expect(readHostLines(line).hosts).toHaveLength(1);
    expect(performance.now() - start).toBeLessThan(2_000);
  });

  it('may contain any name in quotes', () => {
    expect(readHostLines("'web 1'").hosts).toEqual([{ name: 'web 1' }]);
  });
});
