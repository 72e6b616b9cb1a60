import { jobs } from './setting.js';

/** Permitted sources of projects, and the content that projects can install. */
export const PROJECT_SETTINGS = {
  PROJECT_SCM_SCHEMES: jobs.list({
    default: ['https', 'http', 'ssh', 'git'],
    help: 'URL schemes that projects can be fetched from.',
  }),
  PROJECT_FILE_ROOTS: jobs.list({
    default: [],
    help: 'Local folders that contain repositories for projects, if PROJECT_SCM_SCHEMES includes `file`. Folders in `DATA_DIR` are never allowed. A worker that runs as root reads them as the account of runs.',
  }),
  AWX_ROLES_ENABLED: jobs.boolean({
    default: true,
    runtime: true,
    help: 'Install the roles that projects require.',
  }),
  AWX_COLLECTIONS_ENABLED: jobs.boolean({
    default: true,
    runtime: true,
    help: 'Install the collections that projects require.',
  }),
  CONTENT_RETENTION: jobs.days({
    default: 30,
    min: 1,
    help: 'Days for which unused roles, collections and pulled images are kept.',
  }),
} as const;
