import { readHostLines } from './host-lines.js';

describe('hosts as lines', () => {
  it('are names, with or without variables', () => {
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
  ])('reads the value of %s as it was meant', (word, value) => {
    expect(readHostLines(`web1 ${word}`).hosts).toEqual([
      { name: 'web1', variables: { a: value } },
    ]);
  });

  it('tell what is no variable, and on which line', () => {
    expect(readHostLines('web1\nweb2 web3').faults).toEqual([
      { line: 2, text: '“web3” is no variable: write name=value.' },
    ]);
  });

  it('cannot reach the prototype of what is sent', () => {
    const [host] = readHostLines('web1 __proto__=x').hosts;
    expect(Object.keys(host?.variables ?? {})).toEqual(['__proto__']);
  });

  it('may have any name in quotes', () => {
    expect(readHostLines("'web 1'").hosts).toEqual([{ name: 'web 1' }]);
  });
});
