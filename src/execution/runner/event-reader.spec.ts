import { EventReader } from './event-reader.js';

function line(counter: number, more: object = {}): string {
  return `${JSON.stringify({ uuid: `u${counter}`, counter, event: 'verbose', ...more })}\n`;
}

describe('EventReader', () => {
  it('numbers plain lines between events as ansible-runner does', () => {
    const reader = new EventReader();
    const text = `${line(1, { end_line: 3 })}Traceback\r\n  at x\ry\n${line(5, { start_line: 5, end_line: 6 })}`;
    const events = reader.read(Buffer.from(text));
    expect(events.map(({ counter, stdout }) => [counter, stdout])).toEqual([
      [1, undefined],
      [2, 'Traceback'],
      [3, '  at x'],
      [4, 'y'],
      [5, undefined],
    ]);
    expect(events[1]).toMatchObject({ event: 'verbose', start_line: 3, end_line: 4 });
    expect(reader.missing.size).toBe(0);
  });

  it('remembers the counters of missing events', () => {
    const reader = new EventReader();
    reader.read(Buffer.from(line(1) + line(4)));
    expect([...reader.missing]).toEqual([2, 3]);
    expect(reader.lastCounter).toBe(4);
    reader.read(Buffer.from(line(2)));
    expect([...reader.missing]).toEqual([3]);
    expect(reader.lastCounter).toBe(4);
  });

  it.each([
    '{',
    '{}',
    '[]',
    '{"uuid":1}',
    '{"uuid":"a","event":"verbose","counter":1.5}',
    'null',
    '',
  ])('treats %j as output', (text) => {
    expect(new EventReader().read(Buffer.from(`${text}\n`))).toMatchObject([
      { event: 'verbose', stdout: text, counter: 1 },
    ]);
  });

  it.each([0, -7, 200_003, 16_000_000, Number.MAX_SAFE_INTEGER])(
    'treats an event with the counter %d as output',
    (counter) => {
      const reader = new EventReader();
      const events = reader.read(Buffer.from(line(1) + line(counter) + line(2)));
      expect(events.map((event) => event.counter)).toEqual([1, 2, 2]);
      expect(events[1]?.stdout).toBe(line(counter).trimEnd());
      expect(reader.missing.size).toBe(0);
    },
  );

  it('treats an event with too many values as output, but reads the statistics of many hosts', () => {
    const hosts = Object.fromEntries(Array.from({ length: 50_000 }, (_, id) => [`web-${id}`, 1]));
    const statistics = line(1, { event_data: { ok: hosts, changed: hosts, processed: hosts } });
    const many = `{"uuid":"a","event":"verbose","counter":2,"event_data":[${'{},'.repeat(1_400_000)}1]}\n`;
    const reader = new EventReader();
    expect(reader.read(Buffer.from(statistics))[0]).toHaveProperty('event_data.ok.web-49999', 1);
    expect(reader.read(Buffer.from(many))[0]?.stdout).toContain('{"uuid":"a"');
  });

  it('ignores line counts that are not numbers', () => {
    const reader = new EventReader();
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    const text = `{"uuid":"a","event":"verbose","counter":1,"end_line":${deep}}\nplain\n`;
    expect(reader.read(Buffer.from(text))[1]).toMatchObject({ start_line: 0, end_line: 1 });
  });

  it('limits the number of missing events of a run', () => {
    const reader = new EventReader();
    for (let counter = 1; counter < 10_000_000; counter += 100_000) {
      reader.read(Buffer.from(line(counter)));
    }
    expect(reader.missing.size).toBeLessThanOrEqual(200_000);
  });

  it('limits the number of events of one line', () => {
    const events = new EventReader().read(Buffer.from(`${'x\v'.repeat(20_000)}\n${line(10_001)}`));
    expect(events).toHaveLength(10_001);
    expect(events.at(-1)?.uuid).toBe('u10001');
  });

  it('returns an unterminated last line at the end', () => {
    const reader = new EventReader();
    expect(reader.read(Buffer.from('half'))).toEqual([]);
    expect(reader.end()).toMatchObject([{ stdout: 'half' }]);
  });
});
