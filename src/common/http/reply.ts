import { memberOf } from '../records.js';

/** An answer that is not simply 200 with a body. `ReplyInterceptor` writes it. */
export class Reply {
  constructor(
    readonly status: number,
    readonly body?: unknown,
    readonly headers: Record<string, string> = {},
  ) {}

  /** 201 with `Location` (docs/contract/conventions.md#success-statuses). */
  static created(body: object, location?: string): Reply {
    const url = location ?? memberOf(body, 'url');
    return new Reply(201, body, typeof url === 'string' ? { Location: url } : {});
  }

  static accepted(body?: object, location?: string): Reply {
    return new Reply(202, body, location ? { Location: location } : {});
  }

  static noContent(): Reply {
    return new Reply(204);
  }

  /** Text that is not JSON, such as job output. */
  static text(status: number, text: string, contentType: string): Reply {
    return new Reply(status, text, { 'Content-Type': contentType });
  }
}
