/**
 * An installation without a sandbox is reported as such by every status check.
 *
 * Budget: 25 s, because workers start without a sandbox.
 */
import { doctor } from '../../src/cli/doctor.js';
import { boot, bootWorker, type TestApp, withSettingsOf } from '../support/boot.js';
import { eventually } from '../support/eventually.js';

const WARNING = "Runs are not isolated: playbooks can read this installation's secrets.";

let test: TestApp;
afterEach(async () => {
  jest.restoreAllMocks();
  await test.close();
});

/** Returns the line that `doctor` prints about the isolation of jobs. */
async function examined(isolation: string, more: object = {}): Promise<string | undefined> {
  let printed = '';
  jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += String(text);
    return true;
  });
  await withSettingsOf(test, { JOB_ISOLATION: isolation, ...more }, doctor);
  jest.restoreAllMocks();
  return printed.split('\n').find((line) => line.includes('job isolation'));
}

it('ping and doctor warn about a worker without a sandbox', async () => {
  test = await boot({ settings: { JOB_ISOLATION: 'none' } });
  const ping = async () => (await test.as.anonymous.get('ping/').expect(200)).body;
  expect(await ping()).toMatchObject({ isolation: [], warnings: [] });
  const worker = await bootWorker(test);
  try {
    await eventually(
      async () => expect(await ping()).toMatchObject({ isolation: ['none'], warnings: [WARNING] }),
      60_000,
    );
  } finally {
    await worker.close();
  }
  expect(await examined('none')).toBe(`WARN    job isolation: ${WARNING} JOB_ISOLATION is none.`);
}, 200_000);

it('ping and doctor describe the sandbox of a worker', async () => {
  test = await boot({ settings: { JOB_ISOLATION: 'bubblewrap' } });
  const worker = await bootWorker(test);
  try {
    await eventually(async () => {
      const { body } = await test.as.anonymous.get('ping/').expect(200);
      expect(body).toMatchObject({ isolation: ['bubblewrap'], warnings: [] });
    }, 60_000);
  } finally {
    await worker.close();
  }
  expect(await examined('bubblewrap')).toMatch(
    /^ok {6}job isolation: bubblewrap .*, network host, a job can have 512 processes and any memory$/,
  );
  expect(
    await examined('bubblewrap', { JOB_NETWORK: 'none', JOB_MEMORY_BYTES: '67108864' }),
  ).toMatch(/, network none, .* 67108864 bytes of memory \(measured, not enforced\)$/);
  expect(await examined('bubblewrap', { JOB_CPUS: '3' })).toMatch(
    /and any memory, and use 3 processors$/,
  );
}, 200_000);
