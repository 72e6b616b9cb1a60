import { HostSpool } from './host-spool.js';

const batchesOf = async (count: number, length: number): Promise<number[]> => {
  const spool = await HostSpool.open();
  const variables = 'x'.repeat(length);
  try {
    for (let line = 1; line <= count; line += 1) {
      const entry = { name: `host-${line}`, variables, groups: [] };
      await spool.add(
        line,
        { description: null, enabled: null, instance_id: null, ...entry },
        length,
      );
    }
    const lines: number[][] = [];
    for await (const { place } of spool.read()) lines.push(place);
    expect(lines.flat()).toEqual(Array.from({ length: count }, (_, index) => index + 1));
    return lines.map((batch) => batch.length);
  } finally {
    await spool.close();
  }
};

it.each([
  [4100, 10, [2000, 2000, 100]],
  [10, 1_000_000, [4, 4, 2]],
])('%d hosts of %d characters are read in batches', async (count, length, batches) => {
  expect(await batchesOf(count, length)).toEqual(batches);
});
