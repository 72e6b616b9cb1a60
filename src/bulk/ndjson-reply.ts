import { PassThrough } from 'node:stream';
import { Logger, StreamableFile } from '@nestjs/common';
import { errorResponseOf } from '../common/rest/errors.filter.js';
import { LINES_TYPE } from '../common/http/lines.js';
import { Reply } from '../common/http/reply.js';
import { stackOf } from '../common/errors/errors.js';

/**
 * Returns a response that starts before its request is processed. The lines report progress. The last line
 * contains the status and the body of the regular response, as `result` or as `error`.
 *
 * @param work continues after the client disconnects, unless `work` itself detects the disconnection
 */
export function ndjsonReply<Progress>(
  work: (report: (progress: Progress) => void) => Promise<Reply>,
): Reply {
  const out = new PassThrough();
  const write = (line: object): void => {
    if (!out.destroyed) out.write(`${JSON.stringify(line)}\n`);
  };
  void work((progress) => write({ progress }))
    .then(
      ({ status, body }) => write({ status, result: body }),
      (error: unknown) => write(errorLine(error)),
    )
    .finally(() => out.end());
  return new Reply(200, new StreamableFile(out, { type: LINES_TYPE }), {
    // Disables the response buffering of reverse proxies.
    'X-Accel-Buffering': 'no',
  });
}

function errorLine(error: unknown): object {
  const { status, body } = errorResponseOf(error);
  if (status >= 500) {
    const reason = stackOf(error);
    new Logger('Errors').error({ message: 'NDJSON response failed', status, error: reason });
  }
  return { status, error: body };
}
