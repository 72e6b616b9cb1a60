/** True in a deep test run (`npm run test:deep`). */
export const IS_DEEP = process.env.TEST_DEPTH === 'deep';
