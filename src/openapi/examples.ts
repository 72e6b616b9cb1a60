import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_FOLDER } from '../config/version.js';

/** A request with its response. */
interface Exchange {
  status: number;
  /** Absent for a request without a body. */
  request?: unknown;
  /** Absent for a response without a body. */
  response?: unknown;
}

/** Examples of one operation. */
export interface OperationExamples {
  accepted: Exchange;
  refused: Exchange;
}

type ExamplesById = Readonly<Record<string, OperationExamples>>;

/**
 * Reads the examples of frequent operations, by operation id. `test/api/openapi-examples.e2e-spec.ts` sends
 * them to the server and records the responses; `npm run build` copies the file.
 */
export const loadExamples = (): ExamplesById =>
  JSON.parse(readFileSync(join(PACKAGE_FOLDER, 'dist', 'examples.json'), 'utf8')) as ExamplesById;
