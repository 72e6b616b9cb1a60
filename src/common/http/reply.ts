/** A response that differs from the declaration of its route: in status, headers, or media type. */
export class Reply<Status extends number | null = number | null> {
  /** @param status null: the status that the route declares */
  constructor(
    readonly status: Status,
    readonly body?: unknown,
    readonly headers: Record<string, string> = {},
  ) {}

  /** Returns a response with `Location`, for a body without the URL in it. */
  static located(body: object, location: string): Reply {
    return new Reply(null, body, { Location: location });
  }

  /** Returns text that is not JSON, such as job output. */
  static text(status: number, text: string, contentType: string): Reply<number> {
    return new Reply(status, text, { 'Content-Type': contentType });
  }
}
