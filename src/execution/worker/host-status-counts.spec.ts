import { hostStatusCounts } from './playbook-events.js';

const none = {
  changed: 0,
  dark: 0,
  failures: 0,
  ok: 0,
  processed: 1,
  skipped: 0,
  ignored: 0,
  rescued: 0,
  failed: false,
};

describe('hostStatusCounts', () => {
  it('counts each host once, by its worst result', () => {
    const hosts = [
      { ...none, ok: 3, skipped: 1 },
      { ...none, ok: 3, changed: 1 },
      { ...none, ok: 1, changed: 1, failures: 1, failed: true },
      { ...none, ok: 1, dark: 1, failed: true },
      { ...none, skipped: 2 },
      { ...none, ok: 2 },
    ];
    expect(hostStatusCounts(hosts)).toEqual({
      ok: 2,
      changed: 1,
      failures: 1,
      dark: 1,
      skipped: 1,
    });
  });

  it('does not count a host without results', () => {
    expect(hostStatusCounts([none])).toEqual({});
  });
});
