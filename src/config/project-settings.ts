import { boolean, days, listSetting } from './setting.js';

/** Permitted sources of projects, and the content that projects can install. */
export const PROJECT_SETTINGS = {
  PROJECT_SCM_SCHEMES: listSetting({
    category: 'jobs',
    default: ['https', 'http', 'ssh', 'git'],
    help: 'Schemes a project may be fetched from.',
  }),
  PROJECT_FILE_ROOTS: listSetting({
    category: 'jobs',
    default: [],
    help: 'Folders of this machine below which projects may be fetched from, where `file` is among the schemes. Never below `DATA_DIR`; a worker of root reads them as the account of runs.',
  }),
  AWX_ROLES_ENABLED: boolean({
    category: 'jobs',
    default: true,
    runtime: true,
    help: 'Install the roles that projects require.',
  }),
  AWX_COLLECTIONS_ENABLED: boolean({
    category: 'jobs',
    default: true,
    runtime: true,
    help: 'Install the collections that projects require.',
  }),
  CONTENT_RETENTION: days({
    category: 'jobs',
    default: 30,
    min: 1,
    help: 'Days for which installed roles and collections, and pulled images, are kept that no run uses.',
  }),
} as const;
