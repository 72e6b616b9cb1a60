import type { IncomingHttpHeaders } from 'node:http';
import { BadRequest, NotFound } from '../../common/errors/errors.js';
import { toBoolean } from '../../common/fields/lenient-reader.js';
import { acceptsHtml } from '../../common/http/negotiation.js';
import { Reply } from '../../common/http/reply.js';
import type { QueryParameters } from '../../common/list/query.js';
import type { Output } from './stdout.service.js';
import { htmlText, plainText } from './stdout.js';

export const FORMATS = [
  'api',
  'json',
  'html',
  'txt',
  'ansi',
  'txt_download',
  'ansi_download',
] as const;
export type Format = (typeof FORMATS)[number];

/** Returns the format: `format` of the query, otherwise according to `Accept`; JSON by default. */
export function formatOf(query: QueryParameters, headers: IncomingHttpHeaders): Format {
  const sent = [query.format].flat()[0];
  if (sent !== undefined) {
    const found = FORMATS.find((format) => format === sent);
    if (!found) throw new NotFound('The requested format is not known.');
    return found;
  }
  if (acceptsHtml({ query, headers })) return 'api';
  return /^text\/plain\b/.test(headers.accept ?? '') ? 'txt' : 'json';
}

/** Returns the line number of a query parameter, or undefined without the parameter. */
export function lineOf(query: QueryParameters, name: string): number | undefined {
  const text = [query[name]].flat()[0];
  if (text === undefined || text === '') return undefined;
  if (!/^\d{1,9}$/.test(text)) throw new BadRequest(`${name} must be a whole number.`);
  return Number(text);
}

/** Returns the response with the output in a format for display. */
export function responseOf(output: Output, format: Format, query: QueryParameters): Reply | object {
  const { content, range } = output;
  switch (format) {
    case 'txt':
      return Reply.text(200, plainText(content), 'text/plain; charset=utf-8');
    case 'ansi':
      return Reply.text(200, content, 'text/plain; charset=utf-8');
    case 'html':
      return new Reply(200, documentOf(content, query), {
        'Content-Type': 'text/html; charset=utf-8',
        'Content-Security-Policy': "default-src 'none'",
      });
    default: {
      const isBase64 = [query.content_encoding].flat()[0] === 'base64';
      return { range, content: isBase64 ? Buffer.from(content).toString('base64') : content };
    }
  }
}

function documentOf(content: string, query: QueryParameters): string {
  const isOn = (name: string): boolean => toBoolean([query[name]].flat()[0]) === true;
  const output = `<pre class="stdout${isOn('dark') ? ' dark' : ''}">${htmlText(content)}</pre>`;
  return isOn('content_only')
    ? output
    : `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Output</title></head><body>${output}</body></html>\n`;
}
