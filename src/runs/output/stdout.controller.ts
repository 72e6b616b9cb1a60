import type { IncomingHttpHeaders } from 'node:http';
import { Controller, Get, Headers, StreamableFile } from '@nestjs/common';
import { toBoolean } from '../../common/fields/lenient-reader.js';
import { BadRequest, NotFound } from '../../common/errors/errors.js';
import { acceptsHtml } from '../../common/http/negotiation.js';
import { Reply } from '../../common/http/reply.js';
import type { QueryParameters } from '../../common/list/query.js';
import { described, INTEGER, object, STRING } from '../../common/fields/json-schema.js';
import type { ResourceDefinition, Row } from '../../common/resource/define-resource.js';
import {
  Reauthorizer,
  ListParams,
  Target,
  type Reauthorize,
} from '../../common/rest/parameters.js';
import { Route } from '../../common/rest/route.js';
import { htmlText, plainText } from './stdout.js';
import { StdoutService, type Output } from './stdout.service.js';

const FORMATS = ['api', 'json', 'html', 'txt', 'ansi', 'txt_download', 'ansi_download'] as const;
type Format = (typeof FORMATS)[number];

const ROUTE = {
  kind: 'document',
  link: 'stdout',
  summary:
    'Output of the run: ?format=json, txt, ansi, html, txt_download or ansi_download; start_line, end_line.',
  texts: ['text/plain', 'text/html'],
  response: object({
    range: described(
      object({ start: INTEGER, end: INTEGER, absolute_end: INTEGER }),
      'First and last line of the content, and the number of all lines.',
    ),
    content: described(STRING, 'Output.'),
  }),
  query: [
    {
      name: 'format',
      schema: { type: 'string', enum: [...FORMATS] },
      description: 'Format of the output.',
    },
    { name: 'start_line', schema: { type: 'integer' }, description: 'First line, from 0.' },
    { name: 'end_line', schema: { type: 'integer' }, description: 'Line after the last line.' },
    { name: 'content_encoding', schema: { type: 'string' }, description: '`base64`, or omitted.' },
    {
      name: 'content_only',
      schema: { type: 'boolean' },
      description: 'HTML fragment instead of a whole document.',
    },
    { name: 'dark', schema: { type: 'boolean' }, description: 'HTML for a dark page.' },
  ],
} as const;

/** The output of a run in every format (docs/contract/runs.md#output). */
@Controller()
export abstract class StdoutController {
  protected abstract readonly runs: ResourceDefinition;

  constructor(private readonly stdout: StdoutService) {}

  @Route((runs) => ({ ...ROUTE, operationId: `${runs.path}_stdout`, parent: runs }))
  @Get()
  async read(
    @Target() run: Row,
    @ListParams() query: QueryParameters,
    @Headers() headers: IncomingHttpHeaders,
    @Reauthorizer() reauthorize: Reauthorize,
  ): Promise<Reply | StreamableFile | object> {
    const format = formatOf(query, headers);
    if (format === 'txt_download' || format === 'ansi_download') {
      const colors = format === 'ansi_download';
      return new StreamableFile(this.stdout.stream(run.id, { colors, reauthorize }), {
        type: 'text/plain; charset=utf-8',
        disposition: `attachment; filename="${this.runs.type}_${run.id}.txt"`,
      });
    }
    const start = lineOf(query, 'start_line');
    const output = await this.stdout.read(run.id, start, lineOf(query, 'end_line'));
    return shape(output, format, query);
  }
}

function shape(output: Output, format: Format, query: QueryParameters): Reply | object {
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

/** Returns the format: `format` of the query, otherwise according to `Accept`; JSON by default. */
function formatOf(query: QueryParameters, headers: IncomingHttpHeaders): Format {
  const sent = [query.format].flat()[0];
  if (sent !== undefined) {
    const found = FORMATS.find((format) => format === sent);
    if (!found) throw new NotFound('The requested format is not known.');
    return found;
  }
  if (acceptsHtml({ query, headers })) return 'api';
  return /^text\/plain\b/.test(headers.accept ?? '') ? 'txt' : 'json';
}

function lineOf(query: QueryParameters, name: string): number | undefined {
  const text = [query[name]].flat()[0];
  if (text === undefined || text === '') return undefined;
  if (!/^\d{1,9}$/.test(text)) throw new BadRequest(`${name} must be a whole number.`);
  return Number(text);
}
