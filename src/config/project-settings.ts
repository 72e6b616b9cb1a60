import { list } from './setting.js';

/** Where projects may come from. */
export const PROJECT_SETTINGS = {
  PROJECT_SCM_SCHEMES: list({
    category: 'jobs',
    default: ['https', 'http', 'ssh', 'git'],
    help: 'Schemes a project may be fetched from.',
  }),
  PROJECT_FILE_ROOTS: list({
    category: 'jobs',
    default: [],
    help: 'Folders of this machine below which projects may be fetched from, where `file` is among the schemes. Never below `DATA_DIR`; a worker of root reads them as the account of runs.',
  }),
} as const;
