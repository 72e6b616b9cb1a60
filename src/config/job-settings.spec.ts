import { forkCapacities } from './job-settings.js';
import { Settings } from './settings.js';

const NEEDED = { DATABASE_URL: 'postgres://x', REDIS_URL: 'redis://x', SECRET_KEY: 'x' };
const load = (environment: object): Settings =>
  Settings.load({ ...NEEDED, DATA_DIR: '/srv/data', ...environment });

describe('the settings of jobs', () => {
  it.each([
    ['JOB_CONCURRENCY', '0'],
    ['JOB_CONCURRENCY', '1001'],
    ['JOB_ISOLATION', 'docker'],
    ['JOB_NETWORK', 'outbound'],
    ['JOB_PROCESSES', '31'],
    ['JOB_PROCESSES', '64.5'],
    ['JOB_OPEN_FILES', '255'],
    ['JOB_MEMORY_BYTES', '-1'],
    ['JOB_MEMORY_BYTES', '67108863'],
    ['JOB_MEMORY_BYTES', '2G'],
    ['JOB_FILE_BYTES', '1048575'],
    ['JOB_TMP_BYTES', '0'],
    ['JOB_DISK_BYTES', ''],
    ['JOB_EVENTS', '99'],
    ['JOB_EVENT_BYTES', '1048575'],
    ['EVENT_RETENTION', '9999999'],
    ['JOB_SHOW_PATHS', 'srv/tools'],
    ['JOB_SHOW_PATHS', '/'],
    ['JOB_SHOW_PATHS', '/etc/'],
    ['JOB_SHOW_PATHS', '/proc:rw'],
    ['JOB_SHOW_PATHS', '/srv/tools/../../root'],
    ['JOB_SHOW_PATHS', '/srv/tools,/srv/data'],
    ['JOB_SHOW_PATHS', '/srv/data/projects:rw'],
  ])('refuse %s=%s, and name the setting', (name, value) => {
    expect(() => load({ [name]: value })).toThrow(name);
  });

  it.each([
    ['JOB_CONCURRENCY', '1000', 1000],
    ['JOB_ISOLATION', 'bubblewrap', 'bubblewrap'],
    ['JOB_ISOLATION', 'container', 'container'],
    ['JOB_NETWORK', 'none', 'none'],
    ['JOB_PROCESSES', '32', 32],
    ['JOB_OPEN_FILES', '256', 256],
    ['JOB_MEMORY_BYTES', '0', 0],
    ['JOB_MEMORY_BYTES', '67108864', 67_108_864],
    ['JOB_FILE_BYTES', '1048576', 1_048_576],
    ['JOB_TMP_BYTES', '1048576', 1_048_576],
    ['JOB_DISK_BYTES', '1048576', 1_048_576],
    ['JOB_EVENTS', '100', 100],
    ['JOB_EVENT_BYTES', '1048576', 1_048_576],
    ['JOB_SHOW_PATHS', '/srv/tools, /srv/database:rw', ['/srv/tools', '/srv/database:rw']],
  ] as const)('accept %s=%s', (name, text, value) => {
    expect(load({ [name]: text })[name]).toEqual(value);
  });
});

const GIB = 2 ** 30;
it.each([
  ['two processors and 8 GB', {}, 2, 8 * GIB, 8, 61],
  ['the smallest machine', {}, 1, GIB, 4, 1],
  [
    'other needs of a fork',
    { SYSTEM_TASK_FORKS_CPU: '2', SYSTEM_TASK_FORKS_MEM: '1024' },
    4,
    6 * GIB,
    8,
    4,
  ],
  ['a capacity of its own', { INSTANCE_CAPACITY: '7' }, 64, 64 * GIB, 7, 7],
])(
  'the capacity of an instance: %s',
  (_what, settings, cpu, memory, cpu_capacity, mem_capacity) => {
    expect(forkCapacities(load(settings), { cpu, memory })).toEqual({ cpu_capacity, mem_capacity });
  },
);
