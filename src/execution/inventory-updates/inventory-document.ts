import { ExactNumber, recordOf } from '../../common/exact-json.js';
import { isRecord, listOf } from '../../common/records.js';
import { Thread, threadFile } from '../../common/thread.js';
import { Yielder } from '../../common/yielder.js';
import { RunFailed } from '../worker/outcome.js';
import type { ParsedDocument } from './parse-document.js';

/** Maximum size of a document, in bytes. */
export const MAX_DOCUMENT_BYTES = 64 * 1024 * 1024;
/** Timeout of parsing, in ms; far above the parsing time of the largest document. */
const TIMEOUT_MS = 60_000;

const parser = new Thread<string, ParsedDocument>({
  file: threadFile('inventory-document'),
  timeoutMs: TIMEOUT_MS,
  resourceLimits: { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 64, stackSizeMb: 2 },
});

/**
 * Parses the inventory JSON that Ansible printed, in a separate thread, because the author of the
 * inventory controls its size and shape.
 *
 * @throws RunFailed if the text is not JSON, has too many values or too large an object, or takes too much
 *   time or memory
 */
export async function readDocument(text: string): Promise<unknown> {
  const parsed = await parser.run(text).catch((error: Error) => {
    throw new RunFailed(`The inventory cannot be read: ${error.message}.`);
  });
  if ('fault' in parsed) throw new RunFailed(parsed.fault);
  return unpack(parsed.chunks);
}

/** Joins the chunks of a document, and yields to the event loop between them. */
async function unpack(chunks: readonly string[]): Promise<unknown> {
  const yielder = new Yielder();
  const values: unknown[] = [];
  for (const chunk of chunks) {
    for (const token of listOf(JSON.parse(chunk))) {
      values.push(isRecord(token) ? assembled(token, values) : token);
      if (isRecord(token)) await yielder.yieldIfDue();
    }
    await yielder.yieldIfDue();
  }
  return values[0];
}

/** Returns the value of a token, and removes the values that it consists of. */
function assembled({ exact, items, members }: Record<string, unknown>, values: unknown[]): unknown {
  if (exact !== undefined) return new ExactNumber(String(exact));
  if (items !== undefined) return values.splice(values.length - Number(items));
  const parts = values.splice(values.length - 2 * Number(members));
  return recordOf(
    Array.from({ length: Number(members) }, (_, index) => [
      String(parts[2 * index]),
      parts[2 * index + 1],
    ]),
  );
}
