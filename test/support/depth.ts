/** True in the deep slice `domain`, for which Samba is installed. */
export const HAS_DOMAIN = process.env.TEST_DOMAIN === '1';

/** True in the deep slice `compose`, which needs Docker with Compose. */
export const HAS_DOCKER = process.env.TEST_COMPOSE === '1';

/** True in the deep slice `backup`, for which the system's PostgreSQL is installed. */
export const HAS_SYSTEM_POSTGRES = process.env.TEST_BACKUP === '1';

/** True in a deep test run (`npm run test:deep`). */
export const IS_DEEP = process.env.TEST_DEPTH === 'deep';
